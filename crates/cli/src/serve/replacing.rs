//! Replaces a server: `windlass serve --replace`.
//!
//! The new server prepares everything before its request, which keeps the
//! interruption short. Until the new one serves, the old one can continue.

use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::path::Path;

use anyhow::Context as _;
use windlass::Windlass;
use windlass_control::{
    HandoverError, HandoverOffer, HandoverRequest, Predecessor, ReplacingServer,
};

use super::Serving;
use crate::args::ServeArgs;
use crate::stdout::errln;

/// How many times a server is searched for if the one that was found has just
/// ended.
const TRIES: u32 = 3;

/// The server to replace, if requested and there is one.
pub(super) async fn find(
    args: &ServeArgs,
    windlass: &Windlass,
    folder: &Path,
) -> anyhow::Result<Option<Predecessor>> {
    if !args.replace {
        return Ok(None);
    }
    let request = HandoverRequest {
        root: windlass.config().root.clone(),
        listen: args.listen.filter(|address| address.port() != 0),
        socket_only: args.socket,
    };
    let mut tries = 0;
    loop {
        tries += 1;
        match Predecessor::find(folder, &request).await {
            // Another server has replaced it meanwhile.
            Err(HandoverError::Broken(_)) if tries < TRIES => {}
            Ok(None) => {
                errln!("windlass: no server is running, so none is replaced");
                return Ok(None);
            }
            found => return found.context("the server was not replaced"),
        }
    }
}

/// The reason why a process may not replace this server; `None` if it may.
pub(super) fn refusal(serving: &Serving, request: &HandoverRequest) -> Option<String> {
    let root = &serving.windlass.config().root;
    if request.root != *root {
        let root = root.display();
        return Some(format!(
            "it serves `{root}`; replace it there, with -C {root}"
        ));
    }
    match (address(serving), request.listen) {
        (Some(_), _) if request.socket_only => {
            Some("it listens on a port; leave out --socket".to_owned())
        }
        (None, _) if !request.socket_only => {
            Some("it listens only on its control socket; give --socket".to_owned())
        }
        (Some(own), Some(wanted)) if own != wanted => Some(format!(
            "it listens at {own}; give --listen {own}, or leave out --listen"
        )),
        _ => None,
    }
}

/// Offers the place, and resolves when the successor can take it.
pub(super) async fn offer(
    serving: &Serving,
    successor: &mut ReplacingServer,
) -> anyhow::Result<()> {
    let offer = HandoverOffer {
        pid: std::process::id(),
        address: address(serving),
    };
    let place = serving.place.as_ref();
    let listener = place.map(|(place, _)| place.listener.as_fd());
    Ok(successor.offer(offer, listener).await?)
}

fn address(serving: &Serving) -> Option<SocketAddr> {
    let (place, _) = serving.place.as_ref()?;
    place.listener.local_addr().ok()
}
