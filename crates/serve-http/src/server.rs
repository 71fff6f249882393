//! The port: accepts connections, checks their peers and encrypts them.
//!
//! Start at [`Server::run`]. A [`ConnectionService`] serves each connection.

use axum::Router;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use windlass_control::{
    Api, ConnectionService, ConnectionSlots, Limits, PeerCheck, admit, pause_after,
};

/// A port that is listened on.
pub struct Server {
    /// Where connections come in.
    pub listener: TcpListener,
    /// What is behind it, access checked.
    pub router: Router,
    /// Encrypts, where that is wanted.
    pub tls: Option<TlsAcceptor>,
    /// Its bounds.
    pub limits: Limits,
    /// Finds the tools among its peers, which are refused.
    pub is_tool: PeerCheck,
}

impl Server {
    /// Serves until told to leave ([`Api::leave`]), and resolves when all
    /// connections have ended. `closing` lets go of them at any moment.
    pub async fn run(self, api: &Api, closing: CancellationToken) {
        api.wake();
        let leaving = api.leaving();
        let connections = TaskTracker::new();
        let slots = ConnectionSlots::new(self.limits.connections);
        let service = ConnectionService {
            api: api.clone(),
            router: self.router,
            limits: self.limits,
            closing: closing.clone(),
        };
        loop {
            let accepted = tokio::select! {
                biased;
                () = leaving.cancelled() => break,
                () = closing.cancelled() => break,
                accepted = self.listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    pause_after(&error).await;
                    continue;
                }
            };
            let Some(slot) = closing.run_until_cancelled(slots.take()).await else {
                break;
            };
            // Small answers must not wait for an acknowledgement.
            let _ = stream.set_nodelay(true);
            let (service, tls, is_tool) = (service.clone(), self.tls.clone(), self.is_tool);
            connections.spawn(async move {
                let serving = async {
                    let Some(stream) = admit(stream, is_tool).await else {
                        return;
                    };
                    let client = slot.client.clone();
                    let Some(tls) = tls else {
                        return service.serve(stream, client).await;
                    };
                    let stall = service.limits.stall;
                    let shaken = tokio::time::timeout(stall, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        service.serve(stream, client).await;
                    }
                };
                slot.leave.run_until_cancelled(serving).await;
            });
        }
        // Nobody can connect to it any more.
        drop(self.listener);
        connections.close();
        closing.run_until_cancelled(connections.wait()).await;
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
