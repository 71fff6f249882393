//! Input to programs on a host: its end, its way through lost links, and signals beside it.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use windlass::executors::{Launcher, LauncherOptions};
use windlass::host::{Host, HostOptions};
use windlass_output::{OutputOptions, Screen};
use windlass_outside::needs;
use windlass_process::{
    Command, Exit, KeepOptions, Process, ProgramTerminal, RemoteAdoption, RemoteHost as _, Stdin,
    TerminalSize, WriteError,
};
use windlass_sandbox::{NetworkRule, SandboxMode, SandboxSettings, UnresolvedSandbox};

use crate::processes::far_end_in;
use crate::programs::windlass;
use crate::support::{eventually, lines_of};

/// The numbers of lines that are more than a pipe takes: 400 KB.
const MUCH: RangeInclusive<u32> = 1..=70_000;
const LIMIT: Duration = Duration::from_secs(10);

/// A host, reached by a link of this process.
struct LinkedHost {
    folder: tempfile::TempDir,
    host: Arc<Host>,
    launcher: Launcher,
}

impl LinkedHost {
    fn new() -> Self {
        // Not below `/tmp`, of which a sandbox has its own.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let via = vec![windlass().into(), "host".into()];
        let environment = [
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("XDG_STATE_HOME".into(), folder.path().into()),
            ("XDG_CONFIG_HOME".into(), folder.path().into()),
        ];
        let options = HostOptions::new("there", via, folder.path());
        let host = Arc::new(Host::new(options, Some(environment.to_vec())).unwrap());
        let launcher = Launcher::new(LauncherOptions::default()).unwrap();
        let launcher = launcher.on_host(Arc::<Host>::clone(&host));
        Self {
            folder,
            host,
            launcher,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a script with a pipe as its input.
    async fn start(&self, script: &str) -> Process {
        let command = Command::new("sh").args(["-c", script]).stdin(Stdin::Pipe);
        let command = command.merge_output().cwd(self.path());
        self.launcher.start(command).await.unwrap()
    }

    fn keep(&self) -> KeepOptions {
        KeepOptions {
            lease: Duration::from_mins(1),
            folder: self.path().to_owned(),
            name: String::from("it"),
            output: OutputOptions::default(),
            registration: None,
        }
    }

    /// Leaves a kept program, and adopts it again over the same link.
    async fn adopt_again(&self, process: Process) -> Process {
        let key = process.held_key().unwrap().clone();
        process.leave().await;
        drop(process);
        let adoption = RemoteAdoption {
            wants_output: true,
            ..RemoteAdoption::to_end(key)
        };
        self.host.adopt(adoption).await.unwrap()
    }

    fn far_end(&self) -> Option<u32> {
        far_end_in(&self.path().join("windlass/hosts"))
    }

    /// Ends the far end with a signal, and waits until another has taken over.
    fn replace_far_end(&self, signal: Signal) {
        let first = self.far_end().unwrap();
        let pid = Pid::from_raw(first.cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
        eventually("another far end has taken over", || {
            self.far_end().is_some_and(|pid| pid != first)
        });
    }
}

fn printed(process: &Process) -> String {
    String::from_utf8_lossy(&process.output().raw(0..u64::MAX)).into_owned()
}

#[track_caller]
fn ends_with(process: &Process, expected: &str) {
    eventually("it has read the end of its input", || {
        process.exit().is_some()
    });
    assert_eq!(process.exit(), Some(Exit::Code(0)));
    assert_eq!(printed(process), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_reaches_a_program_on_a_host() {
    let host = LinkedHost::new();
    let process = host.start("cat; echo over").await;
    process.write(b"one\n").unwrap();
    process.close_stdin();
    ends_with(&process, "one\nover\n");
    let process = host.start("cat; echo over").await;
    process.write(b"one\n").unwrap();
    host.replace_far_end(Signal::KILL);
    process.write(b"two\n").unwrap();
    process.close_stdin();
    ends_with(&process, "one\ntwo\nover\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn input_that_is_not_read_yet_arrives_once_after_lost_links() {
    for signals in [
        &[Signal::TERM][..],
        &[Signal::KILL],
        &[Signal::KILL, Signal::TERM, Signal::KILL],
    ] {
        let host = LinkedHost::new();
        let script = "until test -e go; do sleep 0.01; done; cat > heard; echo over";
        let process = host.start(script).await;
        let mut expected = lines_of(MUCH);
        process.write(expected.as_bytes()).unwrap();
        // The far end has handled all orders before this.
        process.settle(LIMIT).await;
        for signal in signals {
            host.replace_far_end(*signal);
            process.write(b"again\n").unwrap();
            expected += "again\n";
            process.settle(LIMIT).await;
        }
        process.close_stdin();
        fs::write(host.path().join("go"), "").unwrap();
        ends_with(&process, "over\n");
        let heard = fs::read_to_string(host.path().join("heard")).unwrap();
        assert_eq!(heard.len(), expected.len(), "{signals:?}");
        assert!(heard == expected, "the bytes differ: {signals:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn input_from_before_an_adoption_by_the_same_process_does_not_swallow_that_after_it() {
    let host = LinkedHost::new();
    let script = "until test -e go; do sleep 0.01; done; cat | tail -n 1";
    let command = Command::new("sh").args(["-c", script]).stdin(Stdin::Pipe);
    let command = command.merge_output().cwd(host.path()).keep(host.keep());
    let process = host.launcher.start(command).await.unwrap();
    // The end of the last order does not fit into the pipe.
    process.write(&vec![b'x'; 70_000]).unwrap();
    process.settle(LIMIT).await;
    let process = host.adopt_again(process).await;
    let line = "y".repeat(20_000);
    process.write(format!("\n{line}\n").as_bytes()).unwrap();
    process.close_stdin();
    fs::write(host.path().join("go"), "").unwrap();
    ends_with(&process, &format!("{line}\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_whose_input_was_closed_refuses_input_after_an_adoption() {
    let host = LinkedHost::new();
    let command = Command::new("sh").args(["-c", "cat; exec sleep 600"]);
    let command = command
        .stdin(Stdin::Pipe)
        .cwd(host.path())
        .keep(host.keep());
    let process = host.launcher.start(command).await.unwrap();
    process.close_stdin();
    process.settle(LIMIT).await;
    let process = host.adopt_again(process).await;
    assert_eq!(process.write(b"more\n"), Err(WriteError::Closed));
    process.end(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_passes_input_that_is_not_read() {
    let host = LinkedHost::new();
    let script = "trap 'echo caught' INT; echo up; while :; do sleep 0.1; done";
    let process = host.start(script).await;
    eventually("it is up", || printed(&process).contains("up"));
    process.write(&vec![b'x'; 1_000_000]).unwrap();
    process.settle(LIMIT).await;
    // Refused if the first input still counts.
    let _ = process.write(&vec![b'x'; 200_000]);
    process.signal(windlass_process::Signal::Interrupt).unwrap();
    eventually("it has caught the signal", || {
        printed(&process).contains("caught")
    });
    // The signal is not repeated.
    host.replace_far_end(Signal::KILL);
    process.settle(LIMIT).await;
    assert_eq!(printed(&process).matches("caught").count(), 1);
    process.end(Duration::ZERO).await;
}

/// Asks the terminal for the position of the cursor in the last cell on each `n`, and prints everything else that is
/// typed.
const ASKS: &str = "
import os, tty
tty.setraw(0)
os.write(1, b'up ')
while True:
    key = os.read(0, 1)
    if key == b'n':
        os.write(1, b'\\x1b[999;999H\\x1b[6n')
        reply = b''
        while not reply.endswith(b'R'):
            reply += os.read(0, 1)
        os.write(1, b'<' + reply[2:-1] + b'>')
    elif key == b'q':
        os.write(1, b'over')
        break
    else:
        os.write(1, b'extra:' + key)
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_query_is_answered_once_and_with_the_size_of_the_terminal() {
    needs!("python3");
    let host = LinkedHost::new();
    let size = |rows, cols| TerminalSize { rows, cols };
    let screen = Arc::new(Mutex::new(Screen::new(24, 80)));
    let near = Arc::clone(&screen);
    let command = Command::new("python3").args(["-c", ASKS]);
    let command = command.terminal_with(size(24, 80), move |bytes| near.lock().feed(bytes));
    let process = host.launcher.start(command).await.unwrap();
    let ask = |reply: &str| {
        let count = || printed(&process).matches(reply).count();
        let before = count();
        process.write(b"n").unwrap();
        eventually(reply, || count() > before);
    };
    let resize = |rows, cols| {
        screen.lock().resize(rows, cols);
        let terminal = process.terminal().unwrap();
        terminal.resize(size(rows, cols)).unwrap();
    };
    eventually("it is up", || printed(&process).contains("up"));
    ask("<24;80>");
    resize(40, 100);
    ask("<40;100>");
    host.replace_far_end(Signal::KILL);
    ask("<40;100>");
    resize(30, 90);
    ask("<30;90>");
    process.write(b"q").unwrap();
    eventually("it has exited", || process.exit().is_some());
    let printed = printed(&process);
    assert!(
        printed.ends_with("over") && !printed.contains("extra"),
        "{printed:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_arguments_do_not_break_the_link() {
    let host = LinkedHost::new();
    let script = "w=$(head -c 100000 /dev/zero | tr '\\0' x)
        exec sh -c 'echo up; read line; echo \"got $line\"' \
        sh $w $w $w $w $w $w $w $w $w $w $w $w $w $w $w";
    let command = Command::new("sh").args(["-c", script]);
    let command = command.terminal(TerminalSize::default());
    let process = host.launcher.start(command).await.unwrap();
    let first = host.far_end();
    eventually("its prompt is known", || {
        let terminal = process.terminal();
        printed(&process).contains("up") && terminal.and_then(ProgramTerminal::prompt).is_some()
    });
    // A program that is not known may be a shell.
    assert_eq!(process.listeners(), None);
    process.write(b"it\n").unwrap();
    eventually("it has read", || printed(&process).contains("got it"));
    assert_eq!(host.far_end(), first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_is_watched_in_its_sandbox_after_a_lost_link() {
    needs!("python3");
    let host = LinkedHost::new();
    let settings = SandboxSettings {
        mode: SandboxMode::Workspace,
        network: NetworkRule::Loopback,
        ..SandboxSettings::default()
    };
    let launcher = host.launcher.confined_on_host(UnresolvedSandbox {
        settings,
        bound: None,
    });
    let script = "import socket; input(); s = socket.create_server((\"127.0.0.1\", 4874)); print(\"up\"); input()";
    let command = Command::new("python3").args(["-u", "-c", script]);
    let command = command.stdin(Stdin::Pipe).merge_output();
    let process = launcher.start(command).await.unwrap();
    let open = process.remote_port_open(4874).unwrap();
    host.replace_far_end(Signal::KILL);
    process.write(b"\n").unwrap();
    eventually("it listens", || printed(&process).contains("up"));
    let opened = tokio::time::timeout(LIMIT, open).await;
    assert!(opened.is_ok(), "the port is not found");
    process.end(Duration::ZERO).await;
}
