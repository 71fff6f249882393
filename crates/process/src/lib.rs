//! Child processes on pipes or terminals, without leftovers.
//!
//! Start at [`Launcher::start`], which returns a [`Process`] with an
//! [`Output`](windlass_output::Output). Everything here works on bytes and signals; this crate does not
//! know tools, handles or JSON.
//!
//! On Linux, in a program that calls [`init`] at the start of `main`, all
//! descendants of a started program are held together. All of them end when the
//! [`Process`] is dropped or this process dies, even by `SIGKILL`. Elsewhere
//! programs are plain process groups: [`Process::end`] reaches only the group,
//! and nothing is ended when this process is killed. See
//! `docs/design/processes.md`.

mod access;
mod command;
mod detach;
mod driver;
mod error;
mod exit;
mod find;
mod input;
mod keep;
mod launcher;
mod lease;
#[cfg(target_os = "linux")]
mod linux;
mod listeners;
mod pause;
mod pipes;
mod plain;
mod ports;
mod process;
mod prompt;
mod readiness;
mod remote;
mod sandbox_support;
mod secrets;
mod settle;
mod terminal;
mod tree;
mod typed;
mod usage;
mod watch;

pub use access::ThisUser;
pub use command::{Command, Stdin};
pub use detach::leave_terminal;
pub use error::{SignalError, StartError, WriteError};
pub use exit::{Exit, Receipt, Signal, Survivor};
pub use find::find_program;
pub use keep::{
    AdoptOptions, HeldEnd, HeldKey, HeldProgram, HoldReceipt, KeepOptions, OwnerNotes, Rebuild,
    RemotePlace, TakeOverError,
};
pub use launcher::{Launcher, LauncherOptions};
pub use lease::{lease_left, lease_over, lease_wait, note_lease};
pub use listeners::InputReader;
pub use ports::is_port_open;
pub use process::Process;
pub use remote::{
    ReadNoter, RemoteAdoption, RemoteCapture, RemoteFuture, RemoteHost, RemoteProcess, RemoteStart,
    RemoteTap, UnreachableHost,
};
pub use sandbox_support::SandboxSupport;
pub use secrets::{withdraw_variables, withdrawn_variable, withdrawn_variables};
pub(crate) use terminal::Terminal;
pub use terminal::{Modes, ProgramTerminal, Prompt, TerminalSize};
pub use typed::TypedBytes;
pub use usage::ResourceUse;

/// The protocol version for adopting kept programs.
pub use windlass_hold_wire::VERSION as WIRE_VERSION;

/// Ends a holder and its descendants without a request, since it may speak an
/// unknown version. The holder is identified by its pid and its start time in
/// clock ticks since boot; nothing happens if the pid has been reused. Returns
/// the number of ended processes; `None` if there was no such holder.
pub async fn end_holder(holder: (u32, u64), limit: std::time::Duration) -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        let ending = tokio::task::spawn_blocking(move || linux::end_holder(holder, limit));
        ending.await.ok().flatten()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (holder, limit);
        None
    }
}

/// Call this first in `main`, before any thread is started.
///
/// If [`Launcher`] started this process as a zygote, this serves as one and
/// never returns. Otherwise it records that this executable can be a zygote,
/// and raises the limit of open files; programs get the old limit. Without this
/// call, programs are plain process groups instead of held trees.
///
/// On Linux it also prevents other processes of the same user from reading this
/// process's memory, environment and open files and from debugging it
/// (`PR_SET_DUMPABLE`), since its programs run as the same user. This disables
/// core dumps too.
pub fn init() {
    #[cfg(target_os = "linux")]
    linux::init();
}

/// Calls [`init`] before `main`, for a test program, whose `main` belongs to the harness.
#[cfg(target_os = "linux")]
#[macro_export]
macro_rules! init_before_main {
    () => {
        #[expect(
            unsafe_code,
            reason = "the linker's list of functions to call before `main`"
        )]
        #[used]
        // SAFETY: the section contains functions of this type, which are called once, on the only thread, after the C
        // library is initialised.
        #[unsafe(link_section = ".init_array")]
        static BEFORE_MAIN: extern "C" fn() = {
            extern "C" fn before_main() {
                $crate::init();
            }
            before_main
        };
    };
}

/// Calls [`init`] before `main`, for a test program: nothing on this system.
#[cfg(not(target_os = "linux"))]
#[macro_export]
macro_rules! init_before_main {
    () => {};
}

#[cfg(all(test, target_os = "linux"))]
init_before_main!();

/// The parts of a sandbox that this system can enforce. Creates and drops
/// namespaces, which takes some milliseconds.
pub async fn sandbox_support(launcher: &Launcher) -> SandboxSupport {
    launcher.sandbox_support().await
}

/// Whether this process was started, directly or indirectly, by a program of
/// any [`Launcher`]. `setsid`, double forks and a cleared environment do not
/// hide this.
///
/// Also true if it cannot be determined. False on systems other than Linux. A
/// process that was started through another one (a terminal multiplexer, `at`,
/// a service manager) is not detected, and the first process of a PID namespace
/// cannot see its ancestors.
pub fn descends_from_tool() -> bool {
    #[cfg(target_os = "linux")]
    return linux::descends_from_tool();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Whether the process that connected a socket was started by a program of any
/// [`Launcher`]. Also true if that cannot be determined or the process has
/// exited. The socket is an accepted Unix or TCP stream. Programs above this
/// process do not count.
///
/// False for a process on another machine, for one of another user on TCP, and
/// on systems other than Linux. May take some milliseconds for TCP.
pub fn peer_is_tool(socket: std::os::fd::BorrowedFd<'_>) -> bool {
    #[cfg(target_os = "linux")]
    return linux::peer_is_tool(socket);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = socket;
        false
    }
}
