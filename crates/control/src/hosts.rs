//! The hosts and pools of the server's project.
//!
//! How hosts are reached is the front end's ([`HostSurvey`]). Nothing is remembered here: a survey is made for a request,
//! so that no broker is connected to while nobody looks.

use axum::Json;
use axum::extract::State;
use futures_util::future::BoxFuture;
use windlass_protocol::HostInfo;

use crate::api::Api;

/// Looks at the hosts of a project.
pub trait HostSurvey: Send + Sync {
    /// Every host as it stands. It resolves within some seconds, whatever a host does.
    fn hosts(&self) -> BoxFuture<'static, Vec<HostInfo>>;
}

/// The hosts of the project, with the workers of pools.
pub(crate) async fn list(State(api): State<Api>) -> Json<Vec<HostInfo>> {
    match &api.0.hosts {
        Some(survey) => Json(survey.hosts().await),
        None => Json(Vec::new()),
    }
}
