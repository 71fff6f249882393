//! The hosts that `windlass serve` shows on its page.

use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use windlass::Windlass;
use windlass_control::HostSurvey;
use windlass_protocol::HostInfo;

/// Surveys the hosts of a runtime's project.
pub(crate) struct ProjectHosts(Weak<Windlass>);

impl ProjectHosts {
    pub(crate) fn new(windlass: &Arc<Windlass>) -> Self {
        Self(Arc::downgrade(windlass))
    }
}

impl HostSurvey for ProjectHosts {
    fn hosts(&self) -> BoxFuture<'static, Vec<HostInfo>> {
        let windlass = self.0.upgrade();
        async move {
            match windlass {
                Some(windlass) => windlass.survey_hosts().await,
                None => Vec::new(),
            }
        }
        .boxed()
    }
}
