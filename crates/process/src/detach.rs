//! Leaving the controlling terminal.

use rustix::fs::{Mode, OFlags};

/// Detaches this process from its controlling terminal, and from its session
/// where possible. Its children then have no `/dev/tty` and are not affected by
/// the end of the terminal.
///
/// A session leader stays in its session and gives up the terminal for all of
/// it.
pub fn leave_terminal() {
    if rustix::process::setsid().is_ok() {
        return;
    }
    // It leads a process group, and a group leader cannot start a session.
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(terminal) = rustix::fs::open(c"/dev/tty", flags, Mode::empty()) else {
        return;
    };
    give_up(&terminal);
}

/// Gives up the terminal. The kernel then sends `SIGHUP` to the foreground
/// group, which may be our own.
#[expect(
    unsafe_code,
    reason = "there is no safe way to ignore a signal, and none to give up a terminal"
)]
fn give_up(terminal: &impl std::os::fd::AsRawFd) {
    // SAFETY: ignoring a signal installs no handler, and the previous disposition is restored. The request takes no
    // argument.
    unsafe {
        let before = libc::signal(libc::SIGHUP, libc::SIG_IGN);
        libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY);
        libc::signal(libc::SIGHUP, before);
    }
}
