//! Kept handles on other machines.
//!
//! Their holders are elsewhere, and are asked only when a handle is adopted. Which runtime has one is known here: it holds
//! a lock on the file `NAME.own`. The last word of the far side is in `NAME.receipt`, or `NAME.gone` says that there is
//! none.

use std::fs;
use std::os::unix::fs::FileExt;

use windlass_protocol::{HeldStanding, KeptHandle, LossReason};

use crate::receipt;
use crate::store::KeptStore;

impl KeptStore {
    /// The standing of a handle on another machine, as far as it is known here.
    pub(crate) fn remote_standing(&self, kept: &KeptHandle) -> HeldStanding {
        let name = kept.name();
        if let Some(receipt) = receipt::read(&self.file(name, "receipt")) {
            return HeldStanding::Ended { receipt };
        }
        if self.file(name, "gone").exists() {
            let why = LossReason::HolderDied;
            return HeldStanding::Lost { why };
        }
        let owner = fs::File::open(self.file(name, "own"));
        if let Ok(file) = owner
            && matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
        {
            let owner = pid_of(&file);
            return HeldStanding::Owned { owner };
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "a lease of a day is far below the precision"
        )]
        let left_secs = kept.lease_secs as f64;
        HeldStanding::Held { left_secs }
    }
}

/// The process that has written itself into the file: a number behind the offset up to which the output was read.
fn pid_of(file: &fs::File) -> u32 {
    let mut number = [0; 4];
    let _ = file.read_exact_at(&mut number, 8);
    u32::from_le_bytes(number)
}
