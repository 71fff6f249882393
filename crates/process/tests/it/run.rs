//! Starting, reading, writing and waiting.

use std::time::Duration;

use windlass_process::{Command, Exit, Signal, SignalError, StartError, Stdin, WriteError};
use windlass_skip::skip;

use crate::support::{DEADLINE, alive, eventually, launcher, name, shell, text, token};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_writes_and_returns_is_told() {
    let process = launcher()
        .start(shell("echo out; echo err >&2; exit 4"))
        .await
        .unwrap();
    assert_eq!(process.wait().await, Exit::Code(4));
    let mut lines: Vec<_> = text(&process).lines().map(String::from).collect();
    lines.sort();
    assert_eq!(lines, ["err", "out"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_that_ends_it_is_told() {
    let process = launcher().start(shell("kill -9 $$")).await.unwrap();
    assert_eq!(process.wait().await, Exit::Signal(9));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn merged_output_keeps_its_order() {
    let script = "i=0; while [ $i -lt 500 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done";
    let process = launcher()
        .start(shell(script).merge_output())
        .await
        .unwrap();
    process.wait().await;
    let lines: Vec<String> = (0..500).map(|i| format!("o{i}\ne{i}\n")).collect();
    assert_eq!(text(&process), lines.concat());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_can_be_kept_apart() {
    let command = shell("echo out; echo err >&2").split_output();
    let process = launcher().start(command).await.unwrap();
    process.wait().await;
    assert_eq!(text(&process), "out\n");
    assert_eq!(process.errors().read_all(usize::MAX).text, "err\n");
    assert!(process.errors().is_finished());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_written_before_the_exit_is_read() {
    let launcher = launcher();
    for length in [0, 1, 65_536, 65_537, 200_000] {
        let script = format!("head -c {length} /dev/zero");
        let process = launcher.start(shell(&script)).await.unwrap();
        assert_eq!(process.wait().await, Exit::Code(0));
        assert_eq!(process.output().written(), length);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grandchild_that_holds_the_pipe_does_not_delay_the_exit() {
    let token = token();
    let process = launcher()
        .start(shell(&format!("sleep {token} & echo ok")))
        .await
        .unwrap();
    let exit = tokio::time::timeout(DEADLINE, process.wait()).await;
    assert_eq!(exit, Ok(Exit::Code(0)));
    assert_eq!(text(&process), "ok\n");
    assert_eq!(process.remaining().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_running_can_go_on_writing() {
    let token = token();
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &go,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    // More than any pipe holds; and should the pipe be closed, `head` fails.
    let script = format!(
        "(cat '{}'; head -c 3000000 /dev/zero && exec sleep {token}) & echo ok",
        go.display()
    );
    let process = launcher().start(shell(&script)).await.unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    std::fs::write(&go, "").unwrap();
    eventually("it wrote everything", || {
        alive(&token).iter().any(|&pid| name(pid) == "sleep")
    });
    assert_eq!(text(&process), "ok\n", "and none of it was kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn input_is_written_and_closed() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    // It continues after its input has ended, until `go` exists.
    let script = format!("cat; until [ -e '{}' ]; do sleep 0.01; done", go.display());
    let process = launcher()
        .start(shell(&script).stdin(Stdin::Pipe))
        .await
        .unwrap();
    process.write(b"one\n").unwrap();
    let large = vec![b'x'; 700_000];
    process.write(&large).unwrap();
    process.close_stdin();
    assert_eq!(process.write(b"late"), Err(WriteError::Closed));
    std::fs::write(&go, "").unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    assert_eq!(process.output().written(), 700_004);
    assert_eq!(process.write(b"later"), Err(WriteError::Exited));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_does_not_read_fills_the_queue() {
    let process = launcher()
        .start(shell("sleep 1000").stdin(Stdin::Pipe))
        .await
        .unwrap();
    let chunk = vec![b'x'; 256 * 1024];
    let full = (0..10).find_map(|_| process.write(&chunk).err());
    let Some(WriteError::Full { queued }) = full else {
        panic!("{full:?}");
    };
    assert!(queued > 700_000 && queued <= 1024 * 1024, "{queued}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_closed_its_input_is_an_error() {
    let script = "exec 0<&-; echo closed; sleep 1000";
    let process = launcher()
        .start(shell(script).stdin(Stdin::Pipe))
        .await
        .unwrap();
    eventually("it has closed it", || process.output().written() > 0);
    assert_eq!(process.write(b"x"), Err(WriteError::Closed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_input_nothing_can_be_written() {
    let process = launcher().start(Command::new("cat")).await.unwrap();
    assert_eq!(process.write(b"x"), Err(WriteError::NoInput));
    assert_eq!(process.wait().await, Exit::Code(0), "it reads an end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signals_reach_the_group() {
    let script = "sh -c 'trap \"echo child; exit\" USR1; echo ready; while :; do :; done' & \
                  trap 'wait; echo parent; exit 5' USR1; echo ready; wait";
    let process = launcher().start(shell(script)).await.unwrap();
    eventually("both are ready", || text(&process) == "ready\nready\n");
    process.signal(Signal::User1).unwrap();
    assert_eq!(process.wait().await, Exit::Code(5));
    assert_eq!(text(&process), "ready\nready\nchild\nparent\n");
    assert_eq!(process.signal(Signal::Terminate), Err(SignalError::Exited));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_start_with_default_signals() {
    let script = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
    let process = launcher().start(shell(script)).await.unwrap();
    process.wait().await;
    assert_eq!(
        text(&process),
        "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_get_three_descriptors_and_no_other() {
    let launcher = launcher();
    let holder = launcher
        .start(Command::new("cat").stdin(Stdin::Pipe))
        .await
        .unwrap();
    let process = launcher
        .start(Command::new("ls").arg("/proc/self/fd"))
        .await
        .unwrap();
    process.wait().await;
    // The fourth is the folder that `ls` reads.
    assert_eq!(text(&process), "0\n1\n2\n3\n");
    drop(holder);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shim_holds_nothing_but_its_lifeline() {
    let launcher = launcher();
    let others = launcher
        .start(Command::new("cat").stdin(Stdin::Pipe))
        .await
        .unwrap();
    let process = launcher
        .start(Command::new("cat").stdin(Stdin::Pipe))
        .await
        .unwrap();
    let shim = crate::support::parent(process.pid());
    let descriptors = std::fs::read_dir(format!("/proc/{shim}/fd"));
    if !rustix::process::geteuid().is_root() {
        skip!("only root can look at a shim");
    }
    let targets: Vec<_> = descriptors
        .unwrap()
        .map(|it| {
            std::fs::read_link(it.unwrap().path())
                .unwrap()
                .display()
                .to_string()
        })
        .collect();
    assert_eq!(
        targets.iter().filter(|it| *it == "/dev/null").count(),
        3,
        "{targets:?}"
    );
    assert_eq!(
        targets
            .iter()
            .filter(|it| it.starts_with("socket:"))
            .count(),
        1,
        "{targets:?}"
    );
    assert_eq!(targets.len(), 4, "{targets:?}");
    drop(others);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn environment_and_directory_are_as_asked() {
    let launcher = launcher();
    let script = "echo $FIRST $SECOND ${HOME-none}; pwd; env | grep -c '^WINDLASS_RUNTIME='";
    let command = shell(script)
        .env("FIRST", "1")
        .env("FIRST", "one")
        .env("SECOND", "2")
        .env_remove("HOME")
        .cwd("/usr");
    let process = launcher.start(command).await.unwrap();
    process.wait().await;
    assert_eq!(text(&process), "one 2 none\n/usr\n1\n");

    let command = Command::new("/usr/bin/env").env_clear().env("ONLY", "this");
    let process = launcher.start(command).await.unwrap();
    process.wait().await;
    let text = text(&process);
    let names: Vec<_> = text
        .lines()
        .map(|line| line.split('=').next().unwrap())
        .collect();
    assert_eq!(names, ["WINDLASS_RUNTIME", "ONLY"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_arguments_arrive() {
    let launcher = launcher();
    let args: Vec<String> = (0..4).map(|i| format!("{i}").repeat(100_000)).collect();
    let process = launcher
        .start(Command::new("printf").arg("%s").args(&args))
        .await
        .unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    assert_eq!(process.output().written(), 400_000);

    let too_long = "x".repeat(3_000_000);
    let error = launcher
        .start(Command::new("printf").arg(too_long))
        .await
        .unwrap_err();
    assert!(matches!(error, StartError::TooLong { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_start_says_why() {
    let launcher = launcher();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let start = async |command: Command| launcher.start(command).await.unwrap_err();

    let error = start(Command::new("no-such-program-anywhere")).await;
    assert!(matches!(error, StartError::NotFound { .. }), "{error:?}");
    let error = start(Command::new("/no/such/program")).await;
    assert!(matches!(error, StartError::NotFound { .. }), "{error:?}");
    let error = start(Command::new(file("plain", "#!/bin/sh\n", 0o644))).await;
    assert!(matches!(error, StartError::Permission { .. }), "{error:?}");
    let error = start(Command::new(folder.path())).await;
    assert!(
        matches!(error, StartError::NotExecutable { .. }),
        "{error:?}"
    );
    let error = start(Command::new(file("junk", "junk", 0o755))).await;
    assert!(
        matches!(error, StartError::NotExecutable { .. }),
        "{error:?}"
    );
    let error = start(Command::new(file("script", "#!/no/interpreter\n", 0o755))).await;
    assert!(matches!(error, StartError::Interpreter { .. }), "{error:?}");
    let error = start(Command::new("true").cwd("/no/such/folder")).await;
    assert!(matches!(error, StartError::Cwd { .. }), "{error:?}");
    let error = start(Command::new("true").arg("a\0b")).await;
    assert!(matches!(error, StartError::Unpassable { .. }), "{error:?}");
    let error = start(Command::new("true").env("A=B", "c")).await;
    assert!(matches!(error, StartError::Unpassable { .. }), "{error:?}");

    let next = launcher.start(Command::new("true")).await.unwrap();
    assert_eq!(
        next.wait().await,
        Exit::Code(0),
        "a failure hurts nobody else"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_wait_and_some_give_up() {
    let process = launcher()
        .start(shell("read line").stdin(Stdin::Pipe))
        .await
        .unwrap();
    let waiters: Vec<_> = (0..8)
        .map(|_| {
            let process = process.clone();
            tokio::spawn(async move { process.wait().await })
        })
        .collect();
    let given_up = tokio::time::timeout(Duration::from_millis(1), process.wait()).await;
    assert!(given_up.is_err());
    process.write(b"go\n").unwrap();
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap(), Exit::Code(0));
    }
}

#[test]
fn whoever_waits_learns_that_the_executor_was_shut_down() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let token = token();
    let process = runtime.block_on(async {
        launcher()
            .start(shell(&format!("sleep {token}")))
            .await
            .unwrap()
    });
    drop(runtime);
    assert!(matches!(process.exit(), Some(Exit::Lost(_))));
    eventually("its tree was ended", || alive(&token).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pipes_that_were_handed_over_carry_everything_both_ways() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let command = shell("echo ready >&2; exec cat").hand_over_pipes();
    let process = launcher().start(command).await.unwrap();
    let (mut stdout, mut stdin) = process.take_pipes().unwrap();
    assert!(process.take_pipes().is_none());
    let sent = "x".repeat(3 << 20);
    let writing = async {
        stdin.write_all(sent.as_bytes()).await.unwrap();
        drop(stdin);
    };
    let mut came = String::new();
    let (read, ()) = tokio::join!(stdout.read_to_string(&mut came), writing);
    assert_eq!(read.unwrap(), sent.len());
    assert_eq!(process.wait().await, Exit::Code(0));
    assert_eq!(text(&process), "ready\n");
    assert_eq!(process.write(b"x"), Err(WriteError::NoInput));
}

#[tokio::test]
async fn reading_stops_at_a_limit_until_more_is_allowed() {
    let launcher = launcher();
    let process = launcher.start(shell("yes")).await.unwrap();
    process.read_until(0);
    let mut stopped = process.output().position();
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = process.output().position();
        if now == stopped {
            break;
        }
        stopped = now;
    }
    process.read_until(stopped + 10_000_000);
    while process.output().position() < stopped + 10_000_000 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    process.end(Duration::ZERO).await;
}
