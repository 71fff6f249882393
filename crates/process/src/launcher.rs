//! A launcher: the environment, sandbox, limits and host of its programs.
//!
//! `launcher/starting.rs` starts and adopts programs.

mod starting;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::Weak;

#[cfg(target_os = "linux")]
use parking_lot::Mutex;
use windlass_sandbox::{Confinement, ResourceLimits, UnresolvedSandbox};

use crate::{RemoteHost, SandboxSupport};

/// Starts programs. Clones share everything.
#[derive(Clone)]
pub struct Launcher {
    inner: Arc<LauncherInner>,
    /// Changes to the environment, before those of a command.
    edits: Arc<[(OsString, Option<OsString>)]>,
    /// The sandbox of its programs.
    sandbox: Option<SandboxHandle>,
    /// The sandbox of its programs on a host. The host resolves it.
    unresolved: Option<Arc<UnresolvedSandbox>>,
    /// The limits of its programs.
    limits: Option<Arc<ResourceLimits>>,
    /// The host of its programs; `None` for this machine.
    host: Option<Arc<dyn RemoteHost>>,
    /// The group of its programs on a host.
    group: Option<Arc<str>>,
}

#[cfg(target_os = "linux")]
type SandboxHandle = Arc<crate::linux::Sandbox>;
#[cfg(not(target_os = "linux"))]
type SandboxHandle = Arc<Confinement>;

/// Options of a [`Launcher`].
#[derive(Debug, Clone)]
pub struct LauncherOptions {
    /// The environment of programs, before edits. Default: this process's own.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Whether to hold trees together where possible (on Linux, after
    /// [`init`](crate::init)). Otherwise programs are plain process groups.
    pub hold_trees: bool,
}

impl Default for LauncherOptions {
    fn default() -> Self {
        Self {
            environment: None,
            hold_trees: true,
        }
    }
}

struct LauncherInner {
    environment: Vec<(OsString, OsString)>,
    #[cfg(target_os = "linux")]
    zygotes: Option<Arc<crate::linux::Zygotes>>,
    /// Shared by programs with equal confinements.
    #[cfg(target_os = "linux")]
    sandboxes: Mutex<Vec<Weak<crate::linux::Sandbox>>>,
    /// Sandboxes that outlive their launchers, most recently used last.
    #[cfg(target_os = "linux")]
    lasting_sandboxes: Mutex<Vec<Arc<crate::linux::Sandbox>>>,
}

/// The maximum number of lasting sandboxes.
#[cfg(target_os = "linux")]
const LASTING_SANDBOXES: usize = 16;

impl Launcher {
    /// Prepares to start programs, which speeds up the first start.
    ///
    /// Makes this process ignore `SIGPIPE`, as Rust programs do by default,
    /// because writing to an exited program would otherwise end it. If trees
    /// are held, it also makes this process a subreaper: it inherits the
    /// orphans of its other children and must wait for them.
    pub fn new(options: LauncherOptions) -> io::Result<Self> {
        let environment = options
            .environment
            .unwrap_or_else(|| std::env::vars_os().collect());
        ignore_broken_pipes();
        #[cfg(target_os = "linux")]
        let zygotes = if options.hold_trees && crate::linux::ready() {
            Some(Arc::new(crate::linux::Zygotes::new(&environment)?))
        } else {
            None
        };
        let inner = LauncherInner {
            environment,
            #[cfg(target_os = "linux")]
            zygotes,
            #[cfg(target_os = "linux")]
            sandboxes: Mutex::default(),
            #[cfg(target_os = "linux")]
            lasting_sandboxes: Mutex::default(),
        };
        Ok(Self {
            inner: Arc::new(inner),
            edits: Arc::default(),
            sandbox: None,
            unresolved: None,
            limits: None,
            host: None,
            group: None,
        })
    }

    /// A launcher for programs on a host. This launcher's variables and limits
    /// apply there. Its sandbox has folders of this machine: with one, programs
    /// start only after [`Launcher::confined_on_host`].
    pub fn on_host(&self, host: Arc<dyn RemoteHost>) -> Self {
        Self {
            host: Some(host),
            ..self.clone()
        }
    }

    /// A launcher like this one whose programs belong together. A host with
    /// several machines prefers one that runs others of the group.
    pub fn grouped(&self, group: &str) -> Self {
        Self {
            group: Some(group.into()),
            ..self.clone()
        }
    }

    /// The host of its programs; `None` for this machine.
    pub fn host(&self) -> Option<&str> {
        self.host.as_ref().map(|host| host.name())
    }

    /// The path on the host of a path here; `None` for this machine.
    pub fn path_there(&self, path: &Path) -> Option<PathBuf> {
        self.host.as_ref().map(|host| host.path_there(path))
    }

    /// A launcher like this one that sets these variables, or removes those
    /// without a value. A command's own edits take precedence.
    pub fn with_variables(&self, edits: Vec<(OsString, Option<OsString>)>) -> Self {
        let all = self.edits.iter().cloned().chain(edits);
        Self {
            edits: all.collect(),
            ..self.clone()
        }
    }

    /// A launcher like this one whose programs run in a sandbox. Launchers with
    /// equal confinements share its private folders and its network.
    pub fn confined(&self, confinement: Confinement) -> Self {
        #[cfg(target_os = "linux")]
        let sandbox = {
            let mut known = self.inner.sandboxes.lock();
            known.retain(|sandbox| sandbox.strong_count() > 0);
            let mut equal = known.iter().filter_map(Weak::upgrade);
            let equal = equal.find(|sandbox| **sandbox.confinement() == confinement);
            equal.unwrap_or_else(|| {
                let sandbox = Arc::new(crate::linux::Sandbox::new(confinement));
                known.push(Arc::downgrade(&sandbox));
                sandbox
            })
        };
        #[cfg(not(target_os = "linux"))]
        let sandbox = Arc::new(confinement);
        Self {
            sandbox: Some(sandbox),
            ..self.clone()
        }
    }

    /// A launcher like this one whose programs run in a sandbox on their host.
    /// The host resolves it with its own folders.
    pub fn confined_on_host(&self, sandbox: UnresolvedSandbox) -> Self {
        Self {
            unresolved: Some(Arc::new(sandbox)),
            ..self.clone()
        }
    }

    /// Like [`confined`](Self::confined), but the sandbox and its private
    /// folders last as long as any clone of this launcher. Only the most
    /// recently used ones are retained.
    pub fn confined_lastingly(&self, confinement: Confinement) -> Self {
        let confined = self.confined(confinement);
        #[cfg(target_os = "linux")]
        if let Some(sandbox) = &confined.sandbox {
            let mut lasting = self.inner.lasting_sandboxes.lock();
            lasting.retain(|known| !Arc::ptr_eq(known, sandbox));
            if lasting.len() >= LASTING_SANDBOXES {
                lasting.remove(0);
            }
            lasting.push(Arc::clone(sandbox));
        }
        confined
    }

    /// A launcher like this one without a sandbox. Limits stay.
    pub fn unconfined(&self) -> Self {
        Self {
            sandbox: None,
            unresolved: None,
            ..self.clone()
        }
    }

    /// A launcher like this one whose programs have limits. They apply to each
    /// program together with its descendants.
    pub fn limited(&self, limits: ResourceLimits) -> Self {
        Self {
            limits: (!limits.is_empty()).then(|| Arc::new(limits)),
            ..self.clone()
        }
    }

    /// The sandbox of its programs, if they have one.
    pub fn confinement(&self) -> Option<&Arc<Confinement>> {
        #[cfg(target_os = "linux")]
        return self.sandbox.as_ref().map(|sandbox| sandbox.confinement());
        #[cfg(not(target_os = "linux"))]
        self.sandbox.as_ref()
    }

    fn limits(&self) -> ResourceLimits {
        self.limits.as_deref().copied().unwrap_or_default()
    }

    pub(crate) async fn sandbox_support(&self) -> SandboxSupport {
        #[cfg(target_os = "linux")]
        return crate::linux::sandbox_support(self.inner.zygotes.as_ref()).await;
        #[cfg(not(target_os = "linux"))]
        std::future::ready(SandboxSupport::default()).await
    }

    /// The parts of its sandbox that this system does not enforce, one phrase
    /// each. Prepares the sandbox, unless it is one of another machine.
    pub async fn unprotected(&self) -> Vec<String> {
        #[cfg(target_os = "linux")]
        if let (Some(sandbox), Some(zygotes)) = (&self.sandbox, &self.inner.zygotes) {
            return match sandbox.prepare(zygotes).await {
                Ok(prepared) => prepared.missing().to_vec(),
                Err(crate::linux::PrepareError::Unprotected(missing)) => missing,
                // A start reports it.
                Err(crate::linux::PrepareError::System(_)) => Vec::new(),
            };
        }
        std::future::ready(Vec::new()).await
    }

    /// Whether trees are held: all descendants of a program end with it, and
    /// with this process. False for a launcher of another machine, where
    /// holders do this.
    pub fn holds_trees(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.host.is_none() && self.inner.zygotes.is_some();
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Whether its programs can be kept beyond this process. For a host this is
    /// known only once it is connected.
    pub fn keeps_programs(&self) -> bool {
        self.host.is_some() || self.holds_trees()
    }

    /// Ends the processes that dead runtimes have left, and returns their
    /// number. Fast if there are none; otherwise it takes seconds, or half a
    /// minute if a shim is still at work. `holders` hold kept programs
    /// ([`HeldProgram::holder`](crate::HeldProgram::holder)); they and their trees are spared.
    pub fn sweep(&self, holders: &[u32]) -> usize {
        #[cfg(target_os = "linux")]
        return crate::linux::sweep(holders);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = holders;
            0
        }
    }
}

#[expect(unsafe_code, reason = "there is no safe way to ignore a signal")]
fn ignore_broken_pipes() {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}
