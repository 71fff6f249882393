use super::*;

fn kind(line: &str) -> Option<Kind> {
    Call::parse(line).map(|call| call.kind)
}

#[test]
fn a_blocked_read_names_its_descriptor() {
    let line = format!(
        "{} 0x3 0x7ffc00000000 0x400 0x0 0x0 0x0 0x7ffc 0x7f45\n",
        libc::SYS_read
    );
    let expected = Call {
        kind: Kind::Read,
        args: [3, 0x7ffc_0000_0000, 0x400, 0, 0, 0],
    };
    assert_eq!(Call::parse(&line), Some(expected));
}

#[test]
fn a_thread_that_runs_is_not_blocked() {
    assert_eq!(kind("running\n"), None);
}

#[test]
fn a_thread_outside_of_system_calls_waits_for_nothing_we_know() {
    assert_eq!(kind("-1 0x7ffc 0x7f45\n"), Some(Kind::Other));
    assert_eq!(kind(""), None, "it has ended");
}

#[test]
fn sleeping_for_a_time_is_told_apart() {
    for number in [libc::SYS_nanosleep, libc::SYS_clock_nanosleep] {
        let line = format!("{number} 0x0 0x0 0x7ffc 0x0 0x0 0x0 0x7ffc 0x7f45");
        assert_eq!(kind(&line), Some(Kind::Nap));
    }
}

#[test]
fn the_surest_reader_counts() {
    assert!(Waits::Terminal < Waits::AmongOthers && Waits::AmongOthers < Waits::Unseen);
}
