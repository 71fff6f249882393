#![expect(
    unsafe_code,
    reason = "posix_spawn takes pointers to C strings and opaque C structures"
)]
//! `posix_spawn`: no fork, so the cost does not depend on the size of the
//! caller.

use std::ffi::CStr;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;

use libc::{c_char, c_int};

/// The process group or session of the new process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessPlacement {
    /// A new process group.
    Group,
    /// A new session.
    Session,
}

/// An action of the new process before it executes the program.
pub(super) enum FdAction<'a> {
    Duplicate {
        from: RawFd,
        to: RawFd,
    },
    /// Opens a device for reading and writing. A terminal becomes the controlling one of a new session.
    Open {
        path: &'a CStr,
        to: RawFd,
    },
    /// Changes the working directory.
    Enter {
        path: &'a CStr,
    },
}

/// An argument or environment list for `posix_spawn`: a null-terminated list of pointers to borrowed C strings.
pub(super) struct StringList<'a> {
    pointers: Vec<*const c_char>,
    strings: PhantomData<&'a CStr>,
}

impl<'a> StringList<'a> {
    pub(super) fn new(strings: impl IntoIterator<Item = &'a CStr>) -> Self {
        let strings = strings.into_iter().map(CStr::as_ptr);
        Self {
            pointers: strings.chain(std::iter::once(ptr::null())).collect(),
            strings: PhantomData,
        }
    }

    pub(super) fn as_ptr(&self) -> *const *mut c_char {
        self.pointers.as_ptr().cast()
    }
}

/// Starts `program` with default signal dispositions and none blocked, and returns its pid.
pub(super) fn spawn(
    program: &CStr,
    argv: &StringList<'_>,
    envp: &StringList<'_>,
    place: ProcessPlacement,
    actions: &[FdAction<'_>],
) -> io::Result<i32> {
    let attributes = Attributes::new(place)?;
    let file_actions = FileActions::new(actions)?;
    let mut pid = 0;
    // SAFETY: the program is a C string, and both structures are initialised. A `StringList` contains pointers to C
    // strings that it borrows, and ends in null; only `StringList::new` creates one. All outlive the call, which does
    // not write to the strings.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            program.as_ptr(),
            &raw const file_actions.0,
            &raw const attributes.0,
            argv.as_ptr(),
            envp.as_ptr(),
        )
    })?;
    Ok(pid)
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new(place: ProcessPlacement) -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: `init` fills the structure, which is then passed to the others. The signal set is filled before use,
        // and all bit patterns are valid.
        unsafe {
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            let mut this = Self(attributes.assume_init());
            // `sigfillset` omits two signals that glibc reserves, which would then be ignored from the start.
            let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
            signals.as_mut_ptr().write_bytes(0xff, 1);
            let mut signals = signals.assume_init();
            check(libc::posix_spawnattr_setsigdefault(
                &raw mut this.0,
                &raw const signals,
            ))?;
            libc::sigemptyset(&raw mut signals);
            check(libc::posix_spawnattr_setsigmask(
                &raw mut this.0,
                &raw const signals,
            ))?;
            check(libc::posix_spawnattr_setpgroup(&raw mut this.0, 0))?;
            let place = match place {
                ProcessPlacement::Group => libc::POSIX_SPAWN_SETPGROUP,
                ProcessPlacement::Session => SETSID,
            };
            let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK | place;
            let flags = libc::c_short::try_from(flags).expect("the flags are a few low bits");
            check(libc::posix_spawnattr_setflags(&raw mut this.0, flags))?;
            Ok(this)
        }
    }
}

/// `POSIX_SPAWN_SETSID`, equal in glibc and musl, and missing in the `libc` crate.
const SETSID: c_int = 0x80;

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: `new` initialised it, and it is not used after this.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    fn new(actions: &[FdAction<'_>]) -> io::Result<Self> {
        let mut file_actions = MaybeUninit::uninit();
        // SAFETY: `init` fills the structure, which is then passed to the others; they copy the paths.
        unsafe {
            check(libc::posix_spawn_file_actions_init(
                file_actions.as_mut_ptr(),
            ))?;
            let mut this = Self(file_actions.assume_init());
            let list = &raw mut this.0;
            for action in actions {
                check(match *action {
                    FdAction::Duplicate { from, to } => {
                        libc::posix_spawn_file_actions_adddup2(list, from, to)
                    }
                    FdAction::Open { path, to } => {
                        let path = path.as_ptr();
                        libc::posix_spawn_file_actions_addopen(list, to, path, libc::O_RDWR, 0)
                    }
                    FdAction::Enter { path } => {
                        libc::posix_spawn_file_actions_addchdir_np(list, path.as_ptr())
                    }
                })?;
            }
            Ok(this)
        }
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: `new` initialised it, and it is not used after this.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

fn check(result: c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
#[path = "spawn_tests.rs"]
mod tests;
