//! Replies to calls, whose texts are stored once.
//!
//! The part of a call contains its reply. A conversation refers to that part,
//! so that a text is stored once and pruned once. A reply that differs from its
//! part is stored whole.

use std::fs;

use rusqlite::{Connection, OptionalExtension, Result, Row};
use serde::{Deserialize, Serialize};
use windlass_protocol::{CallReply, ErrorView, PartId, PartState, ReplyContent, ToolPart};

use crate::rows::{json, read};

/// Told instead of a text that was pruned.
const PRUNED: &str = "(this output is no longer in the record)";

/// A reply as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredReply {
    /// The part holds the text.
    InPart {
        id: String,
        part: PartId,
        form: ReplyForm,
        is_error: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorView>,
    },
    Whole(CallReply),
}

/// The interpretation of a part's text.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReplyForm {
    Text,
    Json,
}

/// The replies of a message in the form of its row; `None` without replies.
pub(crate) fn stored(
    connection: &Connection,
    message: &str,
    replies: &[CallReply],
) -> Result<Option<String>> {
    if replies.is_empty() {
        return Ok(None);
    }
    let parts: Vec<RecordedText> = connection
        .prepare_cached("SELECT body, output FROM part WHERE message = ? ORDER BY seq")?
        .query_map([message], RecordedText::read)?
        .collect::<Result<_>>()?;
    let stored: Vec<StoredReply> = replies.iter().map(|reply| refer(reply, &parts)).collect();
    Ok(Some(json(&stored)))
}

/// The replies of a row, with their texts.
pub(crate) fn restored(connection: &Connection, stored: &str) -> Result<Vec<CallReply>> {
    let stored: Vec<StoredReply> = read(0, stored)?;
    let replies = stored.into_iter().map(|reply| match reply {
        StoredReply::Whole(reply) => Ok(reply),
        StoredReply::InPart {
            id,
            part,
            form,
            is_error,
            error,
        } => {
            let found = connection
                .prepare_cached("SELECT body, output FROM part WHERE id = ?")?
                .query_row([part.as_str()], RecordedText::read)
                .optional()?;
            let content = found.and_then(|found| content(found.text?, form));
            Ok(CallReply {
                id,
                content: content.unwrap_or_else(|| ReplyContent::Text(PRUNED.to_owned())),
                is_error,
                error,
                extras: windlass_protocol::ReplyExtras::default(),
            })
        }
    });
    replies.collect()
}

fn refer(reply: &CallReply, parts: &[RecordedText]) -> StoredReply {
    let form = match reply.content {
        ReplyContent::Text(_) => ReplyForm::Text,
        _ => ReplyForm::Json,
    };
    let says_the_same = |part: &&RecordedText| {
        let text = part.text.as_ref().filter(|_| part.call == reply.id);
        text.and_then(|text| content(text.clone(), form)).as_ref() == Some(&reply.content)
    };
    match parts.iter().find(says_the_same) {
        Some(part) => StoredReply::InPart {
            id: reply.id.clone(),
            part: part.id.clone(),
            form,
            is_error: reply.is_error,
            error: reply.error.clone(),
        },
        None => StoredReply::Whole(reply.clone()),
    }
}

fn content(text: String, form: ReplyForm) -> Option<ReplyContent> {
    match form {
        ReplyForm::Text => Some(ReplyContent::Text(text)),
        ReplyForm::Json => serde_json::from_str(&text).ok(),
    }
}

/// The reply to a call, as its part contains it.
struct RecordedText {
    id: PartId,
    call: String,
    /// Absent if the call has no reply, or its output was pruned.
    text: Option<String>,
}

impl RecordedText {
    /// Reads the columns `body` and `output` of a part.
    fn read(row: &Row<'_>) -> Result<Self> {
        let part: ToolPart = read(0, &row.get::<_, String>(0)?)?;
        let file: Option<String> = row.get(1)?;
        let text = match part.state {
            PartState::Completed(state) if state.time.compacted.is_none() => Some(state.output),
            PartState::Error(state) => Some(state.error),
            _ => None,
        };
        // A file holds what is too long for the row; without it the row's
        // beginning is what is left.
        let whole = file.and_then(|file| fs::read_to_string(file).ok());
        Ok(Self {
            id: part.id,
            call: part.call_id,
            text: text.map(|text| whole.unwrap_or(text)),
        })
    }
}
