//! The server that the official conformance suite is run against: our own, with
//! the tools that the suite's scenarios call by name.
//!
//! It prints its address and serves until its input ends. `cargo xtask
//! conformance` runs the suite. The tools are scripted ones of the runtime, so
//! that everything between them and the wire is what is shipped.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::ListenerExt as _;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use windlass_protocol::{Notice, NoticeKind, NoticeLevel, Parameters, ToolShape};
use windlass_runtime::{Catalogue, RunMode, RunPolicy, Runtime, Session, ToolDefinition};
use windlass_serve_mcp::{HttpOptions, McpOptions, McpServer, Owner, TaskPolicy, http_router};
use windlass_testing::{Scripted, ScriptedJob, question, text_question};

/// Long enough for a call to have become a task.
const LATER: Duration = Duration::from_millis(600);
const A_MOMENT: Duration = Duration::from_millis(60);

type Sessions = Arc<Mutex<Vec<Session>>>;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let sessions = Sessions::default();
    let runtime = Runtime::new(tools(&sessions));
    let factory = {
        let runtime = runtime.clone();
        Arc::new(move |options| {
            let session = runtime.session(options);
            sessions
                .lock()
                .expect("nobody panics with it")
                .push(session.clone());
            session
        })
    };
    let options = McpOptions {
        progress_every: Duration::from_millis(20),
        // The suite wants a task of every call that takes longer than a moment.
        tasks: TaskPolicy::After(Duration::from_millis(250)),
        ..McpOptions::default()
    };
    let server = McpServer::new(runtime, factory, options);
    let (mcp, _sessions) = http_router(&server, HttpOptions::default());
    let router = Router::new()
        .nest_service("/mcp", mcp)
        .layer(middleware::from_fn(anyone));
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let mut input = Vec::new();
    let mut stdin = tokio::io::stdin();
    tokio::select! {
        outcome = axum::serve(listener, router) => outcome,
        ended = stdin.read_to_end(&mut input) => ended.map(drop),
    }
}

async fn anyone(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(Owner("anyone".into()));
    next.run(request).await
}

/// The tools, each with what it does as it starts.
fn tools(sessions: &Sessions) -> Catalogue {
    let mut catalogue = Catalogue::new();
    let mut add = |name: &str, properties: Value, opening: fn(&ScriptedJob)| {
        let tool = Scripted::new();
        tool.opening(opening);
        register(&mut catalogue, name, properties, &tool);
    };
    add("test_simple_text", json!({}), |job| {
        job.end_saying("This is a simple text response for testing.");
    });
    add("test_error_handling", json!({}), |job| {
        job.fail("This tool intentionally returns an error for testing");
    });
    add("test_tool_with_progress", json!({}), |job| {
        later(job, A_MOMENT * 5, |job| job.end_saying("done"));
    });
    add(
        "test_elicitation",
        json!({"message": {"type": "string"}}),
        |job| {
            job.ask(text_question(
                "username",
                job.args()["message"].as_str().unwrap_or("Who?"),
            ));
            job.on_answer(|job, answer| job.end_saying(&format!("User response: {answer}")));
        },
    );
    add("test_input_required_result_elicitation", json!({}), |job| {
        job.ask(text_question("user_name", "What is your name?"));
        job.on_answer(|job, answer| job.end_saying(&format!("Hello, {}!", text(answer))));
    });
    for name in [
        "test_input_required_result_request_state",
        "test_input_required_result_tampered_state",
        "test_streaming_elicitation",
    ] {
        add(name, json!({}), |job| {
            job.ask(question("confirm", "Please confirm"));
            job.on_answer(|job, _| job.end_saying("state-ok"));
        });
    }
    add("test_input_required_result_multi_round", json!({}), |job| {
        job.ask(text_question("step1", "Step 1: What is your name?"));
        job.on_answer(|job, _| match job.answers().len() {
            1 => job.ask(text_question(
                "step2",
                "Step 2: What is your favorite color?",
            )),
            _ => job.end_saying("both steps are done"),
        });
    });
    add_long(&mut add);
    add_logging(&mut catalogue, sessions);
    catalogue
}

/// Those that become tasks.
fn add_long(add: &mut impl FnMut(&str, Value, fn(&ScriptedJob))) {
    add("greet", json!({"name": {"type": "string"}}), |job| {
        job.end_saying(&format!("Hello, {}!", text(&job.args()["name"])));
    });
    add(
        "slow_compute",
        json!({"seconds": {"type": "number"}, "label": {"type": "string"}}),
        |job| {
            let seconds = job.args().get("seconds").and_then(Value::as_f64);
            let time = Duration::from_secs_f64(seconds.unwrap_or(1.0));
            later(job, time.max(LATER), |job| job.end_saying("computed"));
        },
    );
    add("failing_job", json!({}), |job| {
        later(job, LATER, |job| job.fail("the job failed"));
    });
    add(
        "confirm_delete",
        json!({"filename": {"type": "string"}}),
        |job| {
            later(job, LATER, |job| job.ask(question("confirm", "Delete it?")));
            job.on_answer(|job, answer| job.end_saying(&format!("answered {answer}")));
        },
    );
    add("test_tool_with_task", json!({}), |job| {
        job.ask(text_question("user_name", "What is your name?"));
        job.on_answer(|job, answer| {
            let said = format!("Hello, {}!", text(answer));
            later(job, LATER, move |job| job.end_saying(&said));
        });
    });
    add(
        "test_custom_headers",
        json!({"region": {"type": "string", "x-mcp-header": "Region"}}),
        |job| job.end_saying("fine"),
    );
}

/// Those that say something meanwhile.
fn add_logging(catalogue: &mut Catalogue, sessions: &Sessions) {
    let logging = Scripted::new();
    let sessions = Arc::clone(sessions);
    logging.opening(move |job| {
        let (job, sessions) = (job.clone(), Arc::clone(&sessions));
        tokio::spawn(async move {
            for text in ["started", "processing", "completed"] {
                for session in &*sessions.lock().expect("nobody panics with it") {
                    session.notify(notice(text));
                }
                tokio::time::sleep(A_MOMENT).await;
            }
            job.end_saying("logged");
        });
    });
    for name in ["test_tool_with_logging", "test_logging_tool"] {
        register(catalogue, name, json!({}), &logging);
    }
}

fn register(catalogue: &mut Catalogue, name: &str, properties: Value, tool: &Scripted) {
    let Value::Object(properties) = properties else {
        unreachable!("properties are an object");
    };
    let definition = ToolDefinition {
        summary: Some(format!("For the conformance suite: {name}.")),
        shape: ToolShape {
            parameters: Parameters {
                properties: properties.into_iter().collect(),
                additional: true,
                ..Parameters::default()
            },
            ..ToolShape::default()
        },
        run: RunPolicy::starting(RunMode::Unattended),
        ..ToolDefinition::new(name)
    };
    let registered = catalogue.register(definition, tool.executor());
    registered.expect("every name is there once");
}

fn later(job: &ScriptedJob, time: Duration, then: impl FnOnce(&ScriptedJob) + Send + 'static) {
    let job = job.clone();
    tokio::spawn(async move {
        tokio::time::sleep(time).await;
        then(&job);
    });
}

fn notice(text: &str) -> Notice {
    Notice {
        level: NoticeLevel::Info,
        kind: NoticeKind::Server,
        handle: None,
        tool: None,
        text: text.to_owned(),
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
