//! The floor of terminals: a program on a bare terminal, read directly, with
//! nothing stored.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use windlass_process::TerminalSize;

/// A program on its own terminal. Dropping this kills it.
pub(super) struct BareTerminal {
    master: OwnedFd,
    child: Child,
}

impl BareTerminal {
    /// Runs a command line on a terminal of the same size and type as ours.
    #[expect(clippy::disallowed_methods, reason = "what we are compared with")]
    pub(super) fn start(line: &str) -> Self {
        let (master, program_side) = open();
        let stdio = || Stdio::from(program_side.try_clone().expect("descriptors are left"));
        let child = Command::new("setsid")
            .args(["--ctty", "/bin/sh", "-c", line])
            .env("TERM", "xterm-256color")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .expect("it starts");
        Self { master, child }
    }

    /// Types a line and reads until the program has written all of `answer`;
    /// returns the elapsed time.
    pub(super) fn answer(&self, line: &str, answer: &[&str]) -> Duration {
        let bytes = [line.as_bytes(), b"\r"].concat();
        let start = Instant::now();
        let written = rustix::io::write(&self.master, &bytes).expect("it runs");
        assert_eq!(written, bytes.len(), "a line is taken whole");
        self.read_until(answer);
        start.elapsed()
    }

    /// Reads until all of these have been output, in this order.
    pub(super) fn read_until(&self, wanted: &[&str]) {
        let mut buffer = [0; 4096];
        let mut seen = Vec::new();
        while !contains(&String::from_utf8_lossy(&seen), wanted) {
            let length = rustix::io::read(&self.master, &mut buffer).expect("it runs");
            seen.extend_from_slice(&buffer[..length]);
        }
    }

    /// Reads and discards all output until the program ends; returns the number
    /// of bytes.
    pub(super) fn discard(mut self) -> u64 {
        let mut buffer = vec![0; 64 << 10];
        let mut total = 0;
        loop {
            match rustix::io::read(&self.master, &mut buffer) {
                // The error of a terminal whose other side is closed.
                Ok(0) | Err(Errno::IO) => break,
                Ok(length) => total += length as u64,
                Err(error) => panic!("a terminal can be read: {error}"),
            }
        }
        self.child.wait().expect("it is ours");
        total
    }
}

impl Drop for BareTerminal {
    fn drop(&mut self) {
        // Errors are ignored: it may have ended and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Opens a terminal: our side and the program's side.
fn open() -> (OwnedFd, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).expect("terminals are left");
    unlockpt(&master).expect("it is ours");
    let TerminalSize { rows, cols } = TerminalSize::default();
    let size = Winsize {
        ws_row: rows,
        ws_col: cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).expect("it is ours");
    let path = ptsname(&master, Vec::new()).expect("it has a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let program_side = rustix::fs::open(path, flags, Mode::empty()).expect("it is ours");
    (master, program_side)
}

/// Whether a text contains these parts, in this order.
fn contains(text: &str, parts: &[&str]) -> bool {
    let rest = parts
        .iter()
        .try_fold(text, |rest, part| Some(rest.split_once(part)?.1));
    rest.is_some()
}

#[cfg(test)]
#[path = "bare_terminal_tests.rs"]
mod tests;
