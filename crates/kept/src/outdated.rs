//! Ends a holder whose protocol version is no longer supported, and writes a receipt.

use std::path::Path;
use std::time::{Duration, SystemTime};

use windlass_process::end_holder;
use windlass_protocol::{KeptHandle, KeptReceipt, KeptReceiptReason, Millis};

use crate::store::write_private;

/// How long the process tree of an outdated holder may take to end.
const LIMIT: Duration = Duration::from_secs(10);

/// Ends the holder of this handle and its process tree, and writes a receipt for it. `None` if the process is not known
/// or could not be ended.
pub(crate) async fn end(kept: &KeptHandle, receipt: &Path) -> Option<KeptReceipt> {
    let holder = kept.key.holder?;
    let ended = end_holder(holder, LIMIT).await?;
    let ended = u32::try_from(ended).unwrap_or(u32::MAX);
    let at = Millis::at(SystemTime::now());
    let text = format!(
        "{{\"reason\":\"outdated\",\"ended\":{ended},\"at\":{}}}\n",
        at.0
    );
    if let Err(error) = write_private(receipt, text.as_bytes()) {
        tracing::warn!(%error, "the receipt of an outdated holder cannot be written");
    }
    Some(KeptReceipt {
        reason: KeptReceiptReason::Outdated,
        ended,
        survivors: Vec::new(),
        exit: None,
        at,
        limit: None,
    })
}
