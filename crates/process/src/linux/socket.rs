//! Messages with descriptors over Unix sockets.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// The maximum number of descriptors per message: those of a kept program and its listening socket.
pub(super) const FD_LIMIT: usize = 8;

/// A connected pair, closed on exec.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Sends a message; returns an error if the peer is gone, without a signal.
pub(super) fn send(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FD_LIMIT))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(fds));
    }
    rustix::io::retry_on_intr(|| {
        sendmsg(
            &socket,
            &[IoSlice::new(bytes)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        )
    })?;
    Ok(())
}

/// The result of [`receive`].
pub(super) enum Received {
    /// A message of this length.
    Message(usize),
    /// There is no message yet.
    Nothing,
    /// The peer is gone. `unread`: it did not read everything that was sent.
    End { unread: bool },
}

/// Receives a message without blocking.
pub(super) fn receive(
    socket: impl AsFd,
    bytes: &mut [u8],
    mut take: impl FnMut(OwnedFd),
) -> Received {
    let mut unread = false;
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FD_LIMIT))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = rustix::io::retry_on_intr(|| {
            recvmsg(
                &socket,
                &mut [IoSliceMut::new(bytes)],
                &mut ancillary,
                flags,
            )
        });
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                fds.for_each(&mut take);
            }
        }
        return match received.map(|received| received.bytes) {
            Ok(length) if length > 0 => Received::Message(length),
            Err(Errno::AGAIN) => Received::Nothing,
            // The kernel reports this once, before the last messages of the peer.
            Err(Errno::CONNRESET) if !unread => {
                unread = true;
                continue;
            }
            // There are no empty messages.
            Ok(_) | Err(_) => Received::End { unread },
        };
    }
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
