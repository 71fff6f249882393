//! A browser that looks at the page of a running `windlass serve`.
//!
//! Start at [`Browser::open`]. It is Debian's Chromium, driven by
//! `tests/page/driver.mjs` a line at a time; what is done and what must be true
//! is the test's. The browsers of one test run at a time: they are heavy.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http_support::Serve;
use crate::support::Project;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A browser with one page. Dropped, it is closed.
pub(crate) struct Browser {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    _data: TempDir,
    /// Of the first browser of a test.
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Browser {
    /// A browser that shows nothing yet.
    pub(crate) fn start(project: &Project) -> Self {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Self::start_in_turn(project, Some(turn))
    }

    /// Another browser of the same test, which shows nothing yet.
    pub(crate) fn beside(_first: &Self, project: &Project) -> Self {
        Self::start_in_turn(project, None)
    }

    fn start_in_turn(project: &Project, turn: Option<MutexGuard<'static, ()>>) -> Self {
        let data = tempfile::tempdir().unwrap();
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/driver.mjs");
        let mut child = project
            .program("page-driver")
            .arg(driver)
            .args([packages(), on_path("chromium")])
            .arg(data.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            _data: data,
            _turn: turn,
        }
    }

    /// A browser that has opened the link that the server prints.
    pub(crate) fn open(project: &Project, serve: &Serve) -> Self {
        let mut browser = Self::start(project);
        browser.follow_link(serve);
        browser
    }

    /// Opens the printed link and waits until the page is live.
    #[track_caller]
    pub(crate) fn follow_link(&mut self, serve: &Serve) {
        let (address, token) = (&serve.address, &serve.token);
        self.goto(&format!("http://{address}/#token={token}"));
        self.wait("#connection[data-state=live]");
    }

    /// Carries a command out; returns its result.
    #[track_caller]
    pub(crate) fn ask(&mut self, command: Value) -> Value {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{command}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("the driver has ended at {command}: {line}"));
        match said.get("ok") {
            Some(result) => result.clone(),
            None => panic!(
                "{command}: {}\nThe page shows:\n{}",
                said["error"].as_str().unwrap_or_default(),
                said["seen"].as_str().unwrap_or_default()
            ),
        }
    }

    #[track_caller]
    pub(crate) fn goto(&mut self, url: &str) {
        self.ask(json!({"command": "goto", "url": url}));
    }

    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        self.ask(json!({"command": "click", "selector": selector}));
    }

    #[track_caller]
    pub(crate) fn fill(&mut self, selector: &str, text: &str) {
        self.ask(json!({"command": "fill", "selector": selector, "text": text}));
    }

    #[track_caller]
    pub(crate) fn press(&mut self, key: &str) {
        self.ask(json!({"command": "press", "key": key}));
    }

    #[track_caller]
    pub(crate) fn type_text(&mut self, text: &str) {
        self.ask(json!({"command": "type", "text": text}));
    }

    /// Waits until something is to be seen.
    #[track_caller]
    pub(crate) fn wait(&mut self, selector: &str) {
        self.ask(json!({"command": "wait", "selector": selector}));
    }

    /// Waits until nothing of it is left.
    #[track_caller]
    pub(crate) fn wait_gone(&mut self, selector: &str) {
        self.ask(json!({"command": "wait", "selector": selector, "state": "hidden"}));
    }

    /// Waits until this is true in the page.
    #[track_caller]
    pub(crate) fn until(&mut self, script: &str) {
        self.ask(json!({"command": "until", "script": script}));
    }

    /// Waits until the terminal that is shown has this text in one of its rows.
    #[track_caller]
    pub(crate) fn until_row(&mut self, text: &str) {
        let text = json!(text);
        self.until(&format!(
            "[...document.querySelectorAll('.rows .row')].some(row => row.textContent.includes({text}))"
        ));
    }

    /// The value of this expression in the page.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        self.ask(json!({"command": "evaluate", "script": script}))
    }

    /// A picture, in the target folder, so that a person can look at it.
    #[track_caller]
    pub(crate) fn screenshot(&mut self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        self.ask(json!({"command": "screenshot", "path": path}));
    }

    /// The violations that axe-core finds on the present page.
    #[track_caller]
    pub(crate) fn is_accessible(&mut self, view: &str) {
        let found = self.ask(json!({"command": "axe"}));
        assert_eq!(found, json!([]), "{view}");
    }

    /// A light or dark window of this size.
    #[track_caller]
    pub(crate) fn look(&mut self, scheme: &str, width: u32, height: u32) {
        self.ask(json!({"command": "look", "scheme": scheme, "width": width, "height": height}));
    }

    /// What was requested, and what went wrong.
    #[track_caller]
    pub(crate) fn seen(&mut self) -> Value {
        self.ask(json!({"command": "seen"}))
    }

    /// No script has failed, and no window has come up.
    #[track_caller]
    pub(crate) fn has_no_problems(&mut self) {
        assert_eq!(self.seen()["problems"], json!([]));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It closes when nothing more can be asked; the whole tree with it.
        self.stdin = None;
        let mut rest = String::new();
        let _ = self.stdout.read_line(&mut rest);
        let _ = self.child.wait();
    }
}

/// The folder of the packages from npm, in whose `bin` the driver's node is.
fn packages() -> PathBuf {
    let node = on_path("page-driver");
    let bin = node.parent().unwrap();
    bin.parent().unwrap().to_owned()
}

fn on_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(program));
    let found = files.find(|file| file.exists());
    found.unwrap_or_else(|| panic!("`{program}` is not on the PATH"))
}
