//! Reads the output of a program whose runtime is away from its holder, so that it is stored too.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use windlass_hold_wire::{FarFrame, LONGEST_PIECE, LinkExit};
use windlass_host::held_key;
use windlass_process::{Exit, HeldKey, HeldProgram, TakeOverError};

use super::far_session::FarSession;
use super::recording::OutputRecord;

/// How often a holder is asked. It does not report new output by itself.
const STEP: Duration = Duration::from_secs(1);

/// Stores output while the session has no other link than the one that has ended.
pub(super) async fn follow(
    session: Arc<FarSession>,
    links: u64,
    folder: PathBuf,
    record: Arc<OutputRecord>,
) {
    let Some(key) = held_key(&folder, &record.origin) else {
        return;
    };
    while session.has_links(links) && !record.is_closed() {
        match key.look_up().await {
            Ok(held) if held.owner.is_none() => {
                if let Err(TakeOverError::Gone { .. }) = copy(&key, &record, &held).await {
                    return;
                }
                if held.exit.is_some() {
                    return;
                }
            }
            Err(TakeOverError::Gone { .. }) => return,
            // The far end has not released it yet, or its holder is busy.
            Ok(_) | Err(_) => {}
        }
        tokio::time::sleep(STEP).await;
    }
}

/// Takes the output that the holder has, and the exit.
async fn copy(
    key: &HeldKey,
    record: &OutputRecord,
    held: &HeldProgram,
) -> Result<(), TakeOverError> {
    let most = u32::try_from(LONGEST_PIECE).unwrap_or(u32::MAX);
    while record.taken() < held.written {
        let (from, bytes) = key.output(record.taken(), most).await?;
        if bytes.is_empty() {
            break;
        }
        record.take_held(from, bytes);
        record.room().await;
    }
    if let Some(exit) = &held.exit {
        let exited = FarFrame::Exited {
            program: record.origin.program,
            offset: held.written,
            exit: match exit {
                Exit::Code(code) => LinkExit::Code(*code),
                Exit::Signal(signal) => LinkExit::Signal(*signal),
                Exit::Lost(why) => LinkExit::Lost(why.clone()),
            },
            remaining: 0,
            exceeded: None,
            denied: Vec::new(),
        };
        record.take_exit(&exited.write());
    }
    Ok(())
}
