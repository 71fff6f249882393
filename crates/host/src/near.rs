//! The near end of links: one carrier per host, and the programs there.
//!
//! Start at [`Host::new`]. The carrier is started with the first program. A broken link is reconnected with backoff.
//! Every program continues after the last received byte, and unconfirmed orders are resent under their numbers. If a
//! host is not reached within the lease, it has ended its programs: they are lost.

mod adopting;
mod link;
mod owner;
mod program;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use windlass_hold_wire::{
    FarHello, LONGEST_WINDOW, LinkCapture, LinkSandbox, LinkSession, ProgramStart,
};
use windlass_process::{
    HeldKey, Launcher, LauncherOptions, Process, RemoteAdoption, RemoteCapture, RemoteFuture,
    RemoteHost, RemotePlace, RemoteStart, StartError, TakeOverError,
};
use windlass_sandbox::UnresolvedSandbox;

use self::link::{Link, LinkMaker};
use self::owner::OwnedKept;
use self::program::NearProgram;
use crate::rules::{limit_numbers, sandbox_frame};
use crate::{CarrierAsker, HostError, LinkSource};

/// The maximum number of unconfirmed bytes of output of one program.
pub(crate) const WINDOW: u64 = LONGEST_WINDOW;
/// The window while the user types to another program of the link. Replies queue behind output in the carrier.
const SHARED_WINDOW: u64 = WINDOW / 4;

/// The configuration of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostOptions {
    /// Its name.
    pub name: String,
    /// The command that provides a pipe to `windlass host`.
    pub via: Vec<OsString>,
    /// The project's directory there; `None` if it is the same as here.
    pub root: Option<PathBuf>,
    /// The project's directory here.
    pub project: PathBuf,
    /// How long programs are held there without a link.
    pub lease: Duration,
    /// The time between heartbeats.
    pub heartbeat: Duration,
    /// The time limit for the handshake, excluding the time in which a user is being asked.
    pub patience: Duration,
    /// The program to install there. `via` then provides a shell, which executes `windlass host`.
    pub install: Option<PathBuf>,
}

impl HostOptions {
    /// Options with the default times: a lease of 60 s and a heartbeat every 15 s.
    pub fn new(name: impl Into<String>, via: Vec<OsString>, project: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            via,
            root: None,
            project: project.into(),
            lease: Duration::from_mins(1),
            heartbeat: Duration::from_secs(15),
            patience: Duration::from_mins(1),
            install: None,
        }
    }
}

/// The state of the link to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkStanding {
    /// Not connected, and not needed.
    Unused,
    /// Connected.
    Connected {
        /// The far machine.
        machine: FarHello,
        /// The number of programs that run there for this host.
        programs: usize,
    },
    /// The link was lost and is being reconnected.
    Lost {
        /// The time of the loss.
        since: SystemTime,
        /// The number of programs that run there for this host, as far as known.
        programs: usize,
    },
}

/// A remote machine that runs programs. Clones share the link.
#[derive(Clone)]
pub struct Host {
    link: Arc<Link>,
}

impl Host {
    /// Creates a host. Nothing is started before it is used. The carrier gets this environment; default: that of this
    /// process.
    pub fn new(
        options: HostOptions,
        environment: Option<Vec<(OsString, OsString)>>,
    ) -> std::io::Result<Self> {
        // A carrier ends with its pipe. If its process tree were tracked, a far side on this machine would be ended
        // with it, together with programs that are meant to outlive it.
        let launcher = Launcher::new(LauncherOptions {
            environment,
            hold_trees: false,
        })?;
        let link = Arc::new(Link::new(options, LinkMaker::Command(launcher))?);
        Ok(Self { link })
    }

    /// Creates a host whose links come from `source`; `via` of the options is ignored.
    pub fn over(options: HostOptions, source: Arc<dyn LinkSource>) -> std::io::Result<Self> {
        let link = Arc::new(Link::new(options, LinkMaker::Source(source))?);
        Ok(Self { link })
    }

    /// The near session, by which the far side identifies this host's programs.
    pub fn session(&self) -> LinkSession {
        self.link.session
    }

    /// Abandons the host: its programs are lost at once, and no link is made for them.
    pub fn abandon(&self, why: &str) {
        self.link.abandon(why);
    }

    /// Resolves when every program of this host has ended, is lost or was left.
    pub async fn emptied(&self) {
        self.link.emptied().await;
    }

    /// Starts a program, and reports its number before anything is sent.
    pub async fn start_numbered(
        &self,
        start: RemoteStart,
        told: impl FnOnce(u64) + Send,
    ) -> Result<Process, StartError> {
        self.begin(start, told).await
    }

    /// Connects if necessary, and describes the machine. `asks` are programs to look up there.
    pub async fn connect(&self, asks: Vec<String>) -> Result<FarHello, HostError> {
        self.link.connect(asks).await
    }

    /// The state of the link. Does not connect.
    pub fn standing(&self) -> LinkStanding {
        self.link.standing()
    }

    /// Whether this program was copied there for the current link; `None` if it is not to be installed.
    pub fn was_copied(&self) -> Option<bool> {
        self.link.was_copied()
    }

    /// Adds an asker for questions of the carrier, as long as its call waits for the host.
    pub fn ask_through(&self, asker: Arc<dyn CarrierAsker>) {
        self.link.ask_through(asker);
    }

    async fn begin(
        &self,
        start: RemoteStart,
        told: impl FnOnce(u64) + Send,
    ) -> Result<Process, StartError> {
        let name = self.link.options.name.clone();
        let failed = |error: HostError| StartError::Host {
            host: name.clone(),
            problem: error.to_string(),
        };
        self.link.connect(Vec::new()).await.map_err(failed)?;
        let number = self.link.next_number();
        let mut frame = self.frame_of(&start);
        let kept = self.keep(number, &start);
        if kept.is_none() {
            // The far side has no holders, or the near files could not be created and nobody would find it.
            frame.keep = None;
        }
        let program = NearProgram::new(&self.link, number, start, kept, frame.sandbox.clone());
        told(number);
        self.link.start(&program, frame);
        match program.started().await {
            Ok(()) => Ok(Process::remote(program)),
            Err(not_started) => Err(StartError::Host {
                host: name,
                problem: not_started.to_string(),
            }),
        }
    }

    /// Creates the near files of a kept program.
    fn keep(&self, number: u64, start: &RemoteStart) -> Option<OwnedKept> {
        let options = start.keep.as_ref().filter(|_| self.link.holds_trees())?;
        let key = HeldKey {
            folder: options.folder.clone(),
            name: options.name.clone(),
            nonce: self.link.session,
            remote: Some(RemotePlace {
                host: self.link.options.name.clone(),
                program: number,
            }),
        };
        let kept = OwnedKept::take(key).ok()?;
        kept.note_lease(options.lease);
        Some(kept)
    }

    fn sandbox_of(&self, sandbox: Option<&UnresolvedSandbox>) -> Option<LinkSandbox> {
        let root = self.path_there(&self.link.options.project);
        sandbox.map(|sandbox| sandbox_frame(sandbox, &root))
    }

    fn frame_of(&self, start: &RemoteStart) -> ProgramStart {
        let bytes = |word: &OsString| word.as_bytes().to_vec();
        let cwd = start.cwd.as_deref().map(|cwd| self.path_there(cwd));
        ProgramStart {
            program: bytes(&start.program),
            is_user_shell: start.is_user_shell,
            args: start.args.iter().map(bytes).collect(),
            env: start
                .env
                .iter()
                .map(|(name, value)| (bytes(name), value.as_ref().map(bytes)))
                .collect(),
            env_clear: start.env_clear,
            cwd: cwd.map(|cwd| cwd.as_os_str().as_bytes().to_vec()),
            has_input: start.has_input,
            capture: match start.capture {
                RemoteCapture::Separate => LinkCapture::Separate,
                RemoteCapture::Merged => LinkCapture::Merged,
                RemoteCapture::Nothing => LinkCapture::Nothing,
            },
            terminal: start.terminal.map(|size| (size.rows, size.cols)),
            grace: start.grace,
            limits: limit_numbers(&start.limits),
            credit: WINDOW,
            sandbox: self.sandbox_of(start.sandbox.as_ref()),
            keep: start.keep.as_ref().map(|options| options.lease),
        }
    }
}

/// Maps a path of the project here to the path on a host with this root. Other paths are unchanged.
pub fn path_there(path: &Path, project: &Path, root: Option<&Path>) -> PathBuf {
    match (root, path.strip_prefix(project)) {
        (Some(root), Ok(rest)) if rest.as_os_str().is_empty() => root.to_owned(),
        (Some(root), Ok(rest)) => root.join(rest),
        _ => path.to_owned(),
    }
}

impl RemoteHost for Host {
    fn name(&self) -> &str {
        &self.link.options.name
    }

    fn path_there(&self, path: &Path) -> PathBuf {
        let options = &self.link.options;
        path_there(path, &options.project, options.root.as_deref())
    }

    fn start(&self, start: RemoteStart) -> RemoteFuture<'_, Result<Process, StartError>> {
        Box::pin(self.begin(start, |_| {}))
    }

    fn has_place(&self, place: &RemotePlace) -> bool {
        place.host == self.link.options.name
    }

    fn adopt(&self, adoption: RemoteAdoption) -> RemoteFuture<'_, Result<Process, TakeOverError>> {
        Box::pin(self.take_over(adoption))
    }
}

#[cfg(test)]
#[path = "near_tests.rs"]
mod tests;
