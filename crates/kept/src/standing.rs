//! The status of a kept handle, as reported by its holder.

use windlass_process::{HeldKey, TakeOverError};
use windlass_protocol::{HeldHandleInfo, HeldStanding, KeptHandle, LossReason};

use crate::store::KeptStore;
use crate::{boot, outdated, receipt};

/// A kept handle and its status.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyedHandle {
    /// The contents of its state file.
    pub handle: KeptHandle,
    /// Its status.
    pub standing: HeldStanding,
    /// The pid of its holder, if that has replied.
    pub holder: Option<u32>,
}

impl SurveyedHandle {
    /// The handle's description for the user.
    pub fn info(&self) -> HeldHandleInfo {
        HeldHandleInfo::new(&self.handle, self.standing.clone())
    }

    /// The pid of the live runtime that owns it, if any.
    pub fn owner(&self) -> Option<u32> {
        match self.standing {
            HeldStanding::Owned { owner } => Some(owner),
            _ => None,
        }
    }

    /// Whether no runtime owns it and it runs, or has exited and can be adopted.
    pub fn is_held(&self) -> bool {
        matches!(
            self.standing,
            HeldStanding::Held { .. } | HeldStanding::Stopped { .. }
        )
    }

    /// Whether it has ended. It is then forgotten once that was reported.
    pub fn is_over(&self) -> bool {
        matches!(
            self.standing,
            HeldStanding::Ended { .. } | HeldStanding::Lost { .. }
        )
    }
}

/// A state file that cannot be read. Its program was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableKept {
    /// The name of its files.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl UnreadableKept {
    /// The handle's id, as far as the file names contain it.
    pub fn handle(&self) -> &str {
        self.name
            .split_once('-')
            .map_or(self.name.as_str(), |(_, handle)| handle)
    }
}

/// The key of a kept handle's holder on this machine; `None` if the file has no valid one.
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
    /// Queries the holder of a kept handle. Takes at most two seconds, or longer if an outdated holder must be ended.
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
                    // Its receipt will state how it ended.
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
            // A live runtime owns it, or no descriptor is left to connect with.
            Err(TakeOverError::Busy { owner, .. }) => HeldStanding::Owned { owner },
            Err(TakeOverError::Silent { .. } | TakeOverError::System { .. }) => {
                HeldStanding::Silent
            }
        };
        over(kept, standing)
    }

    /// The status of a handle that has no holder: its receipt states how it ended.
    fn gone(&self, kept: &KeptHandle, why: LossReason) -> HeldStanding {
        match receipt::read(&self.file(kept.name(), "receipt")) {
            Some(receipt) => HeldStanding::Ended { receipt },
            None => HeldStanding::Lost { why },
        }
    }

    /// Handles a refusal: the holder speaks an older or newer version, or does not know the nonce of the file.
    async fn refused(&self, kept: &KeptHandle, version: u8) -> HeldStanding {
        if version > windlass_process::WIRE_VERSION {
            return HeldStanding::Newer { version };
        }
        if version == windlass_process::WIRE_VERSION {
            // It is ending, or it is not the holder of this file.
            return HeldStanding::Silent;
        }
        match outdated::end(kept, &self.file(kept.name(), "receipt")).await {
            Some(receipt) => HeldStanding::Ended { receipt },
            None => HeldStanding::Silent,
        }
    }
}
