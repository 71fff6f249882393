//! The near state of a kept program: its owner process, and the read position of its output.
//!
//! The file `NAME.own` is beside the state file of the handle. The process that owns the program locks it, so that no
//! other process adopts the program meanwhile. It contains the read position, the pid and the lease.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Arc;
use std::time::Duration;

use windlass_process::{HeldKey, ReadNoter, TakeOverError};

/// The place of the owner's pid in the file.
const PID_AT: u64 = 8;
/// The place of the lease, in milliseconds.
const LEASE_AT: u64 = 12;

/// A kept program that this process owns.
pub(super) struct OwnedKept {
    pub(super) key: HeldKey,
    file: Arc<File>,
}

impl OwnedKept {
    /// Takes ownership of the program, if no other process owns it.
    pub(super) fn take(key: HeldKey) -> Result<Self, TakeOverError> {
        let system = |source: io::Error| TakeOverError::System {
            name: key.name.clone(),
            source,
        };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let path = key.folder.join(format!("{}.own", key.name));
        let file = options.mode(0o600).open(path).map_err(system)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut number = [0; 4];
                let _ = file.read_exact_at(&mut number, PID_AT);
                return Err(TakeOverError::Busy {
                    name: key.name,
                    owner: u32::from_le_bytes(number),
                });
            }
            Err(TryLockError::Error(error)) => return Err(system(error)),
        }
        let pid = std::process::id().to_le_bytes();
        file.write_all_at(&pid, PID_AT).map_err(system)?;
        Ok(Self {
            key,
            file: Arc::new(file),
        })
    }

    /// The read position as last written.
    pub(super) fn noted_read(&self) -> u64 {
        let mut offset = [0; 8];
        let _ = self.file.read_exact_at(&mut offset, 0);
        u64::from_le_bytes(offset)
    }

    /// Writes how long the far side holds the program without a link.
    pub(super) fn note_lease(&self, lease: Duration) {
        let millis = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        // If this fails, the next process assumes the longest lease.
        let _ = self.file.write_all_at(&millis.to_le_bytes(), LEASE_AT);
    }

    /// The lease as written by the process that started the program.
    pub(super) fn noted_lease(&self) -> Option<Duration> {
        let mut millis = [0; 8];
        self.file.read_exact_at(&mut millis, LEASE_AT).ok()?;
        Some(Duration::from_millis(u64::from_le_bytes(millis)))
    }

    /// Returns a callback that writes the read position.
    pub(super) fn noter(&self) -> ReadNoter {
        let file = Arc::clone(&self.file);
        Box::new(move |offset| {
            // If this fails, the next session shows output again.
            let _ = file.write_all_at(&offset.to_le_bytes(), 0);
        })
    }

    /// Releases the program to the next process.
    pub(super) fn release(&self) {
        let _ = self.file.unlock();
    }

    /// Writes the receipt of a program that no longer exists on the far side.
    pub(super) fn note_end(&self, receipt: Option<&[u8]>) {
        let HeldKey { folder, name, .. } = &self.key;
        let (extension, bytes) = match receipt {
            Some(receipt) => ("receipt", receipt),
            None => ("gone", &b""[..]),
        };
        let _ = std::fs::write(folder.join(format!("{name}.{extension}")), bytes);
    }
}

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;
