//! The overhead of a turn: from the last byte of a model's call to the start of
//! the tool's process, and from the start of `query --continue` to the request
//! of a long conversation.
//!
//! The model is scripted and runs on loopback.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::mpsc;
use windlass::Windlass;
use windlass::config::LoadOptions;
use windlass::store::{SessionStart, Store};
use windlass_assistant::{
    Assistant, Audience, Conversation, Heard, Model, ProviderSettings, Providers, system_prompt,
};
use windlass_outside::model::{ModelServer, Script, Turn};
use windlass_protocol::{
    CallReply, ReplyContent, ReplyExtras, Said, SessionId, ToolCall, TurnEvent,
};
use windlass_runtime::{SessionEvent, ToolEvent};

use super::fixture::Fixture;
use super::plan::Pace;
use super::samples::Samples;
use super::startup::binary;
use super::table::{Goal, Line, Quantity, Unit};

/// In microseconds.
const TO_THE_PROCESS: f64 = 2_000.0;
const TO_THE_REQUEST: f64 = 100_000.0;
/// The length of the continued conversation.
const EVENTS: usize = 2_000;

pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let mut lines = vec![call_to_process(pace).await];
    lines.extend(going_on(pace).await);
    lines
}

/// Records when the last byte of the call was sent.
struct Stopwatch<'a> {
    server: &'a ModelServer,
    sent: Mutex<Option<Instant>>,
}

impl Audience for Stopwatch<'_> {
    fn hear(&self, heard: Heard<'_>) {
        if let Heard::Running(_) = heard {
            *self.sent.lock() = self.server.last_sent();
        }
    }
}

async fn call_to_process(pace: Pace) -> Line {
    let server = ModelServer::start(Script::default()).await;
    let server = server.expect("it listens");
    let fixture = Fixture::new().await;
    let model = model(&server).await;
    let session = fixture.session();
    let tools = Assistant::offered(fixture.runtime().tools());
    let assistant = Assistant {
        model,
        system: system_prompt(None, fixture.folder(), &tools),
        max_tokens: None,
        effort: None,
        tools,
        session: session.clone(),
        conversation: Arc::new(Conversation::new()),
    };
    let mut samples = Samples::default();
    let rounds = pace.pick(500, 50);
    for round in 0..rounds + rounds / 10 {
        server.extend([Turn::calls([("nothing", json!({}))]), Turn::text("Done.")]);
        let mut journal = session.journal().tail(session.journal().last());
        let stopwatch = Stopwatch {
            server: &server,
            sent: Mutex::default(),
        };
        let (_nobody, mut interjections) = mpsc::channel(1);
        let turn = assistant.turn("go", &stopwatch, &mut interjections).await;
        turn.expect("the script is followed");
        let started = loop {
            let (_, entry) = journal.next().await.expect("it is still open");
            if let SessionEvent::Tool {
                event: ToolEvent::Started,
                ..
            } = entry.event
            {
                break instant(entry.at);
            }
        };
        let sent = stopwatch.sent.lock().expect("calls were run");
        // The first rounds are a warm-up.
        if round >= rounds / 10 {
            samples.push_time(started.saturating_duration_since(sent));
        }
    }
    session.close().await;
    Line {
        what: "last byte of a model's call to the tool's process".to_owned(),
        measured: Quantity::of(&samples, Unit::Micros),
        floor: None,
        goal: Goal::AtMost(TO_THE_PROCESS),
    }
}

async fn model(server: &ModelServer) -> Arc<dyn Model> {
    let settings = ProviderSettings {
        base_url: Some(server.url()),
        ..ProviderSettings::default()
    };
    let settings = [("ollama".to_owned(), settings)].into_iter().collect();
    let providers = Providers::new(settings, Arc::new(|_: &str| None));
    let model = providers.open("ollama/scripted").await;
    model.unwrap_or_else(|error| panic!("{error}"))
}

/// Converts a wall-clock time to the clock of the measurement.
fn instant(at: SystemTime) -> Instant {
    let now = Instant::now();
    now.checked_sub(at.elapsed().unwrap_or_default())
        .unwrap_or(now)
}

/// `None` if there is no `windlass` binary.
async fn going_on(pace: Pace) -> Option<Line> {
    let windlass = match binary() {
        Ok(binary) => binary,
        Err(problem) => {
            eprintln!("a conversation that goes on is left out: {problem}");
            return None;
        }
    };
    let server = ModelServer::start(Script::default()).await;
    let server = server.expect("it listens");
    let folder = tempfile::tempdir().expect("a folder can be made");
    prepare(&server, folder.path()).await;
    let (mut new, mut long) = (Samples::default(), Samples::default());
    for _ in 0..pace.pick(30, 3) {
        new.push_time(
            until_asked(
                &windlass,
                &server,
                folder.path(),
                &["query", "--session", SHORT, "go"],
            )
            .await,
        );
        long.push_time(
            until_asked(
                &windlass,
                &server,
                folder.path(),
                &["query", "--session", LONG, "go"],
            )
            .await,
        );
    }
    Some(Line {
        what: format!("start of `query` to its request with {EVENTS} events, against 2"),
        measured: Quantity::of(&long, Unit::Millis),
        floor: Some(Quantity::of(&new, Unit::Millis)),
        goal: Goal::AtMost(TO_THE_REQUEST),
    })
}

const SHORT: &str = "ses_short";
const LONG: &str = "ses_long";

/// Writes a config, and two conversations to the record.
async fn prepare(server: &ModelServer, folder: &Path) {
    let config = format!(
        "[assistant]\nmodel = \"ollama/scripted\"\n[providers.llm.ollama]\nbase_url = \"{}\"\n",
        server.url()
    );
    let own = folder.join(".config/windlass");
    std::fs::create_dir_all(&own).expect("a folder can be made");
    std::fs::write(own.join("config.toml"), config).expect("it can be written");
    let options = LoadOptions {
        cwd: folder.to_owned(),
        config_home: Some(folder.join(".config")),
        ..LoadOptions::default()
    };
    let windlass = Windlass::load(&options).await;
    let windlass = windlass.unwrap_or_else(|error| panic!("{error}"));
    let store = Store::open(&folder.join(".local/state/windlass/record"));
    let store = store.unwrap_or_else(|error| panic!("{error}"));
    for (id, events) in [(SHORT, 2), (LONG, EVENTS)] {
        let id = SessionId::new(id).expect("it is one");
        let recorder = store.recorder(SessionStart {
            id: id.clone(),
            project_id: windlass.project_id(),
            directory: folder.to_owned(),
            parent: None,
            front_end: "query".to_owned(),
            title: None,
            version: "0".to_owned(),
            logs: None,
        });
        recorder.durable().await;
        let conversation = Conversation::kept(Arc::new(store.clone()), id);
        for number in 0..events {
            let kept = conversation.append(event(number)).await;
            kept.unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

/// Repeats: a user's message, a call, its reply and a word.
fn event(number: usize) -> TurnEvent {
    let said = |said| TurnEvent::Assistant {
        model: "ollama/scripted".to_owned(),
        said: vec![said],
        interrupted: false,
    };
    let id = format!("call_{}", number / 4);
    match number % 4 {
        0 => TurnEvent::User {
            text: "What is in there, and why? ".repeat(10),
            notices: Vec::new(),
        },
        1 => said(Said::Call {
            call: ToolCall {
                id,
                tool: "shell".to_owned(),
                arguments: [("command".to_owned(), json!("ls -la"))]
                    .into_iter()
                    .collect(),
            },
            seal: None,
        }),
        2 => TurnEvent::Replies {
            replies: vec![CallReply {
                id,
                content: ReplyContent::Text("drwxr-xr-x 2 user user 4096 src\n".repeat(20)),
                is_error: false,
                error: None,
                extras: ReplyExtras::default(),
            }],
            notices: Vec::new(),
        },
        _ => said(Said::Text {
            text: "There are files, and the reason is this. ".repeat(10),
        }),
    }
}

/// The time from the start until the whole request has arrived.
#[expect(clippy::disallowed_methods, reason = "a whole runtime is started")]
async fn until_asked(
    windlass: &Path,
    server: &ModelServer,
    folder: &Path,
    arguments: &[&str],
) -> Duration {
    server.extend([Turn::text("Done.")]);
    let before = server.seen().len();
    let start = Instant::now();
    let child = Command::new(windlass)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let mut child = child.expect("it starts");
    let seen = server.wait_for(before + 1).await;
    let asked = seen[before].at.saturating_duration_since(start);
    let ended = tokio::task::spawn_blocking(move || child.wait()).await;
    let ended = ended.expect("it is waited for").expect("it is ours");
    assert!(ended.success());
    asked
}
