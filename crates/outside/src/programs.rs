//! Programs that tests run and that a machine may lack.
//!
//! A test only writes [`needs!`](crate::needs). `WINDLASS_SKIP` is a
//! comma-separated list of programs to do without. A test that needs one of
//! them is recorded in the file `WINDLASS_SKIP_LOG` and passes. A missing
//! program that is not listed fails the test.

use std::env;
use std::io::Write;

/// Returns from the test, and records the skip, if this program is in
/// `WINDLASS_SKIP`. Works in a test that returns nothing.
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

/// Whether a test may run this program. `here` is the path of an item inside
/// the test, which names it. Panics if the program is missing and not listed.
#[doc(hidden)]
pub fn has_program(here: &str, program: &str) -> bool {
    let listed = env::var("WINDLASS_SKIP").unwrap_or_default();
    if listed.split(',').any(|listed| listed.trim() == program) {
        skip(test_name(here), program);
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

/// Records that a test was skipped because something is missing; the test must
/// return itself.
pub fn skip(test: &str, wanted: &str) {
    let Some(log) = env::var_os("WINDLASS_SKIP_LOG") else {
        return;
    };
    // One write, so that lines of several tests do not mix.
    let line = format!("{test}: {wanted}\n");
    let log = std::fs::File::options().append(true).create(true).open(log);
    log.and_then(|mut log| log.write_all(line.as_bytes()))
        .expect("the file that WINDLASS_SKIP_LOG names can be written");
}

/// The test's name, from the path of an item inside it.
fn test_name(here: &str) -> &str {
    here.rsplit("::")
        .find(|part| *part != "here" && *part != "{{closure}}")
        .unwrap_or(here)
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
