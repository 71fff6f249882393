#![expect(
    unsafe_code,
    reason = "a child that shares the memory of its parent runs until it executes its program"
)]
//! Starts a confined program: the child applies the prepared confinement
//! between `clone` and `execve`.
//!
//! The child shares the shim's memory, and the shim is suspended until the
//! child has executed its program or exited, as with `posix_spawn`. The child
//! therefore allocates nothing, takes no lock and makes only system calls.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;
use std::sync::OnceLock;

use libc::{c_char, c_int, c_long, c_ulong};

use super::confine_wire::Confine;
use super::filter::EntryKey;
use super::spawn::{FdAction, ProcessPlacement, StringList};
use super::sys;
use super::wire::StartStage;

/// A program, with the arguments of `posix_spawn`.
pub(super) struct ConfinedProgram<'a> {
    pub(super) path: &'a CStr,
    pub(super) argv: &'a StringList<'a>,
    pub(super) envp: &'a StringList<'a>,
    pub(super) place: ProcessPlacement,
    pub(super) actions: &'a [FdAction<'a>],
    pub(super) cwd: &'a CStr,
    /// The list of a control group's processes, to join it.
    pub(super) group: Option<BorrowedFd<'a>>,
}

/// Capabilities that a privileged user keeps: those about files of others, ids, signals and low ports.
const KEPT_CAPABILITIES: u64 = 1 << 0 // chown
    | 1 << 1 // DAC override
    | 1 << 2 // DAC read search
    | 1 << 3 // fowner
    | 1 << 4 // fsetid
    | 1 << 5 // kill
    | 1 << 6 // setgid
    | 1 << 7 // setuid
    | 1 << 10; // net bind service

/// Sufficient: the child only makes system calls.
const STACK: usize = 64 * 1024;

/// The data of the child, prepared before it exists.
struct Child<'a> {
    program: &'a ConfinedProgram<'a>,
    argv: *const *mut c_char,
    envp: *const *mut c_char,
    confine: &'a Confine,
    limits: [(c_int, Option<u64>); 5],
    privileged: bool,
    /// Signals without the default disposition in the shim, as a bit mask.
    signals: u64,
    failure: (StartStage, i32),
}

/// Starts `program`, and returns its pid.
pub(super) fn spawn_confined(
    program: &ConfinedProgram<'_>,
    confine: &Confine,
) -> Result<i32, (StartStage, i32)> {
    let limits = &confine.limits;
    let seconds = limits.cpu.map(|time| time.as_secs().saturating_add(1));
    let mut child = Child {
        program,
        argv: program.argv.as_ptr(),
        envp: program.envp.as_ptr(),
        confine,
        limits: [
            (libc::RLIMIT_DATA.cast_signed(), limits.memory),
            (libc::RLIMIT_CPU.cast_signed(), seconds),
            (libc::RLIMIT_NOFILE.cast_signed(), limits.open_files),
            (libc::RLIMIT_FSIZE.cast_signed(), limits.file_size),
            (
                libc::RLIMIT_NPROC.cast_signed(),
                limits.processes.and_then(brake),
            ),
        ],
        privileged: rustix::process::geteuid().is_root(),
        signals: sys::changed_signals(),
        failure: (StartStage::Exec, 0),
    };
    let mut stack: Vec<MaybeUninit<u128>> = Vec::with_capacity(STACK / size_of::<u128>());
    // SAFETY: the stack is large enough and grows downwards from its aligned end. The child exits or executes another
    // program before this call returns, so everything that it uses outlives it. All signals are blocked meanwhile, so
    // no handler runs on the wrong stack.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(stack.capacity());
        let mut all: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        let mut old: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(run, top.cast(), flags, ptr::from_mut(&mut child).cast());
        let errno = *libc::__errno_location();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const old, ptr::null_mut());
        if pid < 0 {
            return Err((StartStage::Fork, errno));
        }
        pid
    };
    // Entering a user namespace may have reset this for the shared memory.
    super::hide_from_tools();
    // SAFETY: only the child writes it, and it has exited or executed another program.
    let (stage, errno) = unsafe { ptr::read_volatile(&raw const child.failure) };
    if errno == 0 {
        return Ok(pid);
    }
    // SAFETY: it is a child of this process that is exiting.
    unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
    Err((stage, errno))
}

/// A process limit that only a program far beyond its own limit reaches: the
/// kernel counts per user, so this only slows a fork bomb down until the shim
/// notices it.
fn brake(processes: u32) -> Option<u64> {
    let mut buffer = [0; 128];
    let length = super::tree::read_small("/proc/loadavg", &mut buffer).ok()?;
    let load = std::str::from_utf8(&buffer[..length]).ok()?;
    let tasks = load.split([' ', '/']).nth(4)?.parse::<u64>().ok()?;
    Some(tasks + 2 * u64::from(processes) + 64)
}

/// The entry point of the child.
extern "C" fn run(child: *mut c_void) -> c_int {
    // SAFETY: `spawn_confined` passes its own `Child`, and waits.
    let child = unsafe { &mut *child.cast::<Child<'_>>() };
    // SAFETY: this is the child, and its only thread.
    let failure = unsafe { enter(child) };
    // SAFETY: as above; the parent reads it after this.
    unsafe {
        ptr::write_volatile(&raw mut child.failure, failure);
        libc::_exit(127)
    }
}

/// Applies everything and executes the program; returns only if something failed.
///
/// # Safety
///
/// Only the child of [`spawn_confined`] calls this.
unsafe fn enter(child: &Child<'_>) -> (StartStage, i32) {
    match unsafe { apply(child) } {
        Ok(()) => {}
        Err(stage) => return (stage, errno()),
    }
    let program = child.program;
    unsafe {
        let mut none: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        libc::execve(program.path.as_ptr(), child.argv.cast(), child.envp.cast());
    }
    (StartStage::Exec, errno())
}

/// # Safety
///
/// Only the child of [`spawn_confined`] calls this.
unsafe fn apply(child: &Child<'_>) -> Result<(), StartStage> {
    let confine = child.confine;
    unsafe {
        default_signals(child.signals);
        // With autogroup scheduling, a separate session leaves the shim its share of CPU time if this becomes a fork
        // bomb.
        let has_session = confine.limits.processes.is_some();
        match child.program.place {
            ProcessPlacement::Group if !has_session => {
                check(libc::setpgid(0, 0), StartStage::Exec)?;
            }
            ProcessPlacement::Group | ProcessPlacement::Session => {
                check(libc::setsid().min(0), StartStage::Exec)?;
            }
        }
        if let Some(group) = child.program.group {
            // If this fails, the shim still monitors the tree.
            libc::write(group.as_raw_fd(), c"0".as_ptr().cast(), 1);
        }
        let EntryKey([first, second]) = confine.key.unwrap_or(EntryKey([0; 2]));
        for namespace in &confine.namespaces {
            // The kernel ignores all but the first two arguments; an inherited filter does not.
            let (fd, none): (c_long, c_long) = (namespace.as_raw_fd().into(), 0);
            let entered = libc::syscall(libc::SYS_setns, fd, none, none, none, first, second);
            check_long(entered, StartStage::Confine)?;
        }
        // A terminal is opened by its name in the namespace.
        for action in child.program.actions {
            place(action)?;
        }
        for (resource, limit) in child.limits {
            if let Some(limit) = limit {
                lower_limit(resource, limit)?;
            }
        }
        if confine.has_mounts && !child.program.cwd.is_empty() {
            check(libc::chdir(child.program.cwd.as_ptr()), StartStage::Cwd)?;
        }
        if confine.is_sandbox {
            let no_new_privileges = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            check(no_new_privileges, StartStage::Confine)?;
            if child.privileged {
                drop_capabilities()?;
            }
        }
        if let Some(ruleset) = &confine.ruleset {
            let restricted =
                libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0);
            check_long(restricted, StartStage::Confine)?;
        }
        // Our descriptors are close-on-exec; this is for those of others.
        let first: libc::c_uint = 3;
        libc::syscall(
            libc::SYS_close_range,
            first,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
        if !confine.filter.is_empty() && confine.key.is_none() {
            apply_filter(&confine.filter)?;
        }
    }
    Ok(())
}

/// Applies the filter to this shim, if its programs inherit it. A shim has one filter for the rest of its life, and
/// refuses programs with another one or with none.
pub(super) fn take_filter(confine: Option<&Confine>) -> Result<(), (StartStage, i32)> {
    static TAKEN: OnceLock<Vec<u8>> = OnceLock::new();
    let inherited = confine.filter(|confine| confine.key.is_some());
    let wanted = inherited.map(Confine::filter_bytes);
    if TAKEN.get() == wanted.as_ref() {
        return Ok(());
    }
    let (None, Some(confine), Some(wanted)) = (TAKEN.get(), inherited, wanted) else {
        return Err((StartStage::Confine, libc::EPERM));
    };
    // SAFETY: the calls change only this process, and the filter outlives them.
    let applied = unsafe {
        check(
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
            StartStage::Confine,
        )
        .and_then(|()| apply_filter(&confine.filter))
    };
    applied.map_err(|stage| (stage, errno()))?;
    let _ = TAKEN.set(wanted);
    Ok(())
}

/// # Safety
///
/// The calling thread must be the only one of its process, and must not need the refused calls.
unsafe fn apply_filter(filter: &[libc::sock_filter]) -> Result<(), StartStage> {
    let len = libc::c_ushort::try_from(filter.len()).map_err(|_| StartStage::Confine)?;
    let program = libc::sock_fprog {
        len,
        filter: filter.as_ptr().cast_mut(),
    };
    let filtered = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            c_ulong::from(libc::SECCOMP_MODE_FILTER),
            &raw const program,
            0,
            0,
        )
    };
    check(filtered, StartStage::Confine)
}

/// # Safety
///
/// Only the child of [`spawn_confined`] calls this: the handlers of its parent are copies.
unsafe fn default_signals(changed: u64) {
    let action = sys::KernelAction::DEFAULT;
    for signal in (1..=64).filter(|signal| changed >> (signal - 1) & 1 == 1) {
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                &raw const action,
                ptr::null::<c_void>(),
                size_of::<u64>(),
            );
        }
    }
}

/// # Safety
///
/// Only the child of [`spawn_confined`] calls this.
unsafe fn place(action: &FdAction<'_>) -> Result<(), StartStage> {
    unsafe {
        match *action {
            FdAction::Duplicate { from, to } if from == to => {
                check(libc::fcntl(from, libc::F_SETFD, 0), StartStage::Exec)
            }
            FdAction::Duplicate { from, to } => {
                check(libc::dup2(from, to).min(0), StartStage::Exec)
            }
            FdAction::Open { path, to } => {
                let fd: RawFd = libc::open(path.as_ptr(), libc::O_RDWR);
                check(fd.min(0), StartStage::Exec)?;
                if fd != to {
                    check(libc::dup2(fd, to).min(0), StartStage::Exec)?;
                    libc::close(fd);
                }
                Ok(())
            }
            FdAction::Enter { path } => check(libc::chdir(path.as_ptr()), StartStage::Cwd),
        }
    }
}

/// # Safety
///
/// Only the child of [`spawn_confined`] calls this.
unsafe fn lower_limit(resource: c_int, limit: u64) -> Result<(), StartStage> {
    let resource = resource.cast_unsigned();
    unsafe {
        let mut current: libc::rlimit = MaybeUninit::zeroed().assume_init();
        check(
            libc::getrlimit(resource, &raw mut current),
            StartStage::Confine,
        )?;
        let maximum = limit.min(current.rlim_max);
        let lowered = libc::rlimit {
            rlim_cur: maximum,
            rlim_max: maximum,
        };
        check(
            libc::setrlimit(resource, &raw const lowered),
            StartStage::Confine,
        )
    }
}

/// Keeps a privileged program from getting capabilities with which it could escape a sandbox.
///
/// # Safety
///
/// Only the child of [`spawn_confined`] calls this.
unsafe fn drop_capabilities() -> Result<(), StartStage> {
    unsafe {
        libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_CLEAR_ALL,
            0,
            0,
            0,
        );
        for capability in 0..64_u32 {
            if KEPT_CAPABILITIES >> capability & 1 == 1 {
                continue;
            }
            if libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) == 0 {
                continue;
            }
            match libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) {
                // The capability was not in the set.
                0 => {}
                1 => return Err(StartStage::Confine),
                // There are no more capabilities.
                _ => break,
            }
        }
    }
    Ok(())
}

fn check(result: c_int, stage: StartStage) -> Result<(), StartStage> {
    if result == 0 { Ok(()) } else { Err(stage) }
}

fn check_long(result: c_long, stage: StartStage) -> Result<(), StartStage> {
    if result == 0 { Ok(()) } else { Err(stage) }
}

fn errno() -> i32 {
    // SAFETY: the location belongs to this thread.
    unsafe { *libc::__errno_location() }
}

#[cfg(test)]
#[path = "enter_tests.rs"]
mod tests;
