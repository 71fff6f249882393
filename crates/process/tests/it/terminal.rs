//! Programs on terminals: started, typed at, resized, left and ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use windlass_output::Screen;
use windlass_process::{
    Command, Exit, Launcher, LauncherOptions, Modes, Process, Signal, TerminalSize, WriteError,
};

use crate::support::{
    GRACE, Probe, VICTIMS, alive, eventually, launcher, none_left, parent, run_alone, shell, stat,
    text, token, up, victim,
};

/// Long enough that a test which waits for all of it fails.
const MAX: Duration = Duration::from_secs(30);

fn terminal(script: &str) -> Command {
    shell(script).terminal(TerminalSize::default())
}

async fn run(script: &str) -> String {
    let process = launcher().start(terminal(script)).await.unwrap();
    assert_eq!(process.wait().await, Exit::Code(0), "{}", text(&process));
    text(&process)
}

async fn settles(process: &Process) {
    let start = Instant::now();
    process.settle(MAX).await;
    assert!(start.elapsed() < MAX, "{}", text(process));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_three_streams_are_the_terminal() {
    let script = "for fd in 0 1 2; do [ -t $fd ] && echo yes $fd; done; : >/dev/tty && echo controlling; echo err >&2";
    assert_eq!(run(script).await, "yes 0\nyes 1\nyes 2\ncontrolling\nerr\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_leads_a_session_of_its_own() {
    let process = launcher().start(terminal("read line")).await.unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split(' ').collect();
    let pid = process.pid().to_string();
    // Group, session, and the group in the foreground of its terminal.
    assert_eq!((fields[3], fields[4], fields[6]), (&*pid, &*pid, &*pid));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_environment_names_the_terminal() {
    let script = "echo $TERM ${COLUMNS-none} ${LINES-none}";
    let launcher = Launcher::new(LauncherOptions {
        environment: Some(vec![
            ("COLUMNS".into(), "7".into()),
            ("LINES".into(), "7".into()),
            ("TERM".into(), "dumb".into()),
        ]),
        ..LauncherOptions::default()
    });
    let launcher = launcher.unwrap();
    for (command, expected) in [
        (terminal(script), "xterm-256color none none\n"),
        (terminal(script).env_clear(), "xterm-256color none none\n"),
        (terminal(script).env("TERM", "vt100"), "vt100 none none\n"),
    ] {
        let process = launcher.start(command).await.unwrap();
        process.wait().await;
        assert_eq!(text(&process), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_see_its_size_and_every_resize() {
    // A shell runs its trap when the command in its foreground is over, so that it must wait by itself.
    let script =
        "stty size; trap 'stty size' WINCH; echo ready; while :; do sleep 1000 & wait; done";
    let command = shell(script).terminal(TerminalSize { rows: 5, cols: 33 });
    let process = launcher().start(command).await.unwrap();
    eventually("it is ready", || text(&process).ends_with("ready\n"));
    let terminal = process.terminal().unwrap();
    assert_eq!(terminal.size(), TerminalSize { rows: 5, cols: 33 });
    terminal
        .resize(TerminalSize {
            rows: 50,
            cols: 132,
        })
        .unwrap();
    eventually("it saw the change", || {
        text(&process) == "5 33\nready\n50 132\n"
    });
    terminal.resize(TerminalSize { rows: 0, cols: 0 }).unwrap();
    assert_eq!(terminal.size(), TerminalSize { rows: 1, cols: 2 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_terminal_takes_lines_in_utf8_and_shows_them() {
    let process = launcher()
        .start(terminal("stty -a; exec cat"))
        .await
        .unwrap();
    settles(&process).await;
    assert!(text(&process).contains(" iutf8"), "{}", text(&process));
    let terminal = process.terminal().unwrap();
    let expected = Modes {
        canonical: true,
        echo: true,
    };
    assert_eq!(terminal.modes(), expected);
    let before = process.output().position();
    process.write("grüße\n".as_bytes()).unwrap();
    settles(&process).await;
    let text = text(&process);
    assert!(before > 0 && text.ends_with("grüße\ngrüße\n"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_is_typed() {
    for (typed, times) in [("", 0), ("line\n", 2), ("part of a line", 2)] {
        let process = launcher()
            .start(Command::new("cat").terminal(TerminalSize::default()))
            .await
            .unwrap();
        process.write(typed.as_bytes()).unwrap();
        process.close_stdin();
        assert_eq!(process.wait().await, Exit::Code(0));
        let text = text(&process);
        let shown = text.matches(|it: char| it.is_alphabetic()).count();
        let letters = typed.matches(|it: char| it.is_alphabetic()).count();
        assert_eq!(shown, letters * times, "once typed, once answered: {text}");
        assert_eq!(process.write(b"x"), Err(WriteError::Exited));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_ends_only_who_reads() {
    let process = launcher()
        .start(terminal("cat; read line; echo got $line"))
        .await
        .unwrap();
    settles(&process).await;
    process.write(b"unfinished").unwrap();
    process.close_stdin();
    settles(&process).await;
    process.write(b"more\n").unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    assert!(text(&process).ends_with("got more\n"), "{}", text(&process));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_interrupts_who_is_in_the_foreground() {
    let process = launcher()
        .start(terminal("echo ready; while :; do :; done"))
        .await
        .unwrap();
    eventually("it loops", || process.output().written() > 0);
    process.write(b"\x03").unwrap();
    assert_eq!(process.wait().await, Exit::Signal(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signals_go_to_the_foreground() {
    let command = Command::new("bash")
        .args(["--norc", "--noprofile", "-i"])
        .env("PS1", "$ ")
        .grace(GRACE)
        .terminal(TerminalSize::default());
    let process = launcher().start(command).await.unwrap();
    settles(&process).await;
    let token = token();
    process
        .write(format!("sleep {token}; echo code $?\n").as_bytes())
        .unwrap();
    eventually("it runs", || alive(&token).len() == 1);
    process.signal(Signal::Terminate).unwrap();
    settles(&process).await;
    let text = text(&process);
    assert!(text.contains("code 143\n"), "{text}");
    assert_eq!(process.exit(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_is_answered_before_it_settles() {
    let script = "trap 'echo caught' INT; echo ready; while :; do read line; done";
    let process = launcher().start(terminal(script)).await.unwrap();
    settles(&process).await;
    for count in 1..20 {
        process.signal(Signal::Interrupt).unwrap();
        settles(&process).await;
        assert_eq!(text(&process).matches("caught").count(), count);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_written_before_the_exit_is_read() {
    let launcher = launcher();
    for length in [0, 1, 4095, 4096, 4097, 65_536, 300_000] {
        let process = launcher
            .start(terminal(&format!("head -c {length} /dev/zero")))
            .await
            .unwrap();
        assert_eq!(process.wait().await, Exit::Code(0));
        assert_eq!(process.output().written(), length);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_megabytes_come_through() {
    let process = launcher()
        .start(terminal("head -c 20000000 /dev/zero"))
        .await
        .unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    assert_eq!(process.output().written(), 20_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn much_is_typed_at_a_program_that_takes_its_time() {
    let script = "stty raw -echo; echo ready; sleep 0.2; exec head -c 700000 | md5sum";
    let process = launcher().start(terminal(script)).await.unwrap();
    eventually("it is ready", || process.output().written() > 0);
    let bytes: Vec<u8> = (0..700_000_u32).map(|it| b'a' + (it % 23) as u8).collect();
    process.write(&bytes).unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("typed");
    std::fs::write(&path, &bytes).unwrap();
    let expected = run(&format!("md5sum <'{}'", path.display())).await;
    let told = text(&process);
    assert_eq!(
        told.split_whitespace().nth(1),
        expected.split_whitespace().next()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_children_on_the_terminal_do_not_delay_the_exit() {
    let token = token();
    let script = format!("trap '' HUP; (sleep {token}; :) & echo ok");
    let process = launcher().start(terminal(&script)).await.unwrap();
    let exit = tokio::time::timeout(MAX, process.wait()).await;
    assert_eq!(exit, Ok(Exit::Code(0)));
    assert_eq!(text(&process), "ok\n");
    eventually("it is left", || !alive(&token).is_empty());
    assert!(process.end(GRACE).await.ended >= 1);
    assert_eq!(alive(&token), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_leaves_none_and_counts_them() {
    let token = token();
    let process = launcher().start(terminal(&victim(&token))).await.unwrap();
    up(&token);
    let receipt = process.end(GRACE).await;
    assert_eq!(alive(&token), []);
    assert_eq!(receipt.ended, VICTIMS);
    assert_eq!(receipt.survivors, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interactive_shell_ends_without_waiting_for_the_grace() {
    let command = Command::new("bash")
        .args(["--norc", "--noprofile", "-i"])
        .terminal(TerminalSize::default());
    let process = launcher().start(command).await.unwrap();
    settles(&process).await;
    let start = Instant::now();
    let receipt = process.end(Duration::from_mins(10)).await;
    assert!(start.elapsed() < MAX);
    assert_eq!(receipt.ended, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_may_clean_up_within_the_grace() {
    let script = "trap 'sleep 0.1; echo cleaned; exit 7' TERM; echo ready; while :; do :; done";
    let process = launcher().start(terminal(script)).await.unwrap();
    eventually("it is ready", || process.output().written() > 0);
    process.end(Duration::from_mins(10)).await;
    assert_eq!(process.exit(), Some(Exit::Code(7)));
    assert_eq!(text(&process), "ready\ncleaned\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_it_hangs_up_and_ends_the_tree() {
    hangs_up(&launcher()).await;
}

async fn hangs_up(launcher: &Launcher) {
    let folder = tempfile::tempdir().unwrap();
    let heard = folder.path().join("heard");
    let token = token();
    // It does not mind being asked to end, so that only the hang-up can be what it heard.
    let script = format!(
        "trap : TERM; trap 'echo >>\"{}\"' HUP; echo ready; while :; do sleep {token} & wait; done",
        heard.display()
    );
    // Longer than hearing of it takes; a `sleep` that was just being made may miss that it is asked to end.
    let command = terminal(&script).grace(Duration::from_secs(20));
    let process = launcher.start(command).await.unwrap();
    eventually("it is ready", || process.output().written() > 0);
    let program = process.pid();
    drop(process);
    eventually("it heard of it", || heard.exists());
    crate::support::kill(program);
    none_left(&token);
}

#[test]
fn a_killed_runtime_leaves_none() {
    let token = token();
    let probe = Probe::start_on_terminal(&victim(&token));
    up(&token);
    let shim = parent(probe.program);
    probe.kill();
    none_left(&token);
    eventually("the shim is gone", || {
        stat(shim).is_none_or(|(state, _)| state == 'Z')
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tap_sees_everything_in_order_and_answers() {
    // What a program asks a terminal: where is the cursor?
    let script =
        "stty -echo -icanon; printf '\\033[6n'; IFS= read -r -n 6 answer; echo \"got ${#answer}\"";
    let seen = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let tap = {
        let seen = Arc::clone(&seen);
        move |bytes: &[u8]| {
            seen.lock().extend_from_slice(bytes);
            if bytes.ends_with(b"\x1b[6n") {
                b"\x1b[3;7R".to_vec()
            } else {
                Vec::new()
            }
        }
    };
    let command = Command::new("bash")
        .args(["-c", script])
        .grace(GRACE)
        .terminal_with(TerminalSize::default(), tap);
    let process = launcher().start(command).await.unwrap();
    assert_eq!(process.wait().await, Exit::Code(0));
    assert_eq!(String::from_utf8_lossy(&seen.lock()), "\x1b[6ngot 6\r\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_screen_can_be_the_tap() {
    let screen = Arc::new(parking_lot::Mutex::new(Screen::new(24, 80)));
    let tap = {
        let screen = Arc::clone(&screen);
        move |bytes: &[u8]| screen.lock().feed(bytes)
    };
    let script = "printf 'one\\ntwo'; stty -echo -icanon; printf '\\033[6n'; IFS= read -r -d R answer; stty echo icanon; echo \"${answer#?}\"; read line";
    let command = Command::new("bash")
        .args(["-c", script])
        .grace(GRACE)
        .terminal_with(TerminalSize::default(), tap);
    let process = launcher().start(command).await.unwrap();
    settles(&process).await;
    assert_eq!(screen.lock().rows()[..3], ["one", "two[2;4", ""]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_all_answer() {
    let launcher = launcher();
    let mut tasks = tokio::task::JoinSet::new();
    let answered = Arc::new(AtomicUsize::new(0));
    for number in 0..200 {
        let (launcher, answered) = (launcher.clone(), Arc::clone(&answered));
        tasks.spawn(async move {
            let command = Command::new("cat").terminal(TerminalSize::default());
            let process = launcher.start(command).await.unwrap();
            let line = format!("number {number}\n");
            process.write(line.as_bytes()).unwrap();
            settles(&process).await;
            assert_eq!(text(&process), format!("{line}{line}"));
            answered.fetch_add(1, Ordering::Relaxed);
            while answered.load(Ordering::Relaxed) < 200 {
                tokio::task::yield_now().await;
            }
            process.close_stdin();
            assert_eq!(process.wait().await, Exit::Code(0));
        });
    }
    assert_eq!(tasks.join_all().await.len(), 200);
}

#[test]
fn five_hundred_leave_no_zombie_and_no_descriptor() {
    run_alone("terminal::five_hundred");
}

#[ignore = "counts the descriptors of its process"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred() {
    let launcher = launcher();
    let anchor = launcher.start(shell("sleep 1000")).await.unwrap();
    let zygote = parent(parent(anchor.pid()));
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let children = |pid: u32| {
        let path = format!("/proc/{pid}/task/{pid}/children");
        std::fs::read_to_string(path)
            .unwrap()
            .split_whitespace()
            .count()
    };
    many(&launcher, 2).await;
    let before = open();
    many(&launcher, 25).await;
    // Idle shims are kept, up to four.
    eventually("no descriptor is left", || open() <= before + 4);
    eventually("no shim is left", || children(zygote) <= 1 + 4);
    drop(anchor);
}

async fn many(launcher: &Launcher, rounds: usize) {
    for _ in 0..rounds {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..20 {
            let launcher = launcher.clone();
            tasks.spawn(async move {
                let process = launcher
                    .start(terminal("echo hi; read line"))
                    .await
                    .unwrap();
                settles(&process).await;
                // Some are left by their programs, some ended, some dropped.
                match number % 3 {
                    0 => {
                        process.write(b"\n").unwrap();
                        assert_eq!(process.wait().await, Exit::Code(0));
                    }
                    1 => assert_eq!(process.end(GRACE).await.ended, 1),
                    _ => drop(process),
                }
            });
        }
        tasks.join_all().await;
    }
}

mod plain {
    //! The same without a zygote.
    use super::*;

    fn launcher() -> Launcher {
        let options = LauncherOptions {
            hold_trees: false,
            ..LauncherOptions::default()
        };
        Launcher::new(options).unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn programs_run_on_terminals_too() {
        let script = "tty >/dev/null && : >/dev/tty && read line; echo got $line; read -r line";
        let process = launcher().start(terminal(script)).await.unwrap();
        settles(&process).await;
        process.write(b"it\n").unwrap();
        settles(&process).await;
        assert_eq!(text(&process), "it\ngot it\n");
        assert_eq!(process.end(GRACE).await.ended, 1);
        assert_eq!(process.exit(), Some(Exit::Signal(15)));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn dropping_them_hangs_up() {
        hangs_up(&launcher()).await;
    }

    #[test]
    fn they_outlive_the_zygotes_of_others() {
        run_alone("terminal::plain::beside_a_zygote");
    }

    #[ignore = "looks at the threads of its process"]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn beside_a_zygote() {
        let process = launcher().start(terminal("exec cat")).await.unwrap();
        settles(&process).await;
        let other = crate::support::launcher();
        assert_eq!(
            other.start(shell("")).await.unwrap().wait().await,
            Exit::Code(0)
        );
        drop(other);
        let watchers = || {
            let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
            let names = tasks.filter_map(|it| std::fs::read_to_string(it.path().join("comm")).ok());
            names
                .filter(|name| name.starts_with("windlass-zygote"))
                .count()
        };
        eventually("nobody looks after the zygote any more", || watchers() == 0);
        process.write(b"it\n").unwrap();
        settles(&process).await;
        assert_eq!(text(&process), "it\nit\n");
    }
}
