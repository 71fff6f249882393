//! A session with the tools of the fixture server, and what is seen of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_mcp_client::{McpTool, Reach, ServerError, ServerSpec, ToolListing, UpstreamServer};
use windlass_process::{Launcher, LauncherOptions};
use windlass_protocol::{ActionSet, Batch, BatchReply, Notice, ToolCall};
use windlass_runtime::{Await, Catalogue, RunOptions, Runtime, Session, SessionOptions};

/// How long anything may take on a machine that has other work too.
const DEADLINE: Duration = Duration::from_mins(1);

/// A server whose tools are all offered, to a session that is trusted.
pub(crate) struct Stage {
    pub(crate) session: Session,
    pub(crate) server: UpstreamServer,
    pub(crate) folder: TempDir,
}

/// The fixture server, with these flags and a log of what came to it.
pub(crate) fn fixture(folder: &TempDir, flags: &[&str]) -> Reach {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/server.py");
    let log = folder.path().join("came");
    let mut args = vec![
        script.to_owned(),
        "--log".to_owned(),
        log.display().to_string(),
    ];
    args.extend(flags.iter().map(|flag| (*flag).to_owned()));
    Reach::Program {
        program: "python3".to_owned(),
        args,
        env: Vec::new(),
        cwd: folder.path().to_owned(),
    }
}

pub(crate) fn server(
    catalogue: &Catalogue,
    reach: Reach,
    limit: Option<Duration>,
) -> UpstreamServer {
    let spec = ServerSpec {
        name: "fixture".to_owned(),
        reach,
        startup_timeout: Some(limit.unwrap_or(DEADLINE)),
        lends_clients: true,
    };
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    UpstreamServer::new(spec, launcher, catalogue.announcer().clone())
}

impl Stage {
    pub(crate) async fn new(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let reach = fixture(&folder, flags);
        Self::at(reach, folder, SessionOptions::default()).await
    }

    pub(crate) async fn at(reach: Reach, folder: TempDir, options: SessionOptions) -> Self {
        let mut catalogue = Catalogue::new();
        let server = server(&catalogue, reach, None);
        for tool in server.tools().await.unwrap() {
            let mut definition = tool.definition("fixture");
            definition.shape.actions = ActionSet::all();
            definition.limits.grace = Duration::from_millis(200);
            let executor = McpTool {
                server: server.clone(),
                tool: tool.name,
                log_limit: 1 << 30,
            };
            catalogue.register(definition, Arc::new(executor)).unwrap();
        }
        let waiting = Arc::new(Await);
        catalogue
            .register_builtin(Await::definition(), waiting)
            .unwrap();
        let session = Runtime::new(catalogue).session(SessionOptions {
            trusted: true,
            root: folder.path().to_owned(),
            log_dir: Some(folder.path().join("logs")),
            ..options
        });
        Self {
            session,
            server,
            folder,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a batch of one call.
    pub(crate) async fn batch(&self, tool: &str, arguments: Value) -> BatchReply {
        let batch = Batch {
            id: "b".to_owned(),
            calls: vec![ToolCall {
                id: "c".to_owned(),
                tool: tool.to_owned(),
                arguments: serde_json::from_value(arguments).unwrap(),
            }],
        };
        let reply =
            tokio::time::timeout(DEADLINE, self.session.run(batch, RunOptions::default())).await;
        reply.expect("it is answered in time")
    }

    /// What a call is answered with, an error marked as such.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.batch(tool, arguments).await.replies.remove(0);
        let content = serde_json::to_value(&reply.content).unwrap();
        if reply.is_error {
            json!({ "error": content })
        } else {
            content
        }
    }

    /// Waits for handles to stop; returns the first of them.
    pub(crate) async fn stopped(&self, id: &str) -> Value {
        let reply = self.call("await", json!({"all": [id]})).await;
        reply["completed"][0].clone()
    }

    /// The messages that came to the server, by method.
    pub(crate) fn came(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.path("came")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The notices that come, until one has this in its text.
    pub(crate) async fn notice(&self, part: &str) -> Notice {
        let looking = async {
            loop {
                let notices = self.session.take_notices();
                if let Some(notice) = notices.into_iter().find(|it| it.text.contains(part)) {
                    return notice;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(DEADLINE, looking).await.unwrap()
    }
}

/// Waits for a condition that others make true.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(DEADLINE, waiting).await;
    waited.unwrap_or_else(|_| panic!("never: {what}"));
}

/// What a server that is no use says for itself.
pub(crate) async fn listing(
    flags: &[&str],
    limit: Option<Duration>,
) -> Result<Vec<ToolListing>, ServerError> {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::new();
    let server = server(&catalogue, fixture(&folder, flags), limit);
    server.tools().await
}
