//! Input from this process's own terminal.
//!
//! Only bytes: the caller interprets them and sets the terminal's modes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;

use crate::readiness::{Registered, register};

/// Asynchronous input from a terminal, without a blocked thread.
pub struct TypedBytes(Registered);

impl TypedBytes {
    /// Reads from this terminal. Fails for other files.
    pub fn new(terminal: OwnedFd) -> io::Result<Self> {
        Ok(Self(register(Arc::new(terminal), Interest::READABLE)?))
    }

    /// Returns typed bytes as soon as there are some; an error once the
    /// terminal is gone. Cancellation safe.
    pub async fn read(&self) -> io::Result<Vec<u8>> {
        loop {
            let mut ready = self.0.readable().await?;
            match ready.try_io(|terminal| read(terminal.get_ref().as_fd())) {
                Ok(Ok(bytes)) if bytes.is_empty() => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => return read,
                Err(_would_block) => {}
            }
        }
    }
}

impl AsFd for TypedBytes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_ref().as_fd()
    }
}

/// Reads without changing the descriptor to non-blocking, because our parent
/// shares it. Called only when it is ready.
fn read(terminal: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let mut polled = [PollFd::new(&terminal, PollFlags::IN)];
    if poll(&mut polled, Some(&Timespec::default()))? == 0 {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    let mut buffer = vec![0; 4096];
    let length = rustix::io::read(terminal, &mut buffer[..])?;
    buffer.truncate(length);
    Ok(buffer)
}
