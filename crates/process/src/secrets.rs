//! Removes secrets from the environment of this process.
//!
//! Other processes may read a process's initial environment, and children
//! inherit the current one. [`withdraw_variables`] removes secrets from both.

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

static WITHDRAWN: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();

/// Removes variables from this process's environment and overwrites their
/// memory. [`withdrawn_variable`] still returns them.
///
/// Call this at the start of `main`, after [`init`](crate::init). Does nothing
/// and returns false if there are other threads, which might read the
/// environment, or if it was called before.
pub fn withdraw_variables(is_secret: impl Fn(&OsStr) -> bool) -> bool {
    if !is_only_thread() {
        return false;
    }
    let secrets: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| is_secret(name))
        .collect();
    if WITHDRAWN.set(secrets.clone()).is_err() {
        return false;
    }
    for (name, _) in &secrets {
        remove(name);
    }
    true
}

/// The value of a variable that [`withdraw_variables`] removed.
pub fn withdrawn_variable(name: &str) -> Option<&'static OsStr> {
    let variables = withdrawn_variables().iter();
    let mut values = variables.filter(|(known, _)| known == name);
    values.next().map(|(_, value)| value.as_os_str())
}

/// All variables that [`withdraw_variables`] removed.
pub fn withdrawn_variables() -> &'static [(OsString, OsString)] {
    WITHDRAWN.get().map_or(&[], Vec::as_slice)
}

#[cfg(target_os = "linux")]
fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

/// Unknown on other systems.
#[cfg(not(target_os = "linux"))]
fn is_only_thread() -> bool {
    false
}

#[expect(
    unsafe_code,
    reason = "the environment is the C library's, and not guarded against other threads"
)]
fn remove(name: &OsStr) {
    use std::os::unix::ffi::OsStrExt;
    let Ok(text) = std::ffi::CString::new(name.as_bytes()) else {
        return;
    };
    // SAFETY: the caller has checked that there is no other thread, so nobody reads the environment meanwhile. `getenv`
    // returns a pointer to a writable C string of this process; writes stay within it and keep its terminator.
    unsafe {
        let value = libc::getenv(text.as_ptr());
        if !value.is_null() {
            value.write_bytes(0, libc::strlen(value));
        }
        std::env::remove_var(name);
    }
}
