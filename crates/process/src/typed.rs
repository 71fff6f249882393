//! What is typed at the terminal that this process itself is on.
//!
//! Only bytes: what they mean, and how the terminal treats them, is the caller's.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;

use crate::readiness::{Registered, register};

/// The bytes that come from a terminal, without a thread that waits for them.
pub struct Typed(Registered);

impl Typed {
    /// Reads from this terminal. It fails for what is none, such as a file.
    pub fn new(terminal: OwnedFd) -> io::Result<Self> {
        Ok(Self(register(Arc::new(terminal), Interest::READABLE)?))
    }

    /// What was typed, as soon as something was; an error once the terminal has gone. Nothing is lost when this is
    /// dropped.
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

impl AsFd for Typed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_ref().as_fd()
    }
}

/// The descriptor is shared with whoever started us, so it stays one that blocks, and is read only when there is
/// something.
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
