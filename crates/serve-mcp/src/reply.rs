//! From a reply of the runtime to a tool's result.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use windlass_protocol::{BatchReply, Notice, ReplyContent};

/// The result that tells the only reply of a batch: what the assistant had not
/// been told yet, then the reply, and both again as structured content if the
/// client is given that.
pub(crate) fn tell(batch: BatchReply, is_structured: bool) -> CallToolResult {
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
    let mut result = if reply.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    if is_structured && !reply.is_error {
        result.structured_content = Some(structured(&reply.content, &notices));
    }
    if let Some(error) = &reply.error {
        let mut value = json!({ "error": error });
        if telling.structured {
            value["output"] = json!(reply.content.to_text());
        }
        result.structured_content = Some(value);
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
