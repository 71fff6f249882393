//! Leaving the controlling terminal.

use rustix::fs::{Mode, OFlags};

/// Leaves this process's controlling terminal, and with it the session where that is possible. What this process starts
/// has no `/dev/tty` then, and hears nothing of the terminal's end.
///
/// A process that leads its session stays in it and gives the terminal up for everybody there.
pub fn leave_terminal() {
    if rustix::process::setsid().is_ok() {
        return;
    }
    // It leads a process group, and a leader cannot begin a session.
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(terminal) = rustix::fs::open(c"/dev/tty", flags, Mode::empty()) else {
        return;
    };
    give_up(&terminal);
}

/// Without a terminal, the group that was in its foreground is sent `SIGHUP`, which may be this one.
#[expect(
    unsafe_code,
    reason = "there is no safe way to ignore a signal, and none to give up a terminal"
)]
fn give_up(terminal: &impl std::os::fd::AsRawFd) {
    // SAFETY: ignoring a signal installs no handler, and what was there before is put back. The request takes no
    // argument.
    unsafe {
        let before = libc::signal(libc::SIGHUP, libc::SIG_IGN);
        libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY);
        libc::signal(libc::SIGHUP, before);
    }
}
