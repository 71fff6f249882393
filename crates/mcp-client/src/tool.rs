//! A tool of a server, as an executor and as the job of one call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use regex::Regex;
use serde_json::Value;
use windlass_process::{Cursor, Output, OutputOptions};
use windlass_protocol::{Arguments, Question, ToolError, Typing, View};
use windlass_runtime::{
    Ending, Executor, Job, Reading, Receipt, Reporter, Since, Start, Subject, ToolDefinition,
};

use crate::call::Call;
use crate::follow::Follow;
use crate::result::{self, Answer};
use crate::server::Server;

/// How long a cancelled call may take to tell the server.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);

/// Runs a tool of an MCP server.
pub struct McpTool {
    /// The server.
    pub server: Server,
    /// What the server calls the tool.
    pub tool: String,
    /// How large the log of a call may grow.
    pub log_limit: u64,
}

#[async_trait]
impl Executor for McpTool {
    /// Answers at once: the server may have to be started first, and a call
    /// that waits for that can be aborted like any other.
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let options = OutputOptions {
            log: start.log.clone(),
            log_limit: self.log_limit,
            ..OutputOptions::default()
        };
        let call = Arc::new(Call::new(reporter, options, start.handle.is_some()));
        let follow = Follow {
            server: self.server.clone(),
            call: Arc::clone(&call),
            tool: self.tool.clone(),
        };
        tokio::spawn(run(follow, start));
        Ok(Arc::new(McpJob {
            call,
            cursor: Mutex::default(),
        }))
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments) -> Subject {
        let pattern = serde_json::to_string(args).unwrap_or_default();
        Subject {
            permission: tool.name.clone(),
            patterns: vec![pattern],
            always: vec!["*".to_owned()],
            exact: false,
        }
    }
}

/// Makes the call and tells its end, whatever comes of it.
async fn run(follow: Follow, start: Start) {
    let _ended = EndTold(Arc::clone(&follow.call));
    let call = Arc::clone(&follow.call);
    let overdue = async {
        call.cancelled.cancelled().await;
        tokio::time::sleep(LEAVE_LIMIT).await;
    };
    let result = tokio::select! {
        biased;
        result = follow.run(start.args) => result,
        () = overdue => Err(ToolError::new("cancelled")),
    };
    let answer = match result {
        Ok(result) => result::read(result, start.log.as_deref()),
        Err(error) => error.into(),
    };
    call.end(ending(&call, answer, start.tool.limits.output_limit));
}

/// A result that a reply can hold is passed on exactly. A larger one is cut as
/// any output is.
fn ending(call: &Call, answer: Answer, limit: usize) -> Ending {
    let ending = match answer.result {
        Ok(text) if text.len() > limit => {
            call.say(&text);
            Ending::output()
        }
        Err(error) if error.message.len() > limit => {
            call.say(&error.message);
            Ending::failed("the tool failed; what it said is its output")
        }
        result => Ending::with(result.map(Some)),
    };
    Ending {
        attachments: answer.attachments,
        ..ending
    }
}

/// Tells the end also of a call whose task was dropped.
struct EndTold(Arc<Call>);

impl Drop for EndTold {
    fn drop(&mut self) {
        self.0
            .end(Ending::failed("the call ended without a result"));
    }
}

/// One call.
struct McpJob {
    call: Arc<Call>,
    cursor: Mutex<Cursor>,
}

impl Drop for McpJob {
    fn drop(&mut self) {
        self.call.cancelled.cancel();
    }
}

#[async_trait]
impl Job for McpJob {
    fn read(&self, view: View, limit: usize) -> Reading {
        let mut cursor = self.cursor.lock();
        let output = &self.call.output;
        let excerpt = match view {
            View::New => output.read(&mut cursor, limit),
            View::Screen | View::All => {
                *cursor = Cursor::at(output.position());
                output.read_all(limit)
            }
        };
        let mut text = excerpt.text;
        if text.ends_with('\n') {
            text.pop();
        }
        Reading {
            text,
            omitted_bytes: excerpt.omitted_bytes,
            log: excerpt.log,
            ..Reading::default()
        }
    }

    fn preview(&self, limit: usize) -> String {
        tail(&self.call.output, limit)
    }

    fn last_output(&self) -> Instant {
        let last = self.call.output.last_write();
        last.unwrap_or(self.call.started)
    }

    fn find(&self, pattern: Regex, since: Since) -> BoxFuture<'static, Option<String>> {
        let from = match since {
            Since::LastInput => 0,
            Since::Now => self.call.output.position(),
        };
        Box::pin(self.call.output.find(pattern, from))
    }

    async fn apply(&self, _typing: Typing) -> Result<(), String> {
        Err(
            "a call of an MCP server takes no input while it runs; await it, or abort it"
                .to_owned(),
        )
    }

    async fn answer(&self, _question: &Question, answer: Value) -> Result<(), String> {
        self.call.answer(answer)
    }

    async fn settle(&self, limit: Duration) {
        let _ = tokio::time::timeout(limit, self.call.wait()).await;
    }

    async fn abort(&self, _grace: Duration) -> Receipt {
        self.call.cancelled.cancel();
        self.call.wait().await;
        Receipt::default()
    }
}

/// The end of an output, whole lines where there are any.
fn tail(output: &Output, limit: usize) -> String {
    let from = output.position().saturating_sub(limit as u64);
    let text = output.read(&mut Cursor::at(from), limit.max(256)).text;
    match text.split_once('\n') {
        Some((_, rest)) if from > 0 && !rest.is_empty() => rest.to_owned(),
        _ => text,
    }
}
