//! `windlass permissions pending` and `reply`: what waits for a person in any
//! session of this machine.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;
use windlass_protocol::{PermissionAnswer, PermissionReply, PermissionRequest, RequestRendering};
use windlass_serve_http::PeerError;

use crate::args::{Reply, ReplyArgs};
use crate::reach;
use crate::stdout::outln;

pub(crate) async fn pending(as_json: bool) -> anyhow::Result<ExitCode> {
    for peer in reach::runtimes().await {
        let Ok(requests) = peer
            .get::<Vec<PermissionRequest>>("/api/v1/permissions")
            .await
        else {
            continue;
        };
        for request in requests {
            if as_json {
                outln!("{}", json!(request))?;
            } else {
                let rendering = RequestRendering::of_permission(&request);
                outln!("{}  {}", request.id, rendering.title)?;
                for line in rendering.details().lines() {
                    outln!("  {line}")?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn reply(args: ReplyArgs) -> anyhow::Result<ExitCode> {
    let body = PermissionAnswer {
        reply: match args.reply {
            Reply::Once => PermissionReply::Once,
            Reply::Always => PermissionReply::Always,
            Reply::Reject => PermissionReply::Reject,
        },
        message: args.message,
        arguments: None,
    };
    let id = &args.permission;
    if !id
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || character == '_')
    {
        bail!(
            "`{id}` is not a permission's id; `windlass permissions pending` lists those that wait"
        );
    }
    let path = format!("/api/v1/permissions/{id}");
    for peer in reach::runtimes().await {
        match peer.post(&path, &body).await {
            Ok(_) => return Ok(ExitCode::SUCCESS),
            Err(PeerError::Refused { status, .. }) if status.as_u16() == 404 => {}
            Err(PeerError::Unreachable(..)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!("no permission `{id}` is being asked for; it may have been answered elsewhere")
}
