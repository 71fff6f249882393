//! Child processes, on pipes or terminals, and nothing of them left behind.
//!
//! Start at [`Launcher::start`], which gives a [`Process`]; what it writes is in its [`Output`]. Everything here works
//! on bytes and signals; tools, handles and JSON are strangers to this crate.
//!
//! On Linux, in a program that calls [`init`] at the top of its `main`, a started program is held together with
//! everything that descends from it, however it hides, and all of it ends when the [`Process`] is dropped or this
//! process dies, of `SIGKILL` too. Elsewhere programs are plain process groups: [`Process::end`] then reaches the group
//! only, and nothing is ended when this process is killed. `docs/design/processes.md` tells how it works.

mod command;
mod driver;
mod error;
mod exit;
mod find;
mod input;
mod launcher;
#[cfg(target_os = "linux")]
mod linux;
mod pause;
mod pipes;
mod plain;
mod process;
mod prompt;
mod readiness;
mod settle;
mod terminal;
mod tree;
mod typed;
mod watch;

pub use command::{Command, Stdin};
pub use error::{SignalError, StartError, WriteError};
pub use exit::{Exit, Receipt, Signal, Survivor};
pub use find::find_program;
pub use launcher::{Launcher, LauncherOptions};
pub use process::Process;
pub use terminal::{Modes, Prompt, Terminal, TerminalSize};
pub use typed::Typed;

/// Call this first thing in `main`, before any thread is started.
///
/// If this process was started by [`Launcher`] as a zygote, this serves as one and never returns. Otherwise it notes
/// that this executable can be, and raises the limit of open files as far as it may; programs get the old limit. A
/// program that leaves out this call works too, with plain process groups instead of trees that are held together.
pub fn init() {
    #[cfg(target_os = "linux")]
    linux::init();
}
