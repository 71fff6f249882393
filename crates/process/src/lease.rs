//! The rest of a lease, and the waits for it.
//!
//! A lease is the time that a program is held while nobody is connected to it. Start at [`lease_left`]. Everything that
//! counts a lease, or another time for which a host is away, asks here, so that a test can end leases in real processes: see `orders` below.

use std::time::Duration;

use tokio::time::Instant;

/// The rest of a lease that has counted for this time.
pub fn lease_left(lease: Duration, counted: Duration) -> Duration {
    #[cfg(debug_assertions)]
    if orders::end_lease(lease) {
        return Duration::ZERO;
    }
    lease.saturating_sub(counted)
}

/// Resolves when a lease that begins now is over.
pub async fn lease_over(lease: Duration) {
    let begun = Instant::now();
    loop {
        let left = lease_left(lease, begun.elapsed());
        if left.is_zero() {
            return;
        }
        lease_wait(left).await;
    }
}

/// Waits for this time, or less if a test may end leases: look at the lease again after it.
pub async fn lease_wait(time: Duration) {
    tokio::time::sleep(lease_step(time)).await;
}

/// How long a thread may wait that counts a lease with this rest.
pub(crate) fn lease_step(left: Duration) -> Duration {
    #[cfg(debug_assertions)]
    if orders::folder().is_some() {
        return left.min(orders::STEP);
    }
    left
}

/// Tells tests what happened to a lease. Does nothing in a release build.
pub fn note_lease(event: impl FnOnce() -> String) {
    #[cfg(debug_assertions)]
    orders::note(event);
    #[cfg(not(debug_assertions))]
    let _ = event;
}

/// The orders of a test to the processes that it started, in debug builds only.
///
/// A variable names a folder. While its file `leases` contains a number of seconds, every lease that counts and is not
/// longer is over at once; when the folder is gone, all leases are. [`note_lease`] appends lines to its file `events`.
#[cfg(debug_assertions)]
mod orders {
    use std::fs;
    use std::io::Write;
    use std::path::PathBuf;
    use std::time::Duration;

    /// The variable. A release program does not contain its name.
    const VARIABLE: &str = "WINDLASS_TEST_ORDERS";
    /// How often the file is read.
    pub(super) const STEP: Duration = Duration::from_millis(20);

    pub(super) fn folder() -> Option<PathBuf> {
        std::env::var_os(VARIABLE).map(PathBuf::from)
    }

    pub(super) fn end_lease(lease: Duration) -> bool {
        let Some(folder) = folder() else { return false };
        let Ok(text) = fs::read_to_string(folder.join("leases")) else {
            // The test is over, and nobody will need the program.
            return !folder.exists();
        };
        let seconds = text.trim().parse();
        seconds.is_ok_and(|seconds| lease <= Duration::from_secs(seconds))
    }

    pub(super) fn note(event: impl FnOnce() -> String) {
        let Some(folder) = folder() else { return };
        let events = folder.join("events");
        let opened = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(events);
        if let Ok(mut events) = opened {
            // One write, so that the lines of several processes do not mix.
            let _ = events.write_all(format!("{}\n", event()).as_bytes());
        }
    }
}
