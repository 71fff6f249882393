use super::*;

fn kind(line: &str) -> Option<SyscallKind> {
    BlockedCall::parse(line).map(|call| call.kind)
}

#[test]
fn a_blocked_read_names_its_descriptor() {
    let line = format!(
        "{} 0x3 0x7ffc00000000 0x400 0x0 0x0 0x0 0x7ffc 0x7f45\n",
        libc::SYS_read
    );
    let expected = BlockedCall {
        kind: SyscallKind::Read,
        args: [3, 0x7ffc_0000_0000, 0x400, 0, 0, 0],
    };
    assert_eq!(BlockedCall::parse(&line), Some(expected));
}

#[test]
fn a_thread_that_runs_is_not_blocked() {
    assert_eq!(kind("running\n"), None);
}

#[test]
fn a_thread_outside_of_system_calls_waits_for_nothing_we_know() {
    assert_eq!(kind("-1 0x7ffc 0x7f45\n"), Some(SyscallKind::Other));
    assert_eq!(kind(""), None, "it has ended");
}

#[test]
fn sleeping_for_a_time_is_told_apart() {
    for number in [libc::SYS_nanosleep, libc::SYS_clock_nanosleep] {
        let line = format!("{number} 0x0 0x0 0x7ffc 0x0 0x0 0x0 0x7ffc 0x7f45");
        assert_eq!(kind(&line), Some(SyscallKind::Nap));
    }
}

#[test]
fn the_surest_reader_counts() {
    assert!(Waits::Terminal < Waits::AmongOthers && Waits::AmongOthers < Waits::Unseen);
}

fn call(number: libc::c_long, args: [u64; 6]) -> BlockedCall {
    let kind = SyscallKind::of(number);
    BlockedCall { kind, args }
}

/// A thread that waits for nothing here; its memory is ours.
fn own_thread(read_limit: Option<Duration>) -> Thread {
    let process = i32::try_from(std::process::id()).unwrap();
    let device = Device {
        number: 0,
        read_limit,
    };
    Thread::new(process, process, device)
}

#[test]
fn a_wait_is_brief_by_its_limit() {
    let thread = own_thread(None);
    let short = libc::timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    let long = libc::timespec {
        tv_sec: 2,
        tv_nsec: 0,
    };
    let address = |time: &libc::timespec| std::ptr::from_ref(time) as u64;
    for (expected, call) in [
        (
            true,
            call(libc::SYS_ppoll, [0, 1, address(&short), 0, 0, 0]),
        ),
        (
            false,
            call(libc::SYS_ppoll, [0, 1, address(&long), 0, 0, 0]),
        ),
        (false, call(libc::SYS_ppoll, [0, 1, 0, 0, 0, 0])),
        (
            true,
            call(libc::SYS_pselect6, [1, 1, 0, 0, address(&short), 0]),
        ),
        (false, call(libc::SYS_pselect6, [1, 1, 0, 0, 0, 0])),
        (true, call(libc::SYS_epoll_pwait, [3, 1, 1, 50, 0, 0])),
        (false, call(libc::SYS_epoll_pwait, [3, 1, 1, 5000, 0, 0])),
        (
            false,
            call(libc::SYS_epoll_pwait, [3, 1, 1, 0xffff_ffff, 0, 0]),
        ),
        (
            true,
            call(libc::SYS_epoll_pwait2, [3, 1, 1, address(&short), 0, 0]),
        ),
        (false, call(libc::SYS_read, [0; 6])),
    ] {
        let is_brief = thread.limit(&call).is_some_and(|limit| limit <= BRIEF);
        assert_eq!(is_brief, expected, "{call:?}");
    }
    let limit = Some(Duration::from_millis(200));
    let read = call(libc::SYS_read, [0; 6]);
    assert_eq!(own_thread(limit).limit(&read), limit);
}
