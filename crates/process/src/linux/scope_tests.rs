use super::*;

fn this_thread() -> String {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.into_os_string().into_string().unwrap()
}

fn thread() -> i32 {
    this_thread().rsplit('/').next().unwrap().parse().unwrap()
}

fn own() -> i32 {
    std::process::id().cast_signed()
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the runtime itself is nobody's program"
)]
fn an_owner_is_a_thread_of_a_process_above_the_runtime() {
    // It ends with its input, also if this test fails.
    let mut child = std::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let runtime = child.id().cast_signed();
    let thread = thread();
    let owner = accepted(&this_thread(), runtime).unwrap();
    assert_eq!(owner.pid, thread);
    assert!(owner.alive());
    for wrong in [
        format!("{}/task/{runtime}", own()),
        format!("{runtime}/task/{runtime}"),
        format!("1999999/task/{thread}"),
        thread.to_string(),
        String::new(),
    ] {
        assert_eq!(accepted(&wrong, runtime), None, "{wrong}");
    }
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn a_scope_ends_with_its_owner() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let pid = thread();
        let start = Member::read(pid).unwrap().start;
        sender.send(RuntimeId { pid, start }).unwrap();
    });
    let owner = receiver.recv().unwrap();
    thread.join().unwrap();
    assert!(!owner.alive());
}
