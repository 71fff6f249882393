//! Converts a reply of the runtime to a tool's result.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData};
use serde_json::{Value, json};
use windlass_protocol::{BatchReply, Exit, HandleState, HandleView, Notice, ReplyContent};

use crate::blocks::blocks;
use crate::wording::{goes_on, mark};

/// The format of a call's reply for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplyFormat {
    pub(crate) structure: Structure,
    /// The tool, if the call is a one-shot.
    pub(crate) one_shot: Option<String>,
    /// Whether the tool's server declares a schema of its results.
    pub(crate) declares: bool,
}

/// The structured content for a client, beside the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Structure {
    /// Results of a tool that declares their schema.
    pub(crate) results: bool,
    /// The rest of an error, beside its message.
    pub(crate) errors: bool,
    /// Results of another MCP server's tool, unchanged.
    pub(crate) upstream: bool,
}

/// The result for the only reply of a batch: pending notices, then the reply,
/// and both again as structured content if the client gets that. Beside it, the
/// error with which the tool's server refused the call, if it did.
pub(crate) fn format_reply(
    batch: BatchReply,
    format: &ReplyFormat,
) -> (CallToolResult, Option<ErrorData>) {
    let BatchReply {
        replies, notices, ..
    } = batch;
    let Some(mut reply) = replies.into_iter().next() else {
        unreachable!("a batch of one has one reply");
    };
    let refusal = reply.extras.refused.take().map(|refused| {
        let code = ErrorCode(refused.code);
        ErrorData::new(code, refused.message, None)
    });
    let mut content = Vec::new();
    if !notices.is_empty() {
        content.push(ContentBlock::text(format_notices(&notices)));
    }
    if let (ReplyContent::Handle(view), Some(tool)) = (&mut reply.content, &format.one_shot) {
        note(view, tool);
    }
    content.push(ContentBlock::text(reply.content.to_text()));
    content.extend(blocks(&reply.extras.attachments));
    let mut result = if reply.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    let structure = format.structure;
    if format.declares && matches!(reply.content, ReplyContent::Handle(_)) {
        // It went on as a handle, and clients refuse any result that is not what
        // the tool declares, unless it is an error.
        result.is_error = Some(true);
    }
    let upstream = reply.extras.structured.take();
    let upstream = upstream.filter(|_| structure.upstream && !reply.is_error);
    let upstream = upstream.map(|upstream| *upstream);
    if structure.results && !reply.is_error {
        let mut value = structured(&reply.content, &notices);
        if let Some(upstream) = upstream {
            value["structured"] = upstream;
        }
        result.structured_content = Some(value);
    } else if let Some(upstream) = upstream {
        result.structured_content = Some(upstream);
    }
    if let Some(error) = reply.error.as_ref().filter(|_| structure.errors) {
        let mut value = structured(&reply.content, &notices);
        value["error"] = json!(error);
        result.structured_content = Some(value);
    }
    if let Some(exit) = reply.extras.exit.as_ref().filter(|_| structure.results) {
        let value = result
            .structured_content
            .get_or_insert_with(|| structured(&reply.content, &notices));
        match exit {
            Exit::Code(code) => value["exit_code"] = json!(code),
            Exit::Signal(signal) => value["signal"] = json!(signal),
        }
    }
    (result, refusal)
}

/// Adds a note on a one-shot that outlasted its call and became a handle, which
/// the model has not asked for.
fn note(view: &mut HandleView, tool: &str) {
    if view.state == HandleState::Running && view.note.is_none() {
        view.note = Some(goes_on(view.id.as_str(), tool));
    }
}

/// Writes each notice as an item, between two lines that no tool can print. A
/// notice may quote a tool's output, so further lines are indented: none can
/// imitate another item.
fn format_notices(notices: &[Notice]) -> String {
    let mark = mark();
    let mut text = format!("[{mark}] Notices:");
    for notice in notices {
        let said = notice.text.replace(['\r', '\n'], "\n  ");
        let _ = write!(text, "\n- {said}");
    }
    let _ = write!(text, "\n[{mark}] End of notices.");
    text
}

fn structured(content: &ReplyContent, notices: &[Notice]) -> Value {
    let mut value = match content {
        ReplyContent::Text(text) => json!({ "output": text }),
        other => serde_json::to_value(other)
            .expect("replies hold only strings, numbers, lists and string-keyed maps"),
    };
    if let Value::Object(object) = &mut value
        && !notices.is_empty()
    {
        object.insert("notices".to_owned(), json!(notices));
    }
    value
}
