//! The hosts and pools of the server's project.
//!
//! The front end reaches hosts ([`ReachHosts`]). Nothing is remembered here: a survey is made for a request,
//! so that no broker is connected to while nobody looks.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use futures_util::future::BoxFuture;
use windlass_kept::EndHeldError;
use windlass_protocol::{HostInfo, KeptHandle, KeptReceipt};

use crate::api::Api;

/// Reaches the hosts of projects.
pub trait ReachHosts: Send + Sync {
    /// Every host of the server's project, with its status. Resolves within some seconds, whatever a host does.
    fn hosts(&self) -> BoxFuture<'static, Vec<HostInfo>>;

    /// Ends a kept handle on a host, and resolves when that is verified.
    fn end_held(
        &self,
        kept: KeptHandle,
        grace: Duration,
    ) -> BoxFuture<'static, Result<KeptReceipt, EndHeldError>>;
}

/// The hosts of the project, with the workers of pools.
pub(crate) async fn list(State(api): State<Api>) -> Json<Vec<HostInfo>> {
    match &api.0.hosts {
        Some(hosts) => Json(hosts.hosts().await),
        None => Json(Vec::new()),
    }
}
