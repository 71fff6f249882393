//! The control socket: a runtime's interface, for its user only.
//!
//! Start at [`ControlSocket::listen`]. The socket has mode 0600 in a folder of
//! mode 0700, and clients must be this user and not a tool, so there is no
//! token. Its name contains the front end and the process.

use std::cell::LazyCell;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::connection::{ConnectionService, Limits, pause_after};
use crate::gate::{PeerCheck, admit_if};
use crate::slots::ConnectionSlots;

/// The longest path that a socket can be bound to or connected at.
const LONGEST: usize = 100;

/// The folder of the control sockets of a user's runtimes.
pub fn run_dir(state_dir: &Path) -> PathBuf {
    state_dir.join("run")
}

/// A control socket that is listened on. Dropping it closes and removes it.
pub struct ControlSocket {
    path: PathBuf,
    /// Cancelled when no more connections are taken.
    leaving: CancellationToken,
    /// Cancelled when those that are open are let go of.
    closing: CancellationToken,
}

impl ControlSocket {
    /// Offers an interface to this user's processes, apart from tools.
    pub fn listen(run_dir: &Path, api: &Api, is_tool: PeerCheck) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(run_dir)?;
        std::fs::set_permissions(run_dir, std::fs::Permissions::from_mode(0o700))?;
        let pid = std::process::id();
        let (listener, path) = listen_at(run_dir, &format!("{}-{pid}.sock", api.0.front_end))?;
        let (leaving, closing) = (CancellationToken::new(), CancellationToken::new());
        let offer = SocketOffer {
            api: api.clone(),
            is_tool,
            leaving: leaving.clone(),
            closing: closing.clone(),
        };
        windlass_task::spawn(offer.accept(listener));
        Ok(Self {
            path,
            leaving,
            closing,
        })
    }

    /// Removes the socket, so that no new connections are made. Open ones stay,
    /// see [`Api::leave`].
    pub fn leave(&self) {
        self.leaving.cancel();
        let _ = std::fs::remove_file(&self.path);
    }

    /// The path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.leaving.cancel();
        self.closing.cancel();
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The interface of a socket, and the conditions of its use.
struct SocketOffer {
    api: Api,
    is_tool: PeerCheck,
    leaving: CancellationToken,
    closing: CancellationToken,
}

impl SocketOffer {
    /// Accepts this user's connections.
    async fn accept(self, listener: UnixListener) {
        // Made for the first client: most runtimes never have one, and the
        // routes take longer than the rest of a start.
        let service = LazyCell::new(|| ConnectionService {
            api: self.api.clone(),
            router: self.api.router(),
            limits: Limits::default(),
            closing: self.closing.clone(),
        });
        let slots = ConnectionSlots::new(Limits::default().connections);
        let own = rustix::process::geteuid().as_raw();
        loop {
            let stream = match self.leaving.run_until_cancelled(listener.accept()).await {
                None => return,
                Some(Ok((stream, _))) => stream,
                Some(Err(error)) => {
                    pause_after(&error).await;
                    continue;
                }
            };
            if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
                continue;
            }
            let Some(slot) = self.closing.run_until_cancelled(slots.take()).await else {
                return;
            };
            slot.client.mark_authenticated();
            let service = service.clone();
            let is_tool = self.is_tool;
            windlass_task::spawn(async move {
                let client = slot.client.clone();
                // A Unix socket tells its peer at once.
                let admitted = !is_tool(stream.as_fd());
                if let Some(stream) = admit_if(admitted, stream) {
                    service.serve(stream, client).await;
                }
                drop(slot);
            });
        }
    }
}

/// Listens on a socket of this user in the folder; returns its path.
pub(crate) fn listen_at(run_dir: &Path, name: &str) -> io::Result<(UnixListener, PathBuf)> {
    let path = run_dir.join(name);
    // Under another name until somebody listens: a socket that nobody listens
    // on is swept.
    let new = run_dir.join(format!("{name}.new"));
    let _ = std::fs::remove_file(&new);
    let (short, _folder) = within_reach(&new)?;
    let listener = UnixListener::bind(short)?;
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&new, &path)?;
    Ok((listener, path))
}

/// A path that a socket address can hold: through the folder's descriptor,
/// which must be kept open, where the path itself is too long.
pub(crate) fn within_reach(path: &Path) -> io::Result<(PathBuf, Option<File>)> {
    if path.as_os_str().len() <= LONGEST {
        return Ok((path.to_owned(), None));
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = File::open(parent)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok((short, Some(folder)))
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
