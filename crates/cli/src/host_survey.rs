//! The hosts of the project that `windlass serve` serves, for its page.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use windlass::Windlass;
use windlass_control::ReachHosts;
use windlass_kept::EndHeldError;
use windlass_protocol::{HostInfo, KeptHandle, KeptReceipt};

/// Reaches the hosts of a runtime's project.
pub(crate) struct ProjectHosts(Weak<Windlass>);

impl ProjectHosts {
    pub(crate) fn new(windlass: &Arc<Windlass>) -> Self {
        Self(Arc::downgrade(windlass))
    }
}

impl ReachHosts for ProjectHosts {
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

    fn end_held(
        &self,
        kept: KeptHandle,
        grace: Duration,
    ) -> BoxFuture<'static, Result<KeptReceipt, EndHeldError>> {
        let windlass = self.0.upgrade();
        async move {
            match (windlass, &kept.key.remote) {
                // Another project may have another host of that name.
                (Some(windlass), _) if windlass.config().root == kept.project => {
                    windlass.end_on_host(&kept, grace).await
                }
                (_, Some(place)) => {
                    let host = place.host.clone();
                    Err(EndHeldError::Elsewhere { host })
                }
                (_, None) => Err(EndHeldError::Gone),
            }
        }
        .boxed()
    }
}
