//! Hands a server's place over to another process, such as a newer version.
//!
//! [`HandoverSocket`] is the side of the current server, and [`Predecessor`]
//! that of the requesting process; `message.rs` has the messages.
//! The client must be this user and not a tool. If the connection ends before
//! the last message, the server keeps or regains everything.

mod message;

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};

pub use message::{HandoverOffer, HandoverRequest};

use crate::gate::PeerCheck;
use crate::socket::{listen_at, within_reach};
use message::HandoverWord;

/// The longest word.
const LONGEST: usize = 64 << 10;
/// How long the other side may take for a word that needs little work. A server
/// may be busy with another successor.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a place is not handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    /// The server refuses.
    #[error("the server (process {pid}) does not hand over: {why}")]
    Refused {
        /// The server's process.
        pid: u32,
        /// The reason, and what would work.
        why: String,
    },
    /// The other side is gone, or says something that is not understood.
    #[error("the handover broke off")]
    Broken(#[source] io::Error),
}

impl From<io::Error> for HandoverError {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// Takes the requests of those who want a server's place. Dropping it removes
/// the socket.
pub struct HandoverSocket {
    path: PathBuf,
    listener: UnixListener,
    is_tool: PeerCheck,
}

impl HandoverSocket {
    /// Listens in the folder of the control sockets, which must be the user's
    /// alone.
    pub fn listen(run_dir: &Path, is_tool: PeerCheck) -> io::Result<Self> {
        Self::listen_as(run_dir, std::process::id(), is_tool)
    }

    fn listen_as(run_dir: &Path, pid: u32, is_tool: PeerCheck) -> io::Result<Self> {
        let (listener, path) = listen_at(run_dir, &format!("serve-{pid}.{EXTENSION}"))?;
        Ok(Self {
            path,
            listener,
            is_tool,
        })
    }

    /// The next process that asks for the place and may. Others are refused.
    /// Dropping the future loses a request that has not been read.
    pub async fn next(&self) -> ReplacingServer {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            if let Some(successor) = self.admit(stream).await {
                return successor;
            }
        }
    }

    async fn admit(&self, stream: UnixStream) -> Option<ReplacingServer> {
        let own = rustix::process::geteuid().as_raw();
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            return None;
        }
        let is_tool = (self.is_tool)(stream.as_fd());
        let mut wire = WordStream::new(stream);
        let Ok(HandoverWord::Ask(request)) = wire.hear_soon().await else {
            return None;
        };
        let successor = ReplacingServer { wire, request };
        if is_tool {
            successor
                .refuse("only the person replaces a server, and a tool asks")
                .await;
            return None;
        }
        Some(successor)
    }
}

impl Drop for HandoverSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

const EXTENSION: &str = "handover";

/// A process that asks for this server's place.
pub struct ReplacingServer {
    wire: WordStream,
    /// Its description of itself.
    pub request: HandoverRequest,
}

impl ReplacingServer {
    /// Does not hand the place over.
    pub async fn refuse(mut self, why: &str) {
        let why = why.to_owned();
        // Whoever does not hear it has gone.
        let _ = self.wire.say(&HandoverWord::Refuse { why }, None).await;
    }

    /// Offers the place, and resolves when the successor has set everything
    /// up. Until then the server goes on as before.
    pub async fn offer(
        &mut self,
        offer: HandoverOffer,
        listener: Option<BorrowedFd<'_>>,
    ) -> Result<(), HandoverError> {
        self.wire.say(&HandoverWord::Offer(offer), listener).await?;
        if self.wire.hear_soon().await? == HandoverWord::Ready {
            Ok(())
        } else {
            Err(strange().into())
        }
    }

    /// Hands the place over, and resolves when the successor serves. An error
    /// means that it does not and never will: the server has its place back.
    pub async fn hand_over(&mut self) -> Result<(), HandoverError> {
        self.wire.say(&HandoverWord::Yours, None).await?;
        // Without a limit: as long as it lives, it may have handles by now.
        if self.wire.hear().await? == HandoverWord::Up {
            Ok(())
        } else {
            Err(strange().into())
        }
    }
}

/// A server that hands its place over to this process.
pub struct Predecessor {
    wire: WordStream,
    /// Its description of itself.
    pub offer: HandoverOffer,
    /// The socket that it listens on, if it does.
    pub listener: Option<OwnedFd>,
}

impl Predecessor {
    /// Asks the servers of this user one after the other, and gives the first
    /// that hands its place over, or `None` where no server is. An error is the
    /// last refusal.
    pub async fn find(
        run_dir: &Path,
        request: &HandoverRequest,
    ) -> Result<Option<Self>, HandoverError> {
        loop {
            let mut refused = None;
            let mut has_ended = false;
            for (pid, path) in sockets(run_dir) {
                let (short, _folder) = within_reach(&path)?;
                let stream = match UnixStream::connect(short).await {
                    Ok(stream) => stream,
                    Err(error) => {
                        has_ended |= is_over(&path, &error);
                        continue;
                    }
                };
                match Self::ask(pid, stream, request.clone()).await {
                    Ok(predecessor) => return Ok(Some(predecessor)),
                    Err(error) => refused = Some(error),
                }
            }
            // The successor of a server that has ended may have been absent
            // when the sockets were listed.
            if refused.is_some() || !has_ended {
                return refused.map_or(Ok(None), Err);
            }
        }
    }

    async fn ask(
        pid: u32,
        stream: UnixStream,
        request: HandoverRequest,
    ) -> Result<Self, HandoverError> {
        let mut wire = WordStream::new(stream);
        wire.say(&HandoverWord::Ask(request), None).await?;
        match wire.hear_soon().await? {
            HandoverWord::Offer(offer) => Ok(Self {
                offer,
                listener: wire.descriptors.pop(),
                wire,
            }),
            HandoverWord::Refuse { why } => Err(HandoverError::Refused { pid, why }),
            _ => Err(strange().into()),
        }
    }

    /// Says that everything is set up, and resolves when the place is this
    /// process's.
    pub async fn take(&mut self) -> Result<(), HandoverError> {
        self.wire.say(&HandoverWord::Ready, None).await?;
        match self.wire.hear().await? {
            HandoverWord::Yours => Ok(()),
            HandoverWord::Refuse { why } => Err(HandoverError::Refused {
                pid: self.offer.pid,
                why,
            }),
            _ => Err(strange().into()),
        }
    }

    /// Says that this process serves. The other server ends.
    pub async fn is_up(mut self) -> Result<(), HandoverError> {
        Ok(self.wire.say(&HandoverWord::Up, None).await?)
    }
}

/// Whether the server of a socket has ended. A socket that it has left is
/// removed.
fn is_over(path: &Path, error: &io::Error) -> bool {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        let _ = std::fs::remove_file(path);
    }
    path.symlink_metadata()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn sockets(run_dir: &Path) -> Vec<(u32, PathBuf)> {
    let entries = std::fs::read_dir(run_dir).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?;
            let pid = name.strip_prefix("serve-")?.strip_suffix(EXTENSION)?;
            Some((pid.strip_suffix('.')?.parse().ok()?, path))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Words over a socket.
struct WordStream {
    stream: UnixStream,
    read: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl WordStream {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            read: Vec::new(),
            descriptors: Vec::new(),
        }
    }

    async fn say(&mut self, word: &HandoverWord, fd: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let mut line = serde_json::to_vec(word)?;
        line.push(b'\n');
        let mut rest = &line[..];
        let mut fds: Vec<BorrowedFd<'_>> = fd.into_iter().collect();
        while !rest.is_empty() {
            let write = || Ok(send(self.stream.as_fd(), rest, &fds)?);
            let length = self.stream.async_io(Interest::WRITABLE, write).await?;
            rest = &rest[length..];
            fds.clear();
        }
        Ok(())
    }

    async fn hear_soon(&mut self) -> io::Result<HandoverWord> {
        let heard = tokio::time::timeout(PATIENCE, self.hear()).await;
        heard.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    async fn hear(&mut self) -> io::Result<HandoverWord> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(serde_json::from_slice(&line)?);
            }
            if self.read.len() > LONGEST {
                return Err(strange());
            }
            let mut bytes = [0; 4096];
            let mut fds = Vec::new();
            let receive = || Ok(receive(self.stream.as_fd(), &mut bytes, &mut fds)?);
            let length = self.stream.async_io(Interest::READABLE, receive).await?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.descriptors.append(&mut fds);
            self.read.extend_from_slice(&bytes[..length]);
        }
    }
}

fn strange() -> io::Error {
    io::Error::other("the other side says something that is not understood")
}

fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
) -> Result<usize, rustix::io::Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(fds));
    }
    // A peer that is gone must be an error and no signal.
    #[cfg(not(target_vendor = "apple"))]
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    #[cfg(target_vendor = "apple")]
    let flags = SendFlags::DONTWAIT;
    #[cfg(target_vendor = "apple")]
    rustix::net::sockopt::set_socket_nosigpipe(socket, true)?;
    sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, flags)
}

fn receive(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> Result<usize, rustix::io::Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    #[cfg(not(target_vendor = "apple"))]
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    #[cfg(target_vendor = "apple")]
    let flags = RecvFlags::DONTWAIT;
    let received = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut ancillary, flags)?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    // Here a program that is started by another thread at this moment can inherit one.
    #[cfg(target_vendor = "apple")]
    for fd in &*fds {
        rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(received.bytes)
}

#[cfg(test)]
#[path = "handover_tests.rs"]
mod tests;
