//! The zygote: a small single-threaded process that forks shims.
//!
//! Start at [`run`]. The runtime sends it control sockets; it forks a shim for
//! each and keeps only the pid. It is a subreaper: if a shim is killed, its
//! tree comes here and is killed. A stopped shim is continued at once, and
//! killed if that repeats. When the runtime is gone, it waits for its shims,
//! which end their trees by their own lifelines, and exits.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::end::kill_children;
use super::socket::{self, Received};
use super::sys::{self, Reaped, Woken};
use super::tree::Member;
use super::wire::{INLINE_LIMIT, Report, StartStage};
use super::{STOPS, brand, marker, private, shim};

/// The first argument of a zygote, by which it recognises itself. The second is the limit of open files for programs, and
/// the third, with debug assertions, the number of its scope.
pub(super) const NAME: &str = "windlass-zygote";
/// The variable with the id of the runtime that started it; nothing else sets it.
pub(super) const VARIABLE: &str = "WINDLASS_ZYGOTE";
/// The descriptor of its socket.
pub(super) const SOCKET: RawFd = 3;

/// How long a runtime that has closed its socket may take to die: an interval, and the number of intervals.
const DYING: (Duration, u32) = (Duration::from_millis(10), 200);

/// Runs as the zygote, and never returns, if this process was started as one.
pub(super) fn run_if_started_as_one() {
    let mut args = std::env::args_os();
    if args.next().is_none_or(|name| name != NAME) {
        return;
    }
    // Any program may have this name, so the variable must also name the runtime that is our parent.
    let Some(runtime) = std::env::var(VARIABLE)
        .ok()
        .and_then(|id| id.parse::<marker::RuntimeId>().ok())
    else {
        return;
    };
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    if parent != Some(runtime.pid) {
        // It died before we started.
        sys::exit(0);
    }
    // Before anything is read: `execve` has reset it.
    super::hide_from_tools();
    brand::put_on(runtime);
    let mut number = || args.next().and_then(|number| number.to_str()?.parse().ok());
    let limit = number();
    #[cfg(debug_assertions)]
    if let Some(scope) = number() {
        super::scope::put_on(scope);
    }
    run(runtime, limit)
}

#[expect(
    unsafe_code,
    reason = "the zygote takes over the descriptors that it was started with, by number"
)]
fn run(runtime: marker::RuntimeId, file_limit: Option<u64>) -> ! {
    // SAFETY: `init` runs first in `main`, and nothing in this process has created a descriptor since; inherited ones
    // have no owner here.
    unsafe { sys::close_from(SOCKET + 1) };
    // SAFETY: the runtime put the socket there, nothing else in this process has used it, and only this function, which
    // runs once, takes ownership.
    let socket = unsafe { OwnedFd::from_raw_fd(SOCKET) };
    sys::prepare_signals();
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    if let Some(limit) = file_limit {
        super::limit::set(limit);
    }
    let base = environment();
    // Large enough to be mapped instead of allocated on the heap: only pages that a shim touches use memory.
    let buffer = vec![0; 4 * INLINE_LIMIT];
    Zygote {
        socket: Some(socket),
        pid: rustix::process::getpid().as_raw_nonzero().get(),
        runtime,
        shims: HashMap::new(),
        base,
        buffer,
    }
    .serve()
}

/// The environment of programs, before edits.
fn environment() -> Vec<CString> {
    let entries = std::env::vars_os().filter(|(name, _)| name != VARIABLE);
    let entries = entries.map(|(name, value)| {
        let mut entry = name.into_vec();
        entry.push(b'=');
        entry.extend(value.into_vec());
        entry
    });
    entries
        .filter_map(|entry| CString::new(entry).ok())
        .collect()
}

struct Zygote {
    /// `None` once the runtime is gone.
    socket: Option<OwnedFd>,
    pid: i32,
    /// The runtime that started it.
    runtime: marker::RuntimeId,
    /// The number of times that each shim was stopped.
    shims: HashMap<i32, u32>,
    base: Vec<CString>,
    buffer: Vec<u8>,
}

impl Zygote {
    fn serve(mut self) -> ! {
        loop {
            let childless = self.reap();
            if childless && self.socket.is_none() {
                self.clear_up();
                sys::exit(0);
            }
            let socket = self.socket.as_ref().map(AsFd::as_fd);
            if sys::wait(socket, None) == Woken::Readable {
                self.receive();
            }
        }
    }

    /// Removes the private folders of sandboxes of a dead runtime. A dying
    /// runtime closes its socket some time before it is dead; one that has only
    /// released this zygote keeps them.
    fn clear_up(&self) {
        if !private::has_any(self.runtime.pid, self.runtime.start) {
            return;
        }
        let lives = || {
            let runtime = Member::read(self.runtime.pid);
            runtime.is_some_and(|it| it.start == self.runtime.start && it.alive())
        };
        for _ in 0..DYING.1 {
            if !lives() {
                private::sweep();
                return;
            }
            sys::wait(None, Some(DYING.0));
        }
    }

    /// Reaps every shim that has exited, and returns whether no child is left. A shim that was killed has left its tree
    /// to us.
    fn reap(&mut self) -> bool {
        let mut killed = false;
        loop {
            match sys::reap_or_stopped() {
                Reaped::Child { pid, status } => {
                    killed |= self.shims.remove(&pid).is_some() && status != 0;
                }
                Reaped::Stopped { pid } => self.go_on(pid),
                Reaped::Running | Reaped::Childless if killed => {
                    killed = false;
                    self.kill_orphans();
                }
                Reaped::Running => return false,
                Reaped::Childless => return true,
            }
        }
    }

    /// Continues a stopped shim. While it is stopped, it cannot end its tree; so a shim that is stopped repeatedly is
    /// killed, together with its tree.
    fn go_on(&mut self, pid: i32) {
        if let Some(stops) = self.shims.get_mut(&pid)
            && let Some(shim) = Pid::from_raw(pid)
        {
            *stops += 1;
            let signal = if *stops > STOPS {
                Signal::KILL
            } else {
                Signal::CONT
            };
            // It is our child and was not waited for, so its pid was not reused.
            let _ = kill_process(shim, signal);
        }
    }

    fn kill_orphans(&mut self) {
        let shims = RefCell::new(&mut self.shims);
        kill_children(
            self.pid,
            |pid| {
                shims.borrow_mut().remove(&pid);
            },
            |member| shims.borrow().contains_key(&member.pid),
        );
    }

    /// Receives one control socket and forks a shim for it.
    #[expect(unsafe_code, reason = "only a process with one thread may fork")]
    fn receive(&mut self) {
        let Some(socket) = &self.socket else { return };
        let mut control = None;
        match socket::receive(socket, &mut [0], |fd| control = Some(fd)) {
            Received::Message(_) => {}
            Received::Nothing => return,
            Received::End { .. } => self.socket = None,
        }
        let Some(control) = control else { return };
        // SAFETY: the zygote never starts a thread.
        match unsafe { sys::fork() } {
            Ok(Some(pid)) => {
                self.shims.insert(pid, 0);
            }
            Ok(None) => {
                // This is the shim, which must not keep the zygote's socket.
                self.socket = None;
                shim::run(control, &self.base, &mut self.buffer[..INLINE_LIMIT]);
            }
            // All requests to this shim get this error.
            Err(error) => {
                let failed = Report::Failed {
                    stage: StartStage::Fork,
                    errno: error.raw_os_error().unwrap_or(libc::EAGAIN),
                };
                let _ = socket::send(&control, &failed.write(), &[]);
            }
        }
    }
}
