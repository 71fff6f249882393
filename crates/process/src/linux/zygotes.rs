//! The runtime's side of the zygote: keeps one running and gets shims from it.
//!
//! Start at [`Zygotes::shim`]. A few idle shims are kept in reserve, so that a
//! start does not wait for a fork: reused ones, or one forked in advance.
//! Without an idle shim the number of messages is the same: the start order is
//! sent at once and waits in the socket.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::filter::FilterOptions;
use super::marker::{self, RuntimeId};
use super::spawn::{FdAction, ProcessPlacement, StringList, spawn};
use super::{guard, limit, socket, zygote};

/// The maximum number of concurrent starts, so that the zygote's socket does not fill up.
const STARTS: usize = 32;
/// The maximum number of idle shims with the same filter, and of those without one.
pub(super) const RESERVE: usize = 4;

/// The pool of shims.
pub(crate) struct Zygotes {
    /// The environment of programs before edits, and of the zygote.
    environment: Vec<CString>,
    state: Mutex<ZygotePoolState>,
    pub(super) starts: Semaphore,
}

#[derive(Default)]
struct ZygotePoolState {
    current: Option<Arc<RunningZygote>>,
    reserve: Vec<IdleShim>,
}

/// A running zygote. After this is dropped, it exits when its shims are gone.
pub(crate) struct RunningZygote {
    socket: OwnedFd,
    dead: Arc<AtomicBool>,
}

/// A shim that waits for its order. Dropping this makes it exit.
pub(crate) struct IdleShim {
    pub(super) control: OwnedFd,
    pub(super) zygote: Arc<RunningZygote>,
    /// The filter that it has applied to itself for its first program. It cannot start programs with another one.
    pub(super) filter: Option<FilterOptions>,
}

impl Zygotes {
    /// Starts the first zygote, and lets it prepare the first shim.
    pub(crate) fn new(environment: &[(OsString, OsString)]) -> io::Result<Self> {
        let environment = environment
            .iter()
            .filter(|(name, _)| name != marker::VARIABLE);
        let zygotes = Self {
            environment: environment
                .filter_map(|(name, value)| entry(name, value))
                .collect(),
            state: Mutex::default(),
            starts: Semaphore::new(STARTS),
        };
        // If a zygote is killed, orphans of tools must be reparented to us, not to init.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let mut state = zygotes.state.lock();
        let shim = zygotes.fork(&mut state)?;
        state.reserve.push(shim);
        drop(state);
        Ok(zygotes)
    }

    /// A shim for programs that inherit this filter, from the reserve if there is one.
    pub(super) fn shim(&self, filter: Option<FilterOptions>) -> io::Result<IdleShim> {
        let mut state = self.state.lock();
        // A shim of a killed zygote continues with its program, but is not reused.
        state.reserve.retain(|shim| !shim.zygote.dead());
        // A shim without a filter can still apply one.
        for wanted in [filter, None] {
            let mut reserve = state.reserve.iter();
            if let Some(found) = reserve.rposition(|shim| shim.filter == wanted) {
                let mut shim = state.reserve.remove(found);
                shim.filter = filter;
                return Ok(shim);
            }
        }
        let shim = self.fork(&mut state)?;
        Ok(IdleShim { filter, ..shim })
    }

    /// Fills the reserve. Errors are ignored: the next start reports them.
    pub(crate) fn prepare(&self) {
        let mut state = self.state.lock();
        if state.reserve.iter().all(|shim| shim.filter.is_some()) {
            let shim = self.fork(&mut state).ok();
            state.reserve.extend(shim);
        }
    }

    /// Takes back an idle shim.
    pub(super) fn give_back(&self, shim: IdleShim) {
        let mut state = self.state.lock();
        let reserve = state.reserve.iter();
        let alike = reserve.filter(|it| it.filter == shim.filter).count();
        if alike < RESERVE && !shim.zygote.dead() {
            state.reserve.push(shim);
        }
    }

    fn fork(&self, state: &mut ZygotePoolState) -> io::Result<IdleShim> {
        let (control, theirs) = socket::pair()?;
        if let Some(zygote) = state.current.take_if(|zygote| !zygote.dead())
            && socket::send(&zygote.socket, &[0], &[theirs.as_fd()]).is_ok()
        {
            state.current = Some(Arc::clone(&zygote));
            return Ok(IdleShim {
                control,
                zygote,
                filter: None,
            });
        }
        // There is none, or it was killed, which closed its end.
        let zygote = Arc::new(RunningZygote::start(&self.environment)?);
        socket::send(&zygote.socket, &[0], &[theirs.as_fd()])?;
        state.current = Some(Arc::clone(&zygote));
        Ok(IdleShim {
            control,
            zygote,
            filter: None,
        })
    }
}

impl RunningZygote {
    fn start(environment: &[CString]) -> io::Result<Self> {
        let own = RuntimeId::own()?;
        let (socket, theirs) = socket::pair()?;
        // Above the descriptors that the new process assigns first.
        let theirs = rustix::io::fcntl_dupfd_cloexec(&theirs, zygote::SOCKET + 1)?;
        let variables = [(marker::VARIABLE, own), (zygote::VARIABLE, own)]
            .map(|(name, id)| CString::new(format!("{name}={id}")).expect("no NUL in an id"));
        let name = CString::new(zygote::NAME).expect("no NUL in the name");
        let limit = argument_of(limit::original());
        let envp = environment.iter().chain(&variables);
        let envp = StringList::new(envp.map(CString::as_c_str));
        let arguments = [
            name,
            limit,
            #[cfg(debug_assertions)]
            argument_of(super::scope::number(own)),
        ];
        let argv = StringList::new(arguments.iter().map(CString::as_c_str));
        let null = |to| FdAction::Open {
            path: c"/dev/null",
            to,
        };
        let actions = [
            null(0),
            null(1),
            null(2),
            FdAction::Duplicate {
                from: theirs.as_raw_fd(),
                to: zygote::SOCKET,
            },
        ];
        // A new session: a tool has no terminal that could stop it, and Ctrl-C on ours does not reach it.
        let start = || {
            spawn(
                c"/proc/self/exe",
                &argv,
                &envp,
                ProcessPlacement::Session,
                &actions,
            )
        };
        let keeper = guard::KnownKeeper::start(start)?;
        let dead = Arc::new(AtomicBool::new(false));
        guard::watch(keeper, Arc::clone(&dead))?;
        Ok(Self { socket, dead })
    }

    pub(super) fn dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }
}

/// A number as an argument; an empty one if there is none.
fn argument_of(number: Option<u64>) -> CString {
    let text = number.map_or_else(String::new, |number| number.to_string());
    CString::new(text).expect("no NUL in a number")
}

fn entry(name: &OsString, value: &OsString) -> Option<CString> {
    let mut entry = name.as_bytes().to_vec();
    entry.push(b'=');
    entry.extend_from_slice(value.as_bytes());
    CString::new(entry).ok()
}
