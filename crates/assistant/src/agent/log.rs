//! The calls of an agent as lines of its output.

use windlass_protocol::{BatchReply, ReplyContent, ToolCall};

/// The maximum length of a call or an error in the output.
const BRIEF: usize = 120;

/// A call in a line.
pub(super) fn call_line(call: &ToolCall) -> String {
    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
    format!("> {} {}", call.tool, brief(&arguments))
}

/// The failed calls of a batch, one line each.
pub(super) fn failures(calls: &[ToolCall], reply: &BatchReply) -> Vec<String> {
    let failed = reply.replies.iter().filter(|reply| reply.is_error);
    failed
        .map(|reply| {
            let call = calls.iter().find(|call| call.id == reply.id);
            let tool = call.map_or("a call", |call| call.tool.as_str());
            format!("! {tool} failed: {}", brief(&content(&reply.content)))
        })
        .collect()
}

fn content(content: &ReplyContent) -> String {
    content.to_text()
}

fn brief(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut brief: String = line.chars().take(BRIEF).collect();
    if brief.len() < text.len() {
        brief.push('…');
    }
    brief
}
