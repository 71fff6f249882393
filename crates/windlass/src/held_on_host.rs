//! Ends kept handles on other machines that no runtime has.
//!
//! Start at [`Windlass::end_on_host`]. The program is adopted from the far side only to end it; its output is not kept.

use std::time::{Duration, SystemTime};

use windlass_kept::{EndHeldError, KeptStore};
use windlass_process::{HeldKey, RemoteAdoption, RemotePlace, TakeOverError};
use windlass_runtime::protocol::{KeptHandle, KeptReceipt, KeptReceiptReason, Millis};

use crate::build::Windlass;

impl Windlass {
    /// Ends a kept handle on a host of this configuration, which must be that of the handle's project, with its process
    /// tree. Resolves when the far side has verified it. The receipt is left for the next session.
    pub async fn end_on_host(
        &self,
        kept: &KeptHandle,
        grace: Duration,
    ) -> Result<KeptReceipt, EndHeldError> {
        let key = remote_key(kept).ok_or(EndHeldError::Gone)?;
        let place = key.remote.clone().ok_or(EndHeldError::Gone)?;
        let host = place.host.clone();
        let lease_secs = kept.lease_secs;
        let Some(remote) = self.hosts.having(&place) else {
            return Err(EndHeldError::UnknownHost { host, lease_secs });
        };
        let adopted = remote.adopt(RemoteAdoption::to_end(key)).await;
        let process = adopted.map_err(|error| match error {
            TakeOverError::Busy { owner, .. } => EndHeldError::Owned { owner },
            TakeOverError::Gone { .. } => EndHeldError::Gone,
            TakeOverError::Silent { .. } => EndHeldError::Unreachable { host, lease_secs },
            other => EndHeldError::Holder(other),
        })?;
        let ended = process.end(grace).await;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_millis();
        let receipt = KeptReceipt {
            reason: KeptReceiptReason::Asked,
            ended: ended.ended.try_into().unwrap_or(u32::MAX),
            survivors: ended.survivors.iter().map(|it| it.pid).collect(),
            exit: None,
            at: Millis(now.try_into().unwrap_or(u64::MAX)),
            limit: None,
        };
        if let Err(error) = KeptStore::new(&crate::state_dir()).record_end(kept, &receipt) {
            tracing::debug!(%error, "the receipt of a handle on a host is not written");
        }
        Ok(receipt)
    }
}

/// The key of a kept handle on another machine; `None` if the file has no valid one.
fn remote_key(kept: &KeptHandle) -> Option<HeldKey> {
    let place = kept.key.remote.as_ref()?;
    let nonce = u128::from_str_radix(&kept.key.nonce, 16).ok()?;
    Some(HeldKey {
        folder: kept.key.folder.local.clone(),
        name: kept.key.name.clone(),
        nonce: nonce.to_be_bytes(),
        remote: Some(RemotePlace {
            host: place.host.clone(),
            program: place.program,
        }),
    })
}
