//! The only ways for a test to end without having tested: [`needs!`](crate::needs) and [`skip!`](crate::skip).
//!
//! A test whose program is missing writes [`needs!`](crate::needs); `WINDLASS_SKIP` is a comma-separated list of programs
//! to do without, and a missing program that is not listed fails the test. A test that misses anything else writes
//! [`skip!`](crate::skip). Each skip is a line `TEST: REASON` in the file `WINDLASS_SKIP_LOG`, and on stderr.

#![warn(missing_docs)]

use std::env;
use std::io::Write;
use std::thread;

/// Begins the line of a skip on stderr.
const SKIPPED: &str = "skipped: ";

/// Skips the test if one of these programs is in `WINDLASS_SKIP`. Works in a
/// test that returns nothing.
#[macro_export]
macro_rules! needs {
    ($($program:literal),+ $(,)?) => {{
        fn here() {}
        $(
            if !$crate::has_program(::std::any::type_name_of_val(&here), $program) {
                return;
            }
        )+
    }};
}

/// Leaves the test, which is recorded as skipped for this reason. Takes what
/// `format!` takes. Works in a test that returns nothing.
#[macro_export]
macro_rules! skip {
    ($($why:tt)+) => {{
        fn here() {}
        $crate::skip(::std::any::type_name_of_val(&here), &::std::format!($($why)+));
        return;
    }};
}

/// Whether a test may run this program. `here` is the path of an item inside
/// the test, which names it. Panics if the program is missing and not listed.
#[doc(hidden)]
pub fn has_program(here: &str, program: &str) -> bool {
    let listed = env::var("WINDLASS_SKIP").unwrap_or_default();
    if listed.split(',').any(|listed| listed.trim() == program) {
        skip(here, &format!("`{program}` is missing"));
        return false;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).any(|folder| folder.join(program).is_file());
    assert!(
        found,
        "`{program}` is not installed; install it, or list it in WINDLASS_SKIP"
    );
    true
}

/// Records that the test around `here` is skipped, and why.
#[doc(hidden)]
pub fn skip(here: &str, why: &str) {
    let thread = thread::current();
    record(&format!("{}: {why}", test_name(here, thread.name())));
}

/// Records the skips that are in the stderr of a test in another process, which
/// was started without `WINDLASS_SKIP_LOG`: it may belong to another user.
pub fn relay(stderr: &str) {
    let skips = stderr.lines().filter_map(|line| line.strip_prefix(SKIPPED));
    skips.for_each(record);
}

fn record(skipped: &str) {
    let line = format!("{skipped}\n");
    eprint!("{SKIPPED}{line}");
    let Some(log) = env::var_os("WINDLASS_SKIP_LOG") else {
        return;
    };
    // One write, so that lines of several tests do not mix.
    let log = std::fs::File::options().append(true).create(true).open(log);
    log.and_then(|mut log| log.write_all(line.as_bytes()))
        .expect("the file that WINDLASS_SKIP_LOG names can be written");
}

/// The test's name as libtest has it. Its thread has that name, unless libtest runs one test at a time; then it follows
/// from the path of an item inside the test or inside a function that the test calls.
fn test_name(here: &str, thread: Option<&str>) -> String {
    if let Some(name) = thread.filter(|name| name.contains("::")) {
        return name.to_owned();
    }
    let mut parts = here.split("::").skip(1);
    let named: Vec<&str> = parts
        .by_ref()
        .take_while(|part| *part != "here" && *part != "{{closure}}")
        .collect();
    named.join("::")
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
