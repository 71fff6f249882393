//! The runtime under test: the facade with tools from a config file, in a
//! temporary directory.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass::Windlass;
use windlass::config::LoadOptions;
use windlass_process::{Launcher, LauncherOptions};
use windlass_protocol::{BatchReply, HandleState, HandleView, ReplyContent};
use windlass_runtime::{Attendance, RunOptions, Session, SessionOptions};
use windlass_testing::batch;

/// The tools. Each has a typed parameter, so that no program is queried for its
/// schema.
const CONFIG: &str = r#"
# What the record costs is measured by itself.
[conversation]
record = false

# Ends at once.
[conversation.tools.nothing]
source = "local"
command = "/bin/true"
parameters = {}
[conversation.tools.nothing.spawn]
stateful = true

# Ends at once, and is given its name only, whatever its argument is.
[conversation.tools.ignoring]
source = "local"
command = "/bin/true {{tool.name}}"
parameters.unused = { type = "string" }

# Does nothing for a long time.
[conversation.tools.idle]
source = "local"
command = "/bin/sleep 1000"
parameters = {}
[conversation.tools.idle.spawn]
stateful = true

# The same, and says who it is.
[conversation.tools.named]
source = "local"
command = { program = "echo $$; exec sleep 1000", shell = true }
parameters = {}
[conversation.tools.named.spawn]
stateful = true

# Prints a file.
[conversation.tools.print]
source = "local"
command = "/bin/cat {{tool.arguments.path}}"
parameters.path = { type = "string", required = true }
"#;

/// A runtime and its directory.
pub(super) struct Fixture {
    windlass: Windlass,
    folder: TempDir,
}

impl Fixture {
    /// Creates it.
    pub(super) async fn new() -> Self {
        Self::with("").await
    }

    /// Creates it with additional configuration.
    pub(super) async fn with(more: &str) -> Self {
        let folder = TempDir::new().expect("a folder can be made");
        let own = folder.path().join("windlass");
        std::fs::create_dir(&own).expect("a folder can be made");
        std::fs::write(own.join("config.toml"), [CONFIG, more].concat())
            .expect("a file can be written");
        let options = LoadOptions {
            cwd: folder.path().to_owned(),
            config_home: Some(folder.path().to_owned()),
            ..LoadOptions::default()
        };
        let windlass = Windlass::load(&options).await;
        let windlass = windlass.unwrap_or_else(|error| panic!("{:#}", anyhow::Error::from(error)));
        Self { windlass, folder }
    }

    /// Writes and removes a file, so that the kernel has free pages for a log of this size. In a virtual machine, the first
    /// use of a page takes up to eight times as long as writing it again, and a log would be measured by that. Where free
    /// pages are returned to the hypervisor at once, this helps only in part: compare with a floor that also writes a file.
    pub(super) fn free_pages(&self, bytes: u64) {
        let path = self.folder.path().join("pages");
        let mut file = std::fs::File::create(&path).expect("a file can be made");
        let block = vec![1; 1 << 20];
        for _ in 0..(bytes * 4) >> 20 {
            file.write_all(&block).expect("there is room");
        }
        drop(file);
        std::fs::remove_file(&path).expect("it was made");
    }

    /// A session without a user, with its logs in the directory.
    pub(super) fn session(&self) -> Session {
        self.session_with(SessionOptions::default())
    }

    /// A session with these options.
    pub(super) fn session_with(&self, options: SessionOptions) -> Session {
        self.windlass.session(SessionOptions {
            trusted: true,
            log_dir: Some(self.folder.path().join("logs")),
            ..options
        })
    }

    /// A session whose requests wait for a user.
    pub(super) fn attended(&self) -> Session {
        self.windlass.session(SessionOptions {
            attendance: Attendance::Attended,
            log_dir: Some(self.folder.path().join("logs")),
            ..SessionOptions::default()
        })
    }

    /// The runtime of the sessions.
    pub(super) fn runtime(&self) -> &windlass_runtime::Runtime {
        self.windlass.runtime()
    }

    /// The directory, for files of a benchmark.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

/// A launcher without a runtime.
pub(super) fn launcher() -> Launcher {
    let launcher = Launcher::new(LauncherOptions::default()).expect("programs can be started");
    assert!(
        launcher.holds_trees(),
        "without trees nothing here would mean anything"
    );
    launcher
}

/// Runs one call, which must succeed.
pub(super) async fn call(session: &Session, tool: &str, arguments: Value) -> ReplyContent {
    let reply = session
        .run(batch([(tool, arguments)]), RunOptions::default())
        .await;
    expect_well(&reply);
    let mut replies = reply.replies;
    replies.remove(0).content
}

/// Waits until the program of a handle of `shell` waits for input.
pub(super) async fn at_prompt(session: &Session, id: &str) {
    let fetch = json!({"action": "fetch", "id": id});
    loop {
        let view = view(call(session, "shell", fetch.clone()).await);
        assert_eq!(view.state, HandleState::Running, "`{id}` ended");
        if view.awaiting_input {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Checks that every call was answered and none failed.
pub(super) fn expect_well(reply: &BatchReply) {
    for reply in &reply.replies {
        assert!(!reply.is_error, "{}", reply.content.to_text());
    }
}

/// The handle in a reply.
pub(super) fn view(content: ReplyContent) -> HandleView {
    match content {
        ReplyContent::Handle(view) => *view,
        other => panic!("a handle was expected, not {}", other.to_text()),
    }
}
