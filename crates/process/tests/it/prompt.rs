//! Knowing that a program waits for input: not later than it does, and never earlier.

use std::time::{Duration, Instant};

use windlass_process::{Command, Process, Prompt, TerminalSize};
use windlass_skip::needs;

use crate::support::{eventually, launcher, run_as_ordinary_user, shell, text};

/// Long enough that a test which waits for all of it fails.
const MAX: Duration = Duration::from_secs(30);

async fn start(command: Command) -> Process {
    let command = command
        .grace(Duration::from_millis(100))
        .terminal(TerminalSize::default());
    launcher().start(command).await.unwrap()
}

async fn bash(script: &str) -> Process {
    start(Command::new("bash").args(["-c", script])).await
}

async fn python(script: &str) -> Process {
    start(Command::new("/usr/bin/python3").args(["-c", script])).await
}

fn prompt(process: &Process) -> Option<Prompt> {
    process.terminal().unwrap().prompt()
}

/// It settles before the limit, at a prompt of this kind, having written what ends in this.
#[track_caller]
fn asks(process: &Process, kind: Prompt, end: &str) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    async move {
        let start = Instant::now();
        process.settle(MAX).await;
        assert!(start.elapsed() < MAX, "{caller}: {}", text(process));
        assert_eq!(prompt(process), Some(kind), "{caller}");
        assert!(
            text(process).ends_with(end),
            "{caller}: {:?}",
            text(process)
        );
    }
}

/// It is not taken for settled, nor for being at a prompt.
async fn does_not_ask(process: &Process, max: Duration) {
    let start = Instant::now();
    process.settle(max).await;
    assert!(start.elapsed() >= max, "{}", text(process));
    assert_eq!(prompt(process), None, "{}", text(process));
}

fn types(process: &Process, line: &str) {
    process.write(line.as_bytes()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cat_answers_every_line() {
    let process = start(Command::new("cat")).await;
    asks(&process, Prompt::Input, "").await;
    for number in 0..200 {
        let line = format!("line {number}\n");
        types(&process, &line);
        asks(&process, Prompt::Input, &format!("{line}{line}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn part_of_a_line_is_taken_without_a_run_of_the_program() {
    let process = start(Command::new("cat")).await;
    asks(&process, Prompt::Input, "").await;
    types(&process, "par");
    asks(&process, Prompt::Input, "par").await;
    types(&process, "t\n");
    asks(&process, Prompt::Input, "part\npart\n").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_is_at_its_prompt() {
    let command = Command::new("bash").args(["--norc", "--noprofile", "-i"]);
    let process = start(command.env("PS1", "ready> ")).await;
    asks(&process, Prompt::Input, "ready> ").await;
    types(&process, "echo $((6*7))\n");
    asks(&process, Prompt::Input, "\n42\nready> ").await;
    types(&process, "sleep 0.4; echo slept\n");
    asks(&process, Prompt::Input, "\nslept\nready> ").await;
    types(
        &process,
        "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i\n",
    );
    asks(&process, Prompt::Input, "\n100000\nready> ").await;
    types(&process, "sleep 1000 & echo back\n");
    asks(&process, Prompt::Input, "back\nready> ").await;
    types(&process, "read -s -p 'Password: ' word\n");
    asks(&process, Prompt::Secret, "Password: ").await;
    types(&process, "hidden\n");
    asks(&process, Prompt::Input, "ready> ").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_is_at_its_prompt() {
    let process = start(Command::new("/usr/bin/python3").arg("-q")).await;
    asks(&process, Prompt::Input, ">>> ").await;
    types(&process, "import time, getpass\n");
    asks(&process, Prompt::Input, ">>> ").await;
    types(&process, "time.sleep(0.4); print('slept')\n");
    asks(&process, Prompt::Input, "\nslept\n>>> ").await;
    types(&process, "sum(range(10_000_000))\n");
    asks(&process, Prompt::Input, "\n49999995000000\n>>> ").await;
    types(&process, "getpass.getpass()\n");
    asks(&process, Prompt::Secret, "Password: ").await;
    types(&process, "hidden\n");
    asks(&process, Prompt::Input, "\n'hidden'\n>>> ").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_editor_is_at_an_ordinary_prompt() {
    needs!("vim");
    let process = start(shell("exec vim -u NONE -i NONE")).await;
    asks(&process, Prompt::Input, "").await;
    let modes = process.terminal().unwrap().modes();
    assert!(!modes.canonical && !modes.echo, "{modes:?}");
    types(&process, "ihello\x1b");
    asks(&process, Prompt::Input, "").await;
    types(&process, ":q!\r");
    assert!(process.wait().await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pager_reads_the_terminal_by_another_descriptor() {
    needs!("less");
    let process = start(shell("seq 100000 | less")).await;
    asks(&process, Prompt::Input, "").await;
    assert!(process.output().written() > 0);
    types(&process, "q");
    process.wait().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_says_done_and_sleeps_does_not_ask() {
    let process = bash("printf 'Done: '; sleep 1000").await;
    eventually("it has written", || process.output().written() > 0);
    does_not_ask(&process, Duration::from_millis(300)).await;
    let process =
        python("import sys,time; sys.stdout.write('Name: '); sys.stdout.flush(); time.sleep(1000)")
            .await;
    eventually("it has written", || process.output().written() > 0);
    does_not_ask(&process, Duration::from_millis(300)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_computes_does_not_ask() {
    let process = bash("printf 'Name: '; while :; do :; done").await;
    eventually("it has written", || process.output().written() > 0);
    does_not_ask(&process, Duration::from_millis(300)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_has_not_read_what_was_typed_does_not_ask() {
    let process = bash("read one; sleep 0.4; read two; echo $one $two; read three").await;
    asks(&process, Prompt::Input, "").await;
    types(&process, "a\nb\n");
    asks(&process, Prompt::Input, "a b\n").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sleeping_before_the_answer_is_waited_for() {
    let script = "while read -p '? ' line; do sleep 0.4; echo got $line; done";
    let process = bash(script).await;
    asks(&process, Prompt::Input, "? ").await;
    types(&process, "it\n");
    asks(&process, Prompt::Input, "got it\n? ").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn computing_before_the_answer_is_waited_for() {
    let script = "import time
while True:
    line = input('? ')
    end = time.monotonic() + 0.4
    while time.monotonic() < end: pass
    print('got', line)";
    let process = python(script).await;
    asks(&process, Prompt::Input, "? ").await;
    types(&process, "it\n");
    asks(&process, Prompt::Input, "got it\n? ").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipeline_answers_when_its_last_has() {
    let process = bash("cat | cat").await;
    asks(&process, Prompt::Input, "").await;
    for number in 0..100 {
        let line = format!("line {number}\n");
        types(&process, &line);
        asks(&process, Prompt::Input, &format!("{line}{line}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_order_of_a_pipeline_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    // Those that answer are older than the one that reads the terminal, and so are looked at before it.
    let script = format!(
        "cd '{}'; mkfifo a b c; cat <c & cat <b >c & cat <a >b & exec cat </dev/tty >a",
        folder.path().display()
    );
    let process = bash(&script).await;
    asks(&process, Prompt::Input, "").await;
    for number in 0..300 {
        let line = format!("line {number}\n");
        types(&process, &line);
        asks(&process, Prompt::Input, &format!("{line}{line}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipeline_that_sleeps_or_computes_is_waited_for() {
    let process = bash("cat | while read line; do sleep 0.4; echo got $line; done").await;
    asks(&process, Prompt::Input, "").await;
    types(&process, "it\n");
    asks(&process, Prompt::Input, "it\ngot it\n").await;
    let script =
        "cat | while read n; do i=0; while [ $i -lt $n ]; do i=$((i+1)); done; echo did $n; done";
    let process = bash(script).await;
    asks(&process, Prompt::Input, "").await;
    types(&process, "100000\n");
    asks(&process, Prompt::Input, "did 100000\n").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_several_descriptors_is_seen() {
    let script = "import select, sys, os
waits = [lambda: select.select([0], [], []),
    lambda: select.select([0], [], [], 1000),
    lambda: select.poll().poll() if False else polled()]
def polled():
    it = select.poll(); it.register(0, select.POLLIN); it.poll()
def epolled():
    it = select.epoll(); it.register(0, select.EPOLLIN); it.poll()
for wait in waits + [epolled]:
    wait(); print('got', os.read(0, 100).decode().strip())
input()";
    let process = python(script).await;
    asks(&process, Prompt::Input, "").await;
    for line in ["one", "two", "three", "four"] {
        types(&process, &format!("{line}\n"));
        asks(&process, Prompt::Input, &format!("got {line}\n")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_none_or_for_other_descriptors_does_not_ask() {
    for wait in [
        "select.select([], [], [], 1000)",
        "select.poll().poll(1000000)",
        "select.select([os.pipe()[0]], [], [])",
        "os.read(os.pipe()[0], 1)",
        "threading.Event().wait()",
    ] {
        let script = format!(
            "import os, select, threading\nprint('? ', end='', flush=True)\nkeep = os.pipe()\n{wait}"
        );
        let process = python(&script).await;
        eventually("it has written", || process.output().written() > 0);
        does_not_ask(&process, Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_the_terminal_and_for_others_takes_quiet() {
    // Something between us and the program that answers, as `ssh` and `script` are.
    let script = "import os, select, threading, time
read, write = os.pipe()
def answer(line):
    for part in range(20): time.sleep(0.002); os.write(write, b'%d ' % part)
    os.write(write, b'got ' + line)
while True:
    for fd in select.select([0, read], [], [])[0]:
        data = os.read(fd, 100)
        if fd == 0: threading.Thread(target=answer, args=[data]).start()
        else: os.write(1, data)";
    let process = python(script).await;
    asks(&process, Prompt::Input, "").await;
    types(&process, "it\n");
    asks(&process, Prompt::Input, "got it\n").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_sleeps_before_it_answers_is_waited_for() {
    let script = "import queue, threading, time
lines = queue.Queue()
def work():
    while True:
        line = lines.get(); time.sleep(0.4); print('got', line, flush=True)
threading.Thread(target=work, daemon=True).start()
while True: lines.put(input())";
    let process = python(script).await;
    asks(&process, Prompt::Input, "").await;
    types(&process, "it\n");
    asks(&process, Prompt::Input, "it\ngot it\n").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_sleeps_through_is_not_waited_for_again() {
    let process = bash("sleep 1000 & cat").await;
    let start = Instant::now();
    process.settle(Duration::from_millis(300)).await;
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(prompt(&process), Some(Prompt::Input), "`cat` reads");
    for line in ["one\n", "two\n"] {
        types(&process, line);
        asks(&process, Prompt::Input, &format!("{line}{line}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_told_apart() {
    for script in [
        "read -s -p 'Password: ' word; echo; echo ${#word}; read",
        "stty -echo; printf 'Password: '; read word; stty echo; echo; echo ${#word}; read",
        "/usr/bin/python3 -c 'import getpass; print(len(getpass.getpass()))'; read",
        "echo | /usr/bin/python3 -c 'import getpass; print(len(getpass.getpass()))'; read",
    ] {
        let process = bash(script).await;
        asks(&process, Prompt::Secret, "Password: ").await;
        types(&process, "hidden\n");
        asks(&process, Prompt::Input, "\n6\n").await;
        assert!(!text(&process).contains("hidden"), "{script}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_comes_later_is_known_when_it_comes() {
    let process = bash("sleep 0.6; read -s -p 'Password: ' word").await;
    process.settle(Duration::from_millis(50)).await;
    assert_eq!(prompt(&process), None);
    asks(&process, Prompt::Secret, "Password: ").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_was_stopped_while_it_read_does_not_ask() {
    // A shell that takes its time to come back when its job is stopped.
    let script = "import os, signal, time
def take_terminal():
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
job = os.fork()
if job == 0:
    os.setpgid(0, 0); take_terminal(); os.write(1, b'job: '); os.read(0, 100); os.write(1, b'got it'); os._exit(0)
os.waitpid(job, os.WUNTRACED); time.sleep(0.4); take_terminal()
input('stopped? ')
os.tcsetpgrp(0, job); time.sleep(0.4); os.kill(job, signal.SIGCONT)
os.waitpid(job, 0); take_terminal()
input('over? ')";
    let process = python(script).await;
    asks(&process, Prompt::Input, "job: ").await;
    types(&process, "\x1a");
    asks(&process, Prompt::Input, "stopped? ").await;
    // The job has the terminal again before it continues.
    types(&process, "\n");
    let goes_on = process.prompted(|_| true).await;
    assert_eq!(goes_on, Some(Prompt::Input));
    types(&process, "it\n");
    asks(&process, Prompt::Input, "got itover? ").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_told_when_what_was_written_before_it_is_in_the_output() {
    let (tell, told) = std::sync::mpsc::channel();
    let (go, goes) = std::sync::mpsc::channel::<()>();
    let tap = move |_: &[u8]| {
        let _ = tell.send(());
        let _ = goes.recv();
        Vec::new()
    };
    let command = Command::new("bash")
        .args(["-c", "printf '? '; read"])
        .terminal_with(TerminalSize::default(), tap);
    let process = launcher().start(command).await.unwrap();
    // Its words have been read and are on their way into the output.
    tokio::task::block_in_place(|| told.recv()).unwrap();
    let asking = tokio::task::spawn_blocking({
        let process = process.clone();
        move || loop {
            if let Some(kind) = prompt(&process) {
                return (kind, text(&process));
            }
        }
    });
    eventually("it is blocked", || {
        let syscall = std::fs::read_to_string(format!("/proc/{}/syscall", process.pid()));
        syscall.is_ok_and(|syscall| syscall.starts_with("0 0x0 "))
    });
    drop(go);
    assert_eq!(asking.await.unwrap(), (Prompt::Input, "? ".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_can_be_waited_for() {
    let script = "read -p '? ' line; sleep 0.3; read -s -p 'Password: ' word; read -p '?? '";
    let process = bash(script).await;
    let any = |_| true;
    let secret = |prompt| prompt == Prompt::Secret;
    assert_eq!(process.prompted(any).await, Some(Prompt::Input));
    assert!(text(&process).ends_with("? "));
    types(&process, "it\n");
    assert_eq!(process.prompted(secret).await, Some(Prompt::Secret));
    assert!(text(&process).ends_with("Password: "));
    types(&process, "hidden\n");
    assert_eq!(process.prompted(any).await, Some(Prompt::Input));
    assert!(text(&process).ends_with("?? "));
    let (none, ()) = tokio::join!(process.prompted(secret), async { types(&process, "\n") });
    assert_eq!(none, None, "it has exited");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_exited_asks_nothing() {
    let process = bash("echo bye").await;
    process.settle(MAX).await;
    process.wait().await;
    assert_eq!(prompt(&process), None);
    assert_eq!(text(&process), "bye\n");
}

/// What a program does that runs as somebody else cannot be seen, but its terminal can. Root sees everything.
#[test]
fn a_password_is_asked_for_by_one_whom_we_cannot_see() {
    needs!("su", "setpriv");
    run_as_ordinary_user("prompt::su_asks");
}

#[ignore = "run as an ordinary user by the test above"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn su_asks() {
    let process = start(Command::new("/usr/bin/su")).await;
    let syscall = format!("/proc/{}/syscall", process.pid());
    assert!(std::fs::read(syscall).is_err(), "it cannot be seen");
    asks(&process, Prompt::Secret, "Password: ").await;
    // One who is seen is seen, as root or not.
    let process = start(Command::new("cat")).await;
    types(&process, "it\n");
    asks(&process, Prompt::Input, "it\nit\n").await;
}

/// One that asks its terminal something, waits a moment for the answer and continues without it.
const ASKS_FIRST: &str = "
import select, sys, termios, tty
tty.setcbreak(0)
for line in sys.stdin:
    sys.stdout.write('asking ')
    sys.stdout.flush()
    WAIT
    print('done')
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moment_that_is_waited_for_an_answer_is_no_prompt() {
    for wait in [
        "select.select([0], [], [], 0.2)",
        "poll = select.poll(); poll.register(0, select.POLLIN); poll.poll(200)",
        "poll = select.epoll(); poll.register(0, select.EPOLLIN); poll.poll(0.2)",
        // As vim does after Escape, which shows something on the way.
        "select.select([0], [], [], 0.02); select.select([0], [], [], 0.08)",
    ] {
        let process = python(&ASKS_FIRST.replace("WAIT", wait)).await;
        asks(&process, Prompt::Input, "").await;
        for _ in 0..4 {
            types(&process, "go\n");
            asks(&process, Prompt::Input, "asking done\n").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_waits_in_turns_is_at_a_prompt() {
    let script = "
import os, select, sys, tty
tty.setcbreak(0)
print('ready')
while True:
    if select.select([0], [], [], 0.05)[0]:
        print('got', os.read(0, 100))
";
    let process = python(script).await;
    asks(&process, Prompt::Input, "ready\n").await;
    for _ in 0..4 {
        types(&process, "x");
        asks(&process, Prompt::Input, "got b'x'\n").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_draws_while_it_waits_is_at_a_prompt() {
    let script = "
import os, select, sys, tty
tty.setcbreak(0)
turn = 0
while True:
    turn += 1
    sys.stdout.write('\\r%d' % turn)
    sys.stdout.flush()
    if select.select([0], [], [], 0.1)[0]:
        os.read(0, 100)
";
    let process = python(script).await;
    let start = Instant::now();
    process.settle(MAX).await;
    types(&process, "x");
    process.settle(MAX).await;
    assert!(start.elapsed() < MAX, "{}", text(&process));
}
