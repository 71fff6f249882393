//! Registers descriptors with the executor, to be woken when they are ready.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A registered descriptor.
pub(crate) type Registered = AsyncFd<Arc<OwnedFd>>;

/// Registers a descriptor that is non-blocking, or that is read only when
/// ready.
#[expect(
    unsafe_code,
    reason = "the executor must be promised that the descriptor stays what it is"
)]
pub(crate) fn register(fd: Arc<OwnedFd>, interest: Interest) -> io::Result<Registered> {
    // SAFETY: an owned descriptor stays open and unchanged as long as the `Arc` lives, and the registration has a
    // clone.
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}
