//! Kept handles on other machines.
//!
//! Their holders are on other machines, and are contacted only when a handle is adopted. The runtime that owns a handle
//! holds a lock on the local file `NAME.own`. The final report of the far side is in `NAME.receipt`, or `NAME.gone` if
//! there is no receipt.

use std::fs;
use std::os::unix::fs::FileExt;

use windlass_protocol::{HeldStanding, KeptHandle, LossReason};

use crate::receipt;
use crate::store::KeptStore;

impl KeptStore {
    /// The status of a handle on another machine, as far as known here.
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

/// The pid of the owner, which follows the read position in the file.
fn pid_of(file: &fs::File) -> u32 {
    let mut number = [0; 4];
    let _ = file.read_exact_at(&mut number, 8);
    u32::from_le_bytes(number)
}
