//! Programs that outlive the runtime that started them.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType, bind, connect, listen, recv,
    send, socket,
};
use windlass_output::OutputOptions;
use windlass_process::{
    AdoptOptions, Exit, HeldKey, HeldProgram, KeepOptions, Launcher, Process, TakeOverError,
    TerminalSize,
};

use crate::support::{
    DEADLINE, GRACE, VICTIMS, alive, eventually, kill, launcher, none_left, parent,
};
use crate::support::{shell, signal, stat, text, token, up, victim};

/// Longer than any test.
const LEASE: Duration = Duration::from_mins(10);

/// Counts as fast as a shell can.
const COUNT: &str = "i=0; while :; do i=$((i+1)); echo $i; done";

fn output_options(folder: &Path) -> OutputOptions {
    OutputOptions {
        log: Some(folder.join("log")),
        ..OutputOptions::default()
    }
}

/// A runtime in a process of its own, which starts a script or adopts what another one has left.
struct Keeper {
    runtime: Child,
    key: HeldKey,
    program: u32,
}

#[derive(Clone)]
struct Script {
    text: String,
    folder: PathBuf,
    terminal: bool,
}

impl Script {
    fn new(text: &str, folder: &Path) -> Self {
        Self {
            text: text.to_owned(),
            folder: folder.to_owned(),
            terminal: false,
        }
    }

    fn start(&self) -> Keeper {
        Keeper::run(self, None)
    }
}

impl Keeper {
    #[expect(
        clippy::disallowed_methods,
        reason = "the runtime itself is nobody's program"
    )]
    fn run(script: &Script, nonce: Option<&str>) -> Self {
        let mut runtime = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "keep::keeper", "--ignored", "--nocapture"])
            .env("KEEPER_SCRIPT", &script.text)
            .env("KEEPER_FOLDER", &script.folder)
            .env("KEEPER_TERMINAL", if script.terminal { "yes" } else { "" })
            .env("KEEPER_NONCE", nonce.unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(runtime.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(Result::ok);
        let told = lines.find_map(|line| Some(line.split_once("kept=")?.1.to_owned()));
        let told = told.expect("the keeper tells what it keeps");
        let (program, nonce) = told.split_once(' ').unwrap();
        Self {
            program: program.parse().unwrap(),
            key: key(&script.folder, nonce),
            runtime,
        }
    }

    /// The next runtime, which adopts what this one leaves.
    fn succeed(self, script: &Script) -> Self {
        let nonce = hex(&self.key.nonce);
        self.kill();
        Self::run(script, Some(&nonce))
    }

    fn kill(mut self) -> HeldKey {
        self.runtime.kill().unwrap();
        self.runtime.wait().unwrap();
        self.key
    }
}

fn key(folder: &Path, nonce: &str) -> HeldKey {
    let byte = |at: usize| u8::from_str_radix(&nonce[at..at + 2], 16).unwrap();
    HeldKey {
        folder: folder.to_owned(),
        name: "it".to_owned(),
        nonce: std::array::from_fn(|index| byte(index * 2)),
        remote: None,
    }
}

fn hex(nonce: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*nonce))
}

async fn adopt(launcher: &Launcher, key: &HeldKey) -> Result<Process, TakeOverError> {
    let mut options = AdoptOptions::new(output_options(&key.folder));
    options.patience = DEADLINE;
    launcher.adopt(key, options).await
}

/// Asks a holder, which may be slow on a busy machine, for the state of its program.
async fn look_up(key: &HeldKey) -> HeldProgram {
    let begun = std::time::Instant::now();
    loop {
        match key.look_up().await {
            Err(TakeOverError::Silent { .. }) if begun.elapsed() < DEADLINE => {}
            held => return held.unwrap(),
        }
    }
}

/// The code and the version of a request to describe a program.
const DESCRIBE: [u8; 2] = [15, 1];

/// Connects to a holder and sends a request.
fn request(key: &HeldKey, request: [u8; 2], more: &[u8]) -> OwnedFd {
    let address = SocketAddrUnix::new(key.folder.join("it.sock")).unwrap();
    let socket = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    connect(&socket, &address).unwrap();
    let request = [&request, &key.nonce[..], more].concat();
    send(&socket, &request, SendFlags::NOSIGNAL).unwrap();
    socket
}

/// Receives a holder's reply: a status.
#[track_caller]
fn assert_status(holder: &OwnedFd) {
    let mut reply = [0; 256];
    let (length, _) = recv(holder, &mut reply[..], RecvFlags::empty()).unwrap();
    assert_eq!((length > 0, reply[0]), (true, 16));
}

/// Makes a holder end a lease now.
fn expire_lease(key: &HeldKey) {
    let order = b"windlass test order: expire the lease";
    assert_status(&request(key, DESCRIBE, order));
}

/// Not a test: what [`Keeper`] runs.
#[ignore = "the runtimes of the tests about keeping"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeper() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let folder = PathBuf::from(variable("KEEPER_FOLDER"));
    let nonce = variable("KEEPER_NONCE");
    let process = if nonce.is_empty() {
        let mut command = shell(&variable("KEEPER_SCRIPT"))
            .stdin(windlass_process::Stdin::Pipe)
            .merge_output()
            .output(output_options(&folder))
            .keep(KeepOptions {
                lease: LEASE,
                folder: folder.clone(),
                name: "it".to_owned(),
                output: output_options(&folder),
                registration: None,
            });
        if !variable("KEEPER_TERMINAL").is_empty() {
            command = command.terminal(TerminalSize::default());
        }
        let process = launcher().start(command).await.unwrap();
        process.output().keep_log();
        process
    } else {
        let process = adopt(&launcher(), &key(&folder, &nonce)).await.unwrap();
        process.output().keep_log();
        process
    };
    let nonce = hex(&process.held_key().unwrap().nonce);
    println!("kept={} {nonce}", process.pid());
    let _ = std::io::stdout().flush();
    let _ = std::io::stdin().lines().count();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_program_outlives_its_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let script = Script::new(
        &format!("echo begun; read word; echo \"got $word\"; sleep {token}"),
        folder.path(),
    );
    let key = script.start().kill();
    let process = adopt(&launcher(), &key).await.unwrap();
    process.write(b"hello\n").unwrap();
    eventually("it has read", || {
        process.output().raw(0..u64::MAX) == b"begun\ngot hello\n"
    });
    assert_eq!(process.end(GRACE).await.ended, 2);
    assert_eq!(process.exit(), Some(Exit::Signal(15)));
    none_left(&token);
    eventually("its socket is gone", || {
        !folder.path().join("it.sock").exists()
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ended_while_it_was_held_tells_how() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::new(
        "echo first; read word; echo last >&2; exit 7",
        folder.path(),
    );
    let keeper = script.start();
    let program = keeper.program;
    let key = keeper.kill();
    // Its input stays open while it is held; this ends it.
    eventually("the holder has it", || parent(program) != 1);
    let process = adopt(&launcher(), &key).await.unwrap();
    eventually("it has printed", || process.output().written() > 0);
    process.leave().await;
    drop(process);
    kill(program);
    eventually("it has exited", || stat(program).is_none());
    let process = adopt(&launcher(), &key).await.unwrap();
    assert_eq!(process.wait().await, Exit::Signal(9));
    assert_eq!(process.output().raw(0..u64::MAX), b"first\n");
}

/// The numbers that a count has printed, all of them and each once.
#[track_caller]
fn assert_counted(bytes: &[u8]) -> usize {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut last = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if lines.peek().is_none() && !text.ends_with('\n') {
            break;
        }
        last += 1;
        let number: usize = line
            .parse()
            .unwrap_or_else(|_| panic!("`{line}` after {}", last - 1));
        assert_eq!(number, last, "after {}", last - 1);
    }
    last
}

async fn counts_through_deaths(terminal: bool, deaths: u32) {
    let folder = tempfile::tempdir().unwrap();
    let script = Script {
        terminal,
        ..Script::new(COUNT, folder.path())
    };
    let mut keeper = script.start();
    for number in 0..deaths {
        // Each death hits it at another place.
        std::thread::sleep(Duration::from_millis(u64::from(number * 7 % 40)));
        keeper = keeper.succeed(&script);
    }
    let key = keeper.kill();
    let process = adopt(&launcher(), &key).await.unwrap();
    let enough = "1000\n".len() as u64 * 1000;
    eventually("it has counted far enough", || {
        process.output().written() > enough
    });
    process.end(GRACE).await;
    let counted = assert_counted(&process.output().raw(0..u64::MAX));
    assert!(counted >= 1000, "{counted}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_a_pipe_is_lost_or_read_twice() {
    counts_through_deaths(false, 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_of_a_terminal_is_lost_or_read_twice() {
    counts_through_deaths(true, 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_program_never_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::new(
        "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); echo $i; done; exit 3",
        folder.path(),
    );
    let keeper = script.start();
    let program = keeper.program;
    let key = keeper.kill();
    eventually("it has come to its end", || stat(program).is_none());
    let process = adopt(&launcher(), &key).await.unwrap();
    assert_eq!(process.wait().await, Exit::Code(3));
    assert_eq!(assert_counted(&process.output().raw(0..u64::MAX)), 200_000);
}

#[test]
fn the_end_of_a_lease_leaves_none_and_a_receipt() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let keeper = Script::new(&victim(&token), folder.path()).start();
    up(&token);
    let key = keeper.kill();
    assert_eq!(alive(&token).len(), VICTIMS);
    expire_lease(&key);
    none_left(&token);
    let receipt = folder.path().join("it.receipt");
    eventually("the receipt is there", || receipt.exists());
    let receipt = std::fs::read_to_string(receipt).unwrap();
    assert!(
        receipt.starts_with(&format!("{{\"reason\":\"lease\",\"ended\":{VICTIMS},")),
        "{receipt}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_adopters_one_is_told_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let key = Script::new("exec sleep 1000", folder.path()).start().kill();
    let (first, second) = (launcher(), launcher());
    let process = adopt(&first, &key).await.unwrap();
    let options = AdoptOptions::new(output_options(folder.path()));
    match second.adopt(&key, options).await {
        Err(TakeOverError::Busy { owner, .. }) => assert_eq!(owner, std::process::id()),
        other => panic!("{other:?}"),
    }
    process.end(GRACE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_does_not_know_the_nonce_gets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut key = Script::new("exec sleep 1000", folder.path()).start().kill();
    let right = key.nonce;
    key.nonce[0] ^= 1;
    let options = AdoptOptions::new(output_options(folder.path()));
    let refused = launcher().adopt(&key, options).await;
    assert!(
        matches!(refused, Err(TakeOverError::Refused { .. })),
        "{refused:?}"
    );
    key.nonce = right;
    adopt(&launcher(), &key).await.unwrap().end(GRACE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_holder_leaves_none() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let keeper = Script::new(&victim(&token), folder.path()).start();
    up(&token);
    let holder = parent(keeper.program);
    let key = keeper.kill();
    kill(holder);
    none_left(&token);
    let options = AdoptOptions::new(output_options(folder.path()));
    let gone = launcher().adopt(&key, options).await;
    assert!(matches!(gone, Err(TakeOverError::Gone { .. })), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_process_ends_although_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let key = Script::new(&victim(&token), folder.path()).start().kill();
    let process = adopt(&launcher(), &key).await.unwrap();
    up(&token);
    drop(process);
    none_left(&token);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_leaves_what_is_held_alone() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let keeper = Script::new(&victim(&token), folder.path()).start();
    up(&token);
    let program = keeper.program;
    let key = keeper.kill();
    let launcher = launcher();
    let held = look_up(&key).await;
    assert_eq!((held.program, &held.exit), (program, &None));
    assert_eq!(held.holder, parent(program));
    let holders = [held.holder];
    let sweeping = launcher.clone();
    tokio::task::spawn_blocking(move || sweeping.sweep(&holders))
        .await
        .unwrap();
    assert_eq!(alive(&token).len(), VICTIMS);
    let process = adopt(&launcher, &key).await.unwrap();
    assert_eq!(process.end(GRACE).await.ended, VICTIMS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_tells_how_its_program_stands() {
    let folder = tempfile::tempdir().unwrap();
    let key = Script::new("exit 5", folder.path()).start().kill();
    let launcher = launcher();
    let mut held = look_up(&key).await;
    while held.exit.is_none() {
        tokio::task::yield_now().await;
        held = look_up(&key).await;
    }
    assert_eq!(held.exit, Some(Exit::Code(5)));
    assert_eq!(held.owner, None);
    assert!(
        held.left <= LEASE && held.left > LEASE / 2,
        "{:?}",
        held.left
    );
    let process = adopt(&launcher, &key).await.unwrap();
    assert_eq!(process.wait().await, Exit::Code(5));
    let held = look_up(&key).await;
    assert_eq!(held.owner, Some(std::process::id()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_who_asks_at_once_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let key = Script::new("exec sleep 1000", folder.path()).start().kill();
    let holder = look_up(&key).await.holder;
    // Its zygote would continue it.
    let zygote = parent(holder);
    kill(zygote);
    eventually("the zygote is gone", || parent(holder) != zygote);
    signal(holder, rustix::process::Signal::STOP);
    let askers: Vec<_> = (0..6).map(|_| request(&key, DESCRIBE, &[])).collect();
    signal(holder, rustix::process::Signal::CONT);
    for asker in &askers {
        assert_status(asker);
    }
    adopt(&launcher(), &key).await.unwrap().end(GRACE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_that_never_accepts_is_not_taken_for_gone() {
    let folder = tempfile::tempdir().unwrap();
    let address = SocketAddrUnix::new(folder.path().join("it.sock")).unwrap();
    let listener = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    bind(&listener, &address).unwrap();
    listen(&listener, 2).unwrap();
    let key = key(folder.path(), &"0".repeat(32));
    let launcher = launcher();
    // Until no more can wait in its queue, and beyond.
    for _ in 0..10 {
        let mut impatient = AdoptOptions::new(output_options(folder.path()));
        impatient.patience = Duration::from_millis(1);
        let silent = launcher.adopt(&key, impatient).await;
        assert!(
            matches!(silent, Err(TakeOverError::Silent { .. })),
            "{silent:?}"
        );
    }
    drop(listener);
    let gone = adopt(&launcher, &key).await;
    assert!(matches!(gone, Err(TakeOverError::Gone { .. })), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lease_of_a_program_with_limits_ends_too() {
    let folder = tempfile::tempdir().unwrap();
    let token = token();
    let launcher = launcher().limited(windlass_sandbox::ResourceLimits {
        processes: Some(100),
        ..windlass_sandbox::ResourceLimits::default()
    });
    let command = shell(&victim(&token)).keep(KeepOptions {
        lease: LEASE,
        folder: folder.path().to_owned(),
        name: "it".to_owned(),
        output: output_options(folder.path()),
        registration: None,
    });
    let process = launcher.start(command).await.unwrap();
    up(&token);
    let key = process.held_key().unwrap().clone();
    process.leave().await;
    assert_eq!(alive(&token).len(), VICTIMS);
    expire_lease(&key);
    none_left(&token);
    let receipt = folder.path().join("it.receipt");
    eventually("the receipt is there", || receipt.exists());
}

/// Asks a holder as the first arguments say, and prints what the reply is.
const ASK: &str = "import os, socket, sys
folder, nonce, wants = sys.argv[1:]
os.chdir(folder)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect('it.sock')
s.send(bytes([int(wants), 1]) + bytes.fromhex(nonce))
print('reply', s.recv(4096)[0], flush=True)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_knows_the_nonce_gets_nothing() {
    const REFUSED: &str = "reply 14";
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("ask.py");
    std::fs::write(&script, ASK).unwrap();
    // One of the same runtime, once that is dead and the nonce is in a file.
    let nonce_file = folder.path().join("nonce");
    let (at, file) = (folder.path().display(), nonce_file.display());
    let own = format!(
        "while [ ! -e {file} ]; do sleep 0.02; done; \
         env -i setsid -f python3 {at}/ask.py {at} $(cat {file}) 11 > {at}/own 2>&1; exec sleep 1000"
    );
    let key = Script::new(&own, folder.path()).start().kill();
    std::fs::write(&nonce_file, hex(&key.nonce)).unwrap();
    let said = || std::fs::read_to_string(folder.path().join("own")).unwrap_or_default();
    eventually("its own tree is answered", || said().contains('\n'));
    assert_eq!(said().trim(), REFUSED);
    // Those of another runtime, which want to adopt and to look.
    for wants in ["11", "15"] {
        let command = windlass_process::Command::new("python3")
            .args([script.as_os_str(), folder.path().as_os_str()])
            .args([hex(&key.nonce).as_str(), wants]);
        let process = launcher().start(command).await.unwrap();
        process.wait().await;
        assert_eq!(text(&process).trim(), REFUSED);
    }
    adopt(&launcher(), &key).await.unwrap().end(GRACE).await;
}
