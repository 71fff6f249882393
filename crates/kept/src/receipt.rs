//! The receipt file of a holder.

use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass_process::{Exit, HeldEnd, HoldReceipt};
use windlass_protocol::{KeptExit, KeptReceipt, KeptReceiptReason, Millis};

/// The JSON object of the file, with the status in the format of `waitpid`.
#[derive(Deserialize, Serialize)]
struct ReceiptFile {
    reason: String,
    #[serde(default)]
    ended: u32,
    #[serde(default)]
    survivors: Vec<u32>,
    #[serde(default)]
    status: Option<i32>,
    #[serde(default)]
    at: u64,
    #[serde(default)]
    limit: Option<String>,
}

/// Reads the receipt file of a holder, if there is one.
pub(crate) fn read(file: &Path) -> Option<KeptReceipt> {
    let text = std::fs::read_to_string(file).ok()?;
    let receipt: ReceiptFile = serde_json::from_str(text.trim_end()).ok()?;
    Some(KeptReceipt {
        reason: match receipt.reason.as_str() {
            "aborted" => KeptReceiptReason::Aborted,
            "asked" => KeptReceiptReason::Asked,
            "outdated" => KeptReceiptReason::Outdated,
            "limit" => KeptReceiptReason::Limit,
            _ => KeptReceiptReason::Lease,
        },
        ended: receipt.ended,
        survivors: receipt.survivors,
        exit: receipt
            .status
            .and_then(|status| exit(&Exit::from_wait_status(status))),
        at: Millis(receipt.at),
        limit: receipt.limit,
    })
}

/// The contents of a receipt file. The exit of the program is not written.
pub(crate) fn written(receipt: &KeptReceipt) -> Vec<u8> {
    let reason = match receipt.reason {
        KeptReceiptReason::Aborted => "aborted",
        KeptReceiptReason::Asked => "asked",
        KeptReceiptReason::Outdated => "outdated",
        KeptReceiptReason::Limit => "limit",
        KeptReceiptReason::Lease => "lease",
    };
    let file = ReceiptFile {
        reason: reason.to_owned(),
        ended: receipt.ended,
        survivors: receipt.survivors.clone(),
        status: None,
        at: receipt.at.0,
        limit: receipt.limit.clone(),
    };
    // Cannot fail: a struct of strings and numbers.
    serde_json::to_vec(&file).unwrap_or_default()
}

/// Converts a receipt that was received over a socket.
pub(crate) fn of_holder(receipt: &HoldReceipt) -> KeptReceipt {
    KeptReceipt {
        reason: match receipt.reason {
            HeldEnd::Lease => KeptReceiptReason::Lease,
            HeldEnd::Aborted => KeptReceiptReason::Aborted,
            HeldEnd::Asked => KeptReceiptReason::Asked,
            HeldEnd::Limit => KeptReceiptReason::Limit,
        },
        ended: receipt.ended,
        survivors: receipt.survivors.iter().map(|(pid, _)| *pid).collect(),
        exit: receipt
            .status
            .and_then(|status| exit(&Exit::from_wait_status(status))),
        at: Millis(receipt.at),
        limit: receipt.limit.clone(),
    }
}

pub(crate) fn exit(exit: &Exit) -> Option<KeptExit> {
    match exit {
        Exit::Code(code) => Some(KeptExit::Code(*code)),
        Exit::Signal(signal) => Some(KeptExit::Signal(*signal)),
        Exit::Lost(_) => None,
    }
}
