//! From a reply of the runtime to a tool's result.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};
use windlass_protocol::{BatchReply, HandleView, Notice, ReplyContent};

/// How a call's reply is told to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Telling {
    /// The tool declares what its structured content looks like.
    pub(crate) structured: bool,
    /// The call is a handle's whole life, as a task is: a handle that stopped
    /// badly is an error.
    pub(crate) whole_life: bool,
}

/// The result that tells the only reply of a batch: what the assistant had not
/// been told yet, then the reply, and both again as structured content.
pub(crate) fn tell(batch: BatchReply, telling: Telling) -> CallToolResult {
    let BatchReply {
        replies, notices, ..
    } = batch;
    let Some(reply) = replies.into_iter().next() else {
        unreachable!("a batch of one has one reply");
    };
    let mut content = Vec::new();
    if !notices.is_empty() {
        content.push(ContentBlock::text(told(&notices)));
    }
    content.push(ContentBlock::text(reply.content.to_text()));
    let badly = match &reply.content {
        ReplyContent::Handle(view) if telling.whole_life => view.error.is_some(),
        _ => false,
    };
    let mut result = if reply.is_error || badly {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    if let ReplyContent::Handle(view) = &reply.content
        && badly
    {
        result.meta = meta(view);
    }
    if telling.structured && !reply.is_error {
        result.structured_content = Some(structured(&reply.content, &notices));
    }
    result
}

/// Each notice in a line.
fn told(notices: &[Notice]) -> String {
    let mut text = String::from("Notices:");
    for notice in notices {
        let _ = write!(text, "\n- {}", notice.text);
    }
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

/// What a tool's error says beside its message.
fn meta(view: &HandleView) -> Option<MetaObject> {
    let error = view.error.as_ref()?;
    serde_json::from_value(json!({
        "windlass/transient": error.transient,
        "windlass/trace": error.trace,
    }))
    .ok()
}
