//! Access to the client of a session, for tools.
//!
//! A tool of another MCP server may request the client's model, or report
//! progress and log lines. The runtime passes these from the tool's executor to
//! the front end without reading them.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use windlass_protocol::HandleId;

/// The front end's connection to the client of a session.
#[async_trait]
pub trait SessionClient: Send + Sync + 'static {
    /// Sends these requests to the client together, and returns an answer for
    /// each. With `beside_question`, the tool asks a question at the same time,
    /// which should reach the client together with them.
    async fn ask(
        &self,
        origin: &CallOrigin,
        requests: Vec<ClientRequest>,
        beside_question: bool,
    ) -> Vec<Result<Value, ClientRefusal>>;

    /// Forwards the progress of a call.
    fn progressed(&self, origin: &CallOrigin, progress: ToolProgress);

    /// Forwards a log line.
    fn logged(&self, origin: &CallOrigin, line: ToolLogLine);
}

/// The call that a message of a tool belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOrigin {
    /// The call that started the tool.
    pub call: Arc<str>,
    /// The handle that it runs as.
    pub handle: Option<HandleId>,
}

/// A request of a tool to the session's client. Parameters and answers are as
/// MCP has them.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientRequest {
    /// A message of the client's model.
    Sample(Value),
    /// The folders that the client works in.
    ListRoots,
}

/// The reason why the client does not answer a request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClientRefusal {
    /// The client does not declare support for such requests.
    #[error("the client does not offer {0}")]
    Undeclared(&'static str),
    /// The client answered with an error.
    #[error("{message}")]
    Refused {
        /// The error's code.
        code: i32,
        /// The error's message.
        message: String,
    },
}

/// The progress of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolProgress {
    /// Grows with every report.
    pub progress: f64,
    /// The value at which the call is done, if that is known.
    pub total: Option<f64>,
    /// The tool's words.
    pub message: Option<String>,
}

/// A log line of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolLogLine {
    /// Its level, as MCP names it.
    pub level: String,
    /// The part of the tool that logs.
    pub logger: Option<String>,
    /// The line.
    pub data: Value,
}

/// The client of the session that a tool runs in.
#[derive(Clone)]
pub struct ToolClient {
    pub(crate) client: Arc<dyn SessionClient>,
    pub(crate) origin: CallOrigin,
}

impl ToolClient {
    /// Puts requests to the client, as [`SessionClient::ask`] does.
    pub async fn ask(
        &self,
        requests: Vec<ClientRequest>,
        beside_question: bool,
    ) -> Vec<Result<Value, ClientRefusal>> {
        let answers = self.client.ask(&self.origin, requests, beside_question);
        answers.await
    }

    /// Forwards the progress of the call.
    pub fn progressed(&self, progress: ToolProgress) {
        self.client.progressed(&self.origin, progress);
    }

    /// Forwards a log line.
    pub fn logged(&self, line: ToolLogLine) {
        self.client.logged(&self.origin, line);
    }
}
