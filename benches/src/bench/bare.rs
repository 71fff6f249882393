//! The floors: starts and waits with system calls only.

use std::ffi::CStr;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

/// Starts a program by `posix_spawn`.
#[expect(unsafe_code, reason = "the bare call is what we compare with")]
pub(super) fn spawn(program: &CStr, args: &[&CStr]) -> Pid {
    unsafe extern "C" {
        static environ: *const *mut libc::c_char;
    }
    let mut list = vec![program.as_ptr().cast_mut()];
    list.extend(args.iter().map(|arg| arg.as_ptr().cast_mut()));
    list.push(std::ptr::null_mut());
    let mut pid = 0;
    // SAFETY: the program and its arguments are C strings that outlive the
    // call, the list ends in null, and no thread changes the environment.
    let result = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            program.as_ptr(),
            std::ptr::null(),
            std::ptr::null(),
            list.as_ptr(),
            environ,
        )
    };
    assert_eq!(result, 0, "it starts");
    Pid::from_raw(pid).expect("a process has an id")
}

/// Waits for a child.
pub(super) fn wait(pid: Pid) {
    rustix::process::waitpid(Some(pid), WaitOptions::empty()).expect("it is ours");
}

/// Kills a process.
pub(super) fn kill(pid: Pid) {
    rustix::process::kill_process(pid, Signal::KILL).expect("it runs");
}

/// A descriptor that is readable once the process is gone.
pub(super) fn pidfd(pid: Pid) -> OwnedFd {
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).expect("it runs")
}

/// Kills a child and polls its pidfd until it is gone.
pub(super) fn kill_and_poll(pid: Pid) -> Duration {
    let pidfd = pidfd(pid);
    let start = Instant::now();
    kill(pid);
    let mut polls = [PollFd::new(&pidfd, PollFlags::IN)];
    rustix::event::poll(&mut polls, None).expect("it ends");
    let time = start.elapsed();
    wait(pid);
    time
}

/// Runs `cat` on a file and counts the bytes of its output.
#[expect(clippy::disallowed_methods, reason = "what we are compared with")]
pub(super) fn count(path: &Path) -> u64 {
    let mut child = std::process::Command::new("/bin/cat")
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut pipe = child.stdout.take().expect("it was asked for");
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        match pipe.read(&mut buffer).expect("a pipe can be read") {
            0 => break,
            length => total += length as u64,
        }
    }
    child.wait().expect("it is ours");
    total
}
