//! Child processes, on pipes or terminals, and nothing of them left behind.
//!
//! Start at [`Launcher::start`], which gives a [`Process`]; what it writes is in its [`Output`]. Everything here works
//! on bytes and signals; tools, handles and JSON are strangers to this crate.
//!
//! On Linux, in a program that calls [`init`] at the top of its `main`, a started program is held together with
//! everything that descends from it, however it hides, and all of it ends when the [`Process`] is dropped or this
//! process dies, of `SIGKILL` too. Elsewhere programs are plain process groups: [`Process::end`] then reaches the group
//! only, and nothing is ended when this process is killed. `docs/design/processes.md` tells how it works.

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
    AdoptOptions, HeldEnd, HeldKey, HeldProgram, HoldReceipt, KeepOptions, Rebuild, RemotePlace,
    TakeOverError,
};
pub use launcher::{Launcher, LauncherOptions};
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
pub use typed::Typed;
pub use usage::ResourceUse;

/// The version of the messages by which kept programs are adopted.
pub use windlass_hold_wire::VERSION as WIRE_VERSION;

/// Ends a process that holds a kept program, and everything that descends from it, without asking it: it may speak a
/// version that nobody understands. The holder is named by its pid and by when it started, in clock ticks since the boot;
/// should the pid be another's by now, nothing is done. Gives how many processes are gone; `None` if it was not there.
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

/// Call this first thing in `main`, before any thread is started.
///
/// If this process was started by [`Launcher`] as a zygote, this serves as one and never returns. Otherwise it notes
/// that this executable can be, and raises the limit of open files as far as it may; programs get the old limit. A
/// program that leaves out this call works too, with plain process groups instead of trees that are held together.
///
/// On Linux it also keeps other processes of the same user from reading this process's memory, environment and open files
/// and from debugging it (`PR_SET_DUMPABLE`), since the programs that it starts run as the same user. There is no core
/// dump of it either.
pub fn init() {
    #[cfg(target_os = "linux")]
    linux::init();
}

/// Calls [`init`] before `main`, in a test program, whose `main` is the harness's.
#[cfg(target_os = "linux")]
#[macro_export]
macro_rules! init_before_main {
    () => {
        #[expect(
            unsafe_code,
            reason = "the linker's list of functions to call before `main`"
        )]
        #[used]
        // SAFETY: the list holds functions of this type, called once, in the only thread, after the C library is ready.
        #[unsafe(link_section = ".init_array")]
        static BEFORE_MAIN: extern "C" fn() = {
            extern "C" fn before_main() {
                $crate::init();
            }
            before_main
        };
    };
}

/// The parts of a sandbox that this system can enforce. This makes and drops namespaces, which takes some milliseconds.
pub async fn sandbox_support(launcher: &Launcher) -> SandboxSupport {
    launcher.sandbox_support().await
}

/// Whether this process was started by a program that a [`Launcher`] of this or any other process started, however it
/// was started there: after `setsid`, a double fork or with a cleared environment too.
///
/// True also where that cannot be found out. Elsewhere than on Linux, where programs are plain process groups, it is
/// false. A process that talked another one into starting something (a terminal multiplexer, `at`, a service manager)
/// has not started that itself; and the first process of a PID namespace does not see who is above it.
pub fn descends_from_tool() -> bool {
    #[cfg(target_os = "linux")]
    return linux::descends_from_tool();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Whether the process that connected a socket was started by a program that a [`Launcher`] of this or any other process
/// started; true also where that cannot be found out, and where the process has exited. The socket is a Unix stream or a
/// TCP stream that was accepted. Programs above this process, where it was itself started by one, do not count.
///
/// A process on another machine is none, and neither is one of another user on TCP. Elsewhere than on Linux it is false.
/// This may take some milliseconds for TCP.
pub fn peer_is_tool(socket: std::os::fd::BorrowedFd<'_>) -> bool {
    #[cfg(target_os = "linux")]
    return linux::peer_is_tool(socket);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = socket;
        false
    }
}
