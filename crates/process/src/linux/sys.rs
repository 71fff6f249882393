#![expect(
    unsafe_code,
    reason = "fork, signal handlers, ppoll and options of sockets have no safe form"
)]
//! The few system calls without a safe wrapper.
//!
//! Those about children and signals are for single-threaded processes: zygote
//! and shims.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

/// Signals to groups, or from terminals and pipes, that must not end or stop zygote and shims.
const IGNORED: [libc::c_int; 11] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// Ignores these signals, and blocks `SIGCHLD` except inside [`wait`].
pub(super) fn prepare_signals() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the structures are zeroed, which is valid for them, and then filled; the handler does nothing, so it is
    // safe at any time.
    unsafe {
        for signal in IGNORED {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut());
        let mut mask = MaybeUninit::zeroed().assume_init();
        libc::sigemptyset(&raw mut mask);
        libc::sigaddset(&raw mut mask, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, ptr::null_mut());
    }
    // Computed before shims are forked, so that they inherit the result.
    let _ = changed_signals();
}

/// The kernel's structure, because the C library reserves two signals.
#[repr(C)]
pub(super) struct KernelAction {
    handler: usize,
    flags: libc::c_ulong,
    restorer: usize,
    mask: u64,
}

impl KernelAction {
    pub(super) const DEFAULT: Self = Self {
        handler: libc::SIG_DFL,
        flags: 0,
        restorer: 0,
        mask: 0,
    };
}

/// Signals that are ignored or handled, as a bit mask. Computed once: the zygote and its shims change none after
/// [`prepare_signals`].
pub(super) fn changed_signals() -> u64 {
    static CHANGED: OnceLock<u64> = OnceLock::new();
    *CHANGED.get_or_init(|| {
        let mut changed = 0;
        for signal in 1..=64 {
            let mut action = KernelAction::DEFAULT;
            // SAFETY: without a new action the call only fills the old one, which has the kernel's layout.
            let asked = unsafe {
                libc::syscall(
                    libc::SYS_rt_sigaction,
                    signal,
                    ptr::null::<KernelAction>(),
                    &raw mut action,
                    size_of::<u64>(),
                )
            };
            if asked != 0 || action.handler != libc::SIG_DFL {
                changed |= 1 << (signal - 1);
            }
        }
        changed
    })
}

/// The reason why [`wait`] returned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Woken {
    Readable,
    Child,
    Time,
}

/// Waits until the descriptor is readable (or its peer is gone), a child has changed, or the timeout expires.
pub(super) fn wait(fd: Option<BorrowedFd<'_>>, timeout: Option<Duration>) -> Woken {
    let mut poll = libc::pollfd {
        // The kernel ignores a negative descriptor.
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    };
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: one `pollfd` is passed with the count one; timeout and mask outlive the call.
    let ready = unsafe {
        let mut mask = MaybeUninit::zeroed().assume_init();
        libc::sigemptyset(&raw mut mask);
        libc::ppoll(&raw mut poll, 1, timeout, &raw const mask)
    };
    match ready {
        0 => Woken::Time,
        1 => Woken::Readable,
        _ => Woken::Child,
    }
}

/// Like [`wait`] for several descriptors; returns which of them are readable.
pub(super) fn wait_any(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Vec<bool> {
    let mut polls: Vec<libc::pollfd> = fds
        .iter()
        .map(|fd| libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    let count = polls.len() as libc::nfds_t;
    // SAFETY: the list is passed with its length; timeout and mask outlive the call.
    let ready = unsafe {
        let mut mask = MaybeUninit::zeroed().assume_init();
        libc::sigemptyset(&raw mut mask);
        libc::ppoll(polls.as_mut_ptr(), count, timeout, &raw const mask)
    };
    polls
        .iter()
        .map(|poll| ready > 0 && poll.revents != 0)
        .collect()
}

/// The result of [`reap`] or [`reap_or_stopped`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaped {
    /// A child that has ended, with its wait status.
    Child { pid: i32, status: i32 },
    /// A stopped child.
    Stopped { pid: i32 },
    /// There are children, but none has ended.
    Running,
    /// There are no children.
    Childless,
}

/// Reaps one ended child, if any.
pub(super) fn reap() -> Reaped {
    wait_for_child(libc::WNOHANG)
}

/// Reaps one ended or stopped child, if any.
pub(super) fn reap_or_stopped() -> Reaped {
    wait_for_child(libc::WNOHANG | libc::WUNTRACED)
}

fn wait_for_child(options: libc::c_int) -> Reaped {
    let mut status = 0;
    // SAFETY: the status is valid for writes.
    match unsafe { libc::waitpid(-1, &raw mut status, options) } {
        0 => Reaped::Running,
        pid if pid > 0 && libc::WIFSTOPPED(status) => Reaped::Stopped { pid },
        pid if pid > 0 => Reaped::Child { pid, status },
        _ => Reaped::Childless,
    }
}

/// Forks this process. `Ok(None)` is the child.
///
/// # Safety
///
/// This process must have a single thread: then the child may do everything that its parent may. With more threads, the
/// child could block on locks that are never released, such as the allocator's.
pub(super) unsafe fn fork() -> io::Result<Option<i32>> {
    // SAFETY: the caller guarantees that there is no other thread.
    match unsafe { libc::fork() } {
        0 => Ok(None),
        pid if pid > 0 => Ok(Some(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Exits at once, without destructors or `atexit` handlers of the forked program.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// Sets the process name that `ps` shows.
pub(super) fn set_name(name: &std::ffi::CStr) {
    // SAFETY: the name is a C string; the kernel truncates longer ones.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// The pid of the process that connected a Unix socket; 0 if it has none in this namespace.
pub(super) fn peer_pid(socket: BorrowedFd<'_>) -> io::Result<i32> {
    let mut credentials = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    // SAFETY: the kernel fills a `ucred` for this option.
    unsafe { socket_option(socket, libc::SO_PEERCRED, &mut credentials)? };
    Ok(credentials.pid)
}

/// A pidfd of the process that connected a Unix socket. Not available before Linux 6.5.
pub(super) fn peer_pidfd(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    /// The value on all current Linux architectures apart from parisc and
    /// sparc.
    const SO_PEERPIDFD: libc::c_int = 77;
    let mut pidfd: RawFd = -1;
    // SAFETY: the kernel fills an `int` for this option.
    unsafe { socket_option(socket, SO_PEERPIDFD, &mut pidfd)? };
    // SAFETY: the kernel has just created the descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(pidfd) })
}

/// Reads an option of a socket.
///
/// # Safety
///
/// `T` must be the type that the kernel fills for this option, or valid for any bytes.
unsafe fn socket_option<T>(
    socket: BorrowedFd<'_>,
    option: libc::c_int,
    value: &mut T,
) -> io::Result<()> {
    let mut length = libc::socklen_t::try_from(size_of::<T>()).expect("it is small");
    // SAFETY: the length is that of the value, and the caller guarantees that it may be filled.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            ptr::from_mut(value).cast(),
            &raw mut length,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Closes every descriptor from `first` on.
///
/// # Safety
///
/// Nothing in this process may own or use a descriptor from `first` on: an owner would close it again, or use another
/// file with the same number.
pub(super) unsafe fn close_from(first: RawFd) {
    let first = libc::c_uint::try_from(first).expect("descriptors are not negative");
    // SAFETY: the caller guarantees that they are not used.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) };
    if closed == 0 {
        return;
    }
    // Kernels before 5.9.
    let open: Vec<RawFd> = std::fs::read_dir("/proc/self/fd").map_or_else(
        |_| Vec::new(),
        |entries| {
            entries
                .flatten()
                .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
                .collect()
        },
    );
    for fd in open.into_iter().filter(|&fd| fd.cast_unsigned() >= first) {
        // SAFETY: as above; closing a closed descriptor is a harmless error.
        unsafe { libc::close(fd) };
    }
}
