//! The standing of a kept handle, by the word of its holder.

use windlass_process::{HeldKey, TakeOverError};
use windlass_protocol::{HeldHandleInfo, HeldStanding, KeptHandle, LossReason};

use crate::store::KeptStore;
use crate::{boot, outdated, receipt};

/// A kept handle and its standing.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyedHandle {
    /// The handle, by its state file.
    pub handle: KeptHandle,
    /// Its standing.
    pub standing: HeldStanding,
    /// The process that holds it, if that has answered.
    pub holder: Option<u32>,
}

impl SurveyedHandle {
    /// The handle as a person sees it.
    pub fn info(&self) -> HeldHandleInfo {
        HeldHandleInfo::new(&self.handle, self.standing.clone())
    }

    /// The process of the living runtime that has it, if one does.
    pub fn owner(&self) -> Option<u32> {
        match self.standing {
            HeldStanding::Owned { owner } => Some(owner),
            _ => None,
        }
    }

    /// Whether it runs, or has exited and waits to be adopted, without a runtime.
    pub fn is_held(&self) -> bool {
        matches!(
            self.standing,
            HeldStanding::Held { .. } | HeldStanding::Stopped { .. }
        )
    }

    /// Whether it is gone for good, so that it is forgotten once somebody has been told.
    pub fn is_over(&self) -> bool {
        matches!(
            self.standing,
            HeldStanding::Ended { .. } | HeldStanding::Lost { .. }
        )
    }
}

/// A state file that cannot be read. Its program has been ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableKept {
    /// The name of its files.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl UnreadableKept {
    /// The handle's id, as far as the name of the files tells it.
    pub fn handle(&self) -> &str {
        self.name
            .split_once('-')
            .map_or(self.name.as_str(), |(_, handle)| handle)
    }
}

/// The way to the holder of a kept handle on this machine; `None` if the file has none that could be.
pub(crate) fn key(kept: &KeptHandle) -> Option<HeldKey> {
    if kept.key.remote.is_some() {
        return None;
    }
    let nonce = u128::from_str_radix(&kept.key.nonce, 16).ok()?;
    Some(HeldKey {
        folder: kept.key.folder.local.clone(),
        name: kept.key.name.clone(),
        nonce: nonce.to_be_bytes(),
        remote: None,
    })
}

impl KeptStore {
    /// Asks the holder of a kept handle how it stands. Takes two seconds at most, and longer only where a holder of a
    /// version that nobody understands is ended.
    pub async fn standing(&self, kept: KeptHandle) -> SurveyedHandle {
        let over = |handle, standing| SurveyedHandle {
            handle,
            standing,
            holder: None,
        };
        if kept.key.remote.is_some() {
            let standing = self.remote_standing(&kept);
            return over(kept, standing);
        }
        if !kept.stamp.boot.is_empty() && kept.stamp.boot != boot::id() {
            let standing = self.gone(&kept, LossReason::Rebooted);
            return over(kept, standing);
        }
        let Some(key) = key(&kept) else {
            let why = LossReason::Unreadable;
            return over(kept, HeldStanding::Lost { why });
        };
        let standing = match key.look_up().await {
            Ok(program) => {
                let left_secs = program.left.as_secs_f64();
                let exit = program.exit.as_ref().and_then(receipt::exit);
                let standing = match (program.owner, exit) {
                    (Some(owner), _) => HeldStanding::Owned { owner },
                    // Its receipt will say how it ended.
                    (None, _) if program.ending => HeldStanding::Silent,
                    (None, Some(exit)) => HeldStanding::Stopped { exit, left_secs },
                    (None, None) => HeldStanding::Held { left_secs },
                };
                return SurveyedHandle {
                    handle: kept,
                    standing,
                    holder: Some(program.holder),
                };
            }
            Err(TakeOverError::Gone { .. }) => self.gone(&kept, LossReason::HolderDied),
            Err(TakeOverError::Refused { version, .. }) => self.refused(&kept, version).await,
            // A live runtime has it, or the system has no descriptor left to ask with.
            Err(TakeOverError::Busy { owner, .. }) => HeldStanding::Owned { owner },
            Err(TakeOverError::Silent { .. } | TakeOverError::System { .. }) => {
                HeldStanding::Silent
            }
        };
        over(kept, standing)
    }

    /// The standing of a handle that nobody holds: its receipt says how it ended.
    fn gone(&self, kept: &KeptHandle, why: LossReason) -> HeldStanding {
        match receipt::read(&self.file(kept.name(), "receipt")) {
            Some(receipt) => HeldStanding::Ended { receipt },
            None => HeldStanding::Lost { why },
        }
    }

    /// A holder that has refused speaks an older version, a newer one, or does not know the nonce of the file.
    async fn refused(&self, kept: &KeptHandle, version: u8) -> HeldStanding {
        if version > windlass_process::WIRE_VERSION {
            return HeldStanding::Newer { version };
        }
        if version == windlass_process::WIRE_VERSION {
            // It is ending, or it is not the holder that this file leads to.
            return HeldStanding::Silent;
        }
        match outdated::end(kept, &self.file(kept.name(), "receipt")).await {
            Some(receipt) => HeldStanding::Ended { receipt },
            None => HeldStanding::Silent,
        }
    }
}
