#![cfg(target_os = "linux")]
//! Real programs, started, fed, lost and ended. Start at `support`.

mod deaths;
mod end;
mod keep;
mod limits;
mod plain;
mod prompt;
mod run;
mod settle;
mod stops;
mod support;
mod sweep;
mod terminal;
mod trust;

/// What `init` does at the top of `main` in a program of our own; the test harness has a `main` that is not ours.
#[expect(
    unsafe_code,
    reason = "the linker's list of functions to call before `main`"
)]
#[used]
// SAFETY: the list holds functions of this type, called once, in the only thread, after the C library is ready.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn before_main() {
        windlass_process::init();
    }
    before_main
};
