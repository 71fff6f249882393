//! A project in a folder of its own, and the binary working in it.
//!
//! Start at [`Project`]; [`Project::drive`] gives a [`Drive`] to send lines to
//! and read lines from. Nothing here knows what a test is about.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::programs::windlass;

use crate::lease_orders::LEASE_ORDERS;

/// How long anything may take on a machine that has other work too.
pub const DEADLINE: Duration = Duration::from_mins(1);

thread_local! {
    /// The user's own configuration in new projects.
    static OWN_CONFIG: std::cell::RefCell<Option<String>> = const { std::cell::RefCell::new(None) };
}

/// A project with a home of its own. Both are gone when it is dropped. The
/// user trusts whatever it holds when the binary is started.
pub struct Project {
    folder: TempDir,
    is_trusted: bool,
    /// The files that were there when the user last trusted the project.
    trusted: Mutex<Vec<FileState>>,
}

/// A file, how long it is and when it was last written.
type FileState = (PathBuf, u64, SystemTime);

impl Project {
    /// Without any configuration.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project/.windlass", "orders"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let project = Self {
            folder,
            is_trusted: true,
            trusted: Mutex::default(),
        };
        if let Some(config) = OWN_CONFIG.with_borrow(Clone::clone) {
            project.write_own(&config);
        }
        project
    }

    /// Does something in which every new project begins with this as the user's own configuration.
    pub fn each_with<T>(config: String, act: impl FnOnce() -> T) -> T {
        OWN_CONFIG.set(Some(config));
        let done = act();
        OWN_CONFIG.set(None);
        done
    }

    /// As a foreign project, about which the user has not decided.
    pub fn untrusted() -> Self {
        Self {
            is_trusted: false,
            ..Self::new()
        }
    }

    /// The user says nothing of it from now on.
    pub fn distrust(&mut self) {
        self.is_trusted = false;
    }

    /// With this as its `.windlass/config.toml`.
    pub fn with_config(config: &str) -> Self {
        let project = Self::new();
        project.write(".windlass/config.toml", config);
        project
    }

    /// With this as the user's own configuration.
    pub fn with_own_config(config: &str) -> Self {
        let project = Self::new();
        project.write_own(config);
        project
    }

    /// Writes the user's own configuration.
    pub fn write_own(&self, config: &str) {
        let file = self.own_config();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, config).unwrap();
    }

    /// Reads the user's own configuration.
    pub fn read_own(&self) -> String {
        fs::read_to_string(self.own_config()).unwrap()
    }

    fn own_config(&self) -> PathBuf {
        self.folder.path().join("home/config/windlass/config.toml")
    }

    /// The folder that tools run in.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    /// Where the runtime keeps what it must keep.
    pub fn state_dir(&self) -> PathBuf {
        self.folder.path().join("home/state/windlass")
    }

    /// Where the runtime keeps what it could make again.
    pub fn cache_dir(&self) -> PathBuf {
        self.folder.path().join("home/cache/windlass")
    }

    /// Where its processes find the orders of this test, see `lease_orders`.
    pub fn orders_dir(&self) -> PathBuf {
        self.folder.path().join("orders")
    }

    /// Writes a file into the project.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file of the project.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap()
    }

    /// The binary, with nothing of the user's around it.
    pub fn windlass(&self, args: &[&str]) -> Command {
        if self.is_trusted {
            self.trust();
        }
        let mut command = self.bare_windlass(args);
        if let Some(mode) = sandbox_of_tests() {
            let set = format!("conversation.tools.\"*\".sandbox = \"{mode}\"");
            command.env("WINDLASS_SET", set);
        }
        command
    }

    fn bare_windlass(&self, args: &[&str]) -> Command {
        let mut command = self.program(windlass());
        command.args(args);
        command
    }

    /// Trusts the project as it is now, by `windlass trust`, if a file has
    /// changed since it last did. A project that does not load is left to the
    /// binary to judge.
    pub fn trust(&self) {
        if files_below(&self.root().join(".windlass")).is_empty() {
            return;
        }
        let mut trusted = self.trusted.lock().unwrap();
        // Commands may name files anywhere in the project.
        let files: Vec<FileState> = files_below(&self.root())
            .into_iter()
            .filter_map(|path| {
                let metadata = fs::metadata(&path).ok()?;
                Some((path, metadata.len(), metadata.modified().ok()?))
            })
            .collect();
        if *trusted != files {
            let trust = self.bare_windlass(&["trust", "--yes"]).output();
            trust.expect("the binary can be run");
            *trusted = files;
        }
    }

    /// Any program, in the same place.
    pub fn program(&self, program: &str) -> Command {
        let home = self.folder.path().join("home");
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("SHELL", "/bin/sh")
            // Other tests do not sweep its leftovers: this thread is a scope of its own.
            .env("WINDLASS_SWEEP_SCOPE", own_thread())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env(LEASE_ORDERS, self.orders_dir());
        command
    }

    /// Runs the binary to its end, with this as its input. One that does not
    /// end in time is killed, and has no exit code.
    pub fn run(&self, args: &[&str], input: impl AsRef<[u8]>) -> Run {
        let mut child = self
            .windlass(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_owned();
        let writer = std::thread::spawn(move || {
            // It may end without reading all of it.
            let _ = stdin.write_all(&input);
        });
        let pid = child.id();
        let (done, waiting) = mpsc::channel::<()>();
        let watchdog = std::thread::spawn(move || {
            if waiting.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                crate::processes::kill(pid);
            }
        });
        let output = child.wait_with_output().unwrap();
        drop(done);
        watchdog.join().unwrap();
        writer.join().unwrap();
        Run(output)
    }

    /// Runs a command that lists something; returns the list.
    #[track_caller]
    pub fn list(&self, args: &[&str]) -> Vec<Value> {
        let run = self.run(&[&["--json"], args].concat(), "");
        let listed: Value = serde_json::from_str(&run.stdout())
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {}", run.stderr()));
        listed.as_array().expect("a list is an array").clone()
    }

    /// Starts `windlass drive`.
    pub fn drive(&self) -> Drive {
        self.drive_with(&[])
    }

    /// Starts `windlass drive --ask`.
    pub fn drive_asking(&self) -> Drive {
        self.drive_with(&["--ask"])
    }

    fn drive_with(&self, args: &[&str]) -> Drive {
        self.lines(&[&["drive"], args].concat())
    }

    /// Starts a subcommand that takes and returns lines.
    pub fn lines(&self, args: &[&str]) -> Drive {
        self.lines_of(self.windlass(args))
    }

    /// Starts a command that takes and returns lines.
    pub fn lines_of(&self, command: Command) -> Drive {
        let errors = self.folder.path().join("stderr");
        Self::lines_with(command, errors)
    }

    /// Starts one of several such commands, each with errors of its own.
    pub fn raw_lines_of(&self, command: Command) -> Drive {
        let errors = tempfile::Builder::new().tempfile_in(self.folder.path());
        let (_, errors) = errors.unwrap().keep().unwrap();
        Self::lines_with(command, errors)
    }

    fn lines_with(mut command: Command, errors: PathBuf) -> Drive {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    // Dropping the pipe closes the binary's stdout.
                    return;
                }
            }
        });
        Drive {
            stdin: child.stdin.take(),
            child,
            lines: Some(lines),
            errors,
        }
    }
}

/// How the binary ended, and what it printed.
pub struct Run(Output);

impl Run {
    pub fn of(output: Output) -> Self {
        Self(output)
    }

    pub fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// Its output, a JSON value per line.
    pub fn lines(&self) -> Vec<Value> {
        let stdout = self.stdout();
        let lines = stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// A command whose program comes after these words, which execute it.
pub fn prefixed(words: &[String], command: Command) -> Command {
    let [first, more @ ..] = words else {
        return command;
    };
    let mut prefixed = Command::new(first);
    prefixed.args(more).arg(command.get_program());
    prefixed.args(command.get_args()).env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            prefixed.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        prefixed.current_dir(folder);
    }
    prefixed
}

/// A running `windlass drive`. Dropped, it is killed, and everything with it.
pub struct Drive {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Option<Receiver<String>>,
    errors: PathBuf,
}

impl Drive {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line unchanged.
    #[track_caller]
    pub fn send_text(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("the input is not closed yet");
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a value as a line.
    #[track_caller]
    pub fn send(&mut self, value: &Value) {
        self.send_text(&value.to_string());
    }

    /// The next line, within reason.
    #[track_caller]
    pub fn next(&mut self) -> Value {
        let lines = self.lines.as_ref().expect("the output is not closed yet");
        match lines.recv_timeout(DEADLINE) {
            Ok(line) => serde_json::from_str(&line).unwrap(),
            Err(error) => panic!("no line came ({error}); it said:\n{}", self.stderr()),
        }
    }

    /// The next line, unchanged.
    #[track_caller]
    pub fn next_text(&mut self) -> String {
        let lines = self.lines.as_ref().expect("the output is not closed yet");
        lines
            .recv_timeout(DEADLINE)
            .unwrap_or_else(|error| panic!("no line came ({error}): {}", self.stderr()))
    }

    /// Runs calls as one batch; returns the whole answer.
    #[track_caller]
    pub fn run<const N: usize>(&mut self, calls: [Value; N]) -> Value {
        self.send(&Value::from_iter(calls));
        self.next()
    }

    /// Runs a single call; returns its reply.
    #[track_caller]
    pub fn one(&mut self, tool: &str, arguments: Value) -> Value {
        self.run([call(tool, arguments)])["replies"][0].clone()
    }

    /// Runs a single call that must not be an error; returns its content.
    #[track_caller]
    pub fn content(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.one(tool, arguments);
        assert_eq!(reply["is_error"], json!(false), "{reply}");
        reply["content"].clone()
    }

    /// Runs a single call that must be refused or fail; returns what it says.
    #[track_caller]
    pub fn error(&mut self, tool: &str, arguments: Value) -> String {
        let reply = self.one(tool, arguments);
        assert_eq!(reply["is_error"], json!(true), "{reply}");
        reply["content"]
            .as_str()
            .expect("errors are strings")
            .to_owned()
    }

    /// Closes the input.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Stops reading, as a reader that has died.
    pub fn close_output(&mut self) {
        self.lines = None;
    }

    /// Waits for the binary's end.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                start.elapsed() < DEADLINE,
                "it does not end: {}",
                self.stderr()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Makes it say something, whether or not anybody listens; returns how it
    /// ended, if it has.
    pub fn poke(&mut self) -> Option<ExitStatus> {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(b"[]\n");
        }
        std::thread::sleep(Duration::from_millis(2));
        self.child.try_wait().unwrap()
    }

    /// Closes the input, reads everything that is still said and waits for the
    /// end.
    #[track_caller]
    pub fn finish(&mut self) -> (Vec<Value>, Option<i32>) {
        self.close_input();
        let mut rest = Vec::new();
        let lines = self.lines.as_ref().expect("the output is not closed yet");
        loop {
            match lines.recv_timeout(DEADLINE) {
                Ok(line) => rest.push(serde_json::from_str(&line).unwrap()),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {}", self.stderr()),
            }
        }
        (rest, self.wait().code())
    }

    /// Kills the binary, as SIGKILL does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// What it had still said when it died. A line may have been cut off.
    pub fn last_words(&mut self) -> Vec<Value> {
        let lines = self.lines.take().expect("the output is not closed yet");
        lines
            .iter()
            .filter_map(|line| serde_json::from_str(&line).ok())
            .collect()
    }

    pub fn stderr(&self) -> String {
        fs::read_to_string(&self.errors).unwrap_or_default()
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A call, for a batch.
pub fn call(tool: &str, arguments: Value) -> Value {
    json!({"tool": tool, "arguments": arguments})
}

/// The spawn of a shell command under an id.
pub fn spawn(id: &str, command: &str) -> Value {
    call(
        "shell",
        json!({"action": "spawn", "id": id, "command": command}),
    )
}

/// The sandbox of the tools of all tests: `WINDLASS_TEST_SANDBOX=workspace` sets it.
pub fn sandbox_of_tests() -> Option<String> {
    std::env::var("WINDLASS_TEST_SANDBOX").ok()
}

/// Waits for a condition that another process makes true.
#[track_caller]
pub fn eventually(what: &str, condition: impl FnMut() -> bool) {
    within(DEADLINE, what, condition);
}

/// The same, within a time of its own.
#[track_caller]
pub fn within(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The folder of the workspace.
pub fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// The target of the link to the calling thread in `/proc`.
fn own_thread() -> PathBuf {
    fs::read_link("/proc/thread-self").unwrap_or_default()
}

/// The files below a folder, however deep; none when it is not there.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let below = |path: PathBuf| {
        if path.is_dir() && !path.is_symlink() {
            files_below(&path)
        } else {
            vec![path]
        }
    };
    entries
        .flatten()
        .flat_map(|entry| below(entry.path()))
        .collect()
}

/// A number on each line.
pub fn lines_of(numbers: std::ops::RangeInclusive<u32>) -> String {
    let lines: Vec<String> = numbers.map(|number| number.to_string()).collect();
    lines.join("\n") + "\n"
}
