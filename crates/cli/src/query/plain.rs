//! A turn for pipes and scripts: text as it comes, or a JSON value per line.

use std::io;

use serde_json::{Value, json};
use windlass_protocol::{HandleId, visible_line};
use windlass_runtime::{OpenRequest, RequestWatch};

use super::remaining::leased_names;
use super::show::{Show, Shows};
use crate::prompt;
use crate::stdout::{self, errln};

/// The output format of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnFormat {
    /// Only the assistant's text.
    Text,
    /// All events, one JSON value per line.
    Json,
}

/// Writes a turn to its end, or until stdout fails. Questions go to the
/// terminal even if stdout is a pipe. Returns the number of refused calls.
pub(crate) async fn run(
    form: TurnFormat,
    mut shows: Shows,
    mut requests: RequestWatch,
) -> io::Result<usize> {
    let mut at_line_start = true;
    let mut refused = 0;
    loop {
        let show = tokio::select! {
            biased;
            show = shows.next() => match show {
                Some(show) => show,
                None => return Ok(refused),
            },
            Some(open) = requests.next() => {
                ask(&open, &mut shows).await;
                continue;
            }
        };
        if let Show::Answered(reply) = &show {
            let refusals = reply.replies.iter().filter(|reply| reply.extras.is_refusal);
            for reply in refusals {
                refused += 1;
                if form == TurnFormat::Text {
                    errln!("windlass: refused: {}", refusal(&reply.content.to_text()));
                }
            }
        }
        match form {
            TurnFormat::Json => {
                if let Some(event) = event(&show) {
                    write(&format!("{event}\n"))?;
                }
            }
            TurnFormat::Text => match &show {
                Show::Text(text) => {
                    write(text)?;
                    at_line_start = text.ends_with('\n');
                }
                Show::Said if !at_line_start => {
                    write("\n")?;
                    at_line_start = true;
                }
                Show::Again(why) => errln!("windlass: {why}; retrying"),
                Show::Ended(handles) => {
                    let names: Vec<&str> = handles.iter().map(HandleId::as_str).collect();
                    errln!("windlass: ended: {}", names.join(", "));
                }
                Show::Kept(kept) => errln!("windlass: kept: {}", leased_names(kept)),
                _ => {}
            },
        }
    }
}

/// A refusal on one line for the user, without the instructions to the
/// assistant.
fn refusal(text: &str) -> String {
    visible_line(text.trim_end().trim_end_matches("; tell the user"))
}

/// Asks until the request is answered, here or elsewhere, or the turn ends.
async fn ask(open: &OpenRequest, shows: &mut Shows) {
    while open.is_open() {
        tokio::select! {
            biased;
            () = open.closed() => {}
            _ = shows.urgent() => open.give_up(),
            typed = prompt::ask(open.request()) => prompt::deliver(open, typed),
        }
    }
}

fn event(show: &Show) -> Option<Value> {
    Some(match show {
        Show::Text(text) => json!({"event": "text", "text": text}),
        Show::Reasoning(text) => json!({"event": "reasoning", "text": text}),
        Show::Again(why) => json!({"event": "again", "why": why}),
        Show::Running(batch) => json!({"event": "calls", "calls": batch.calls}),
        Show::Answered(reply) => {
            json!({"event": "replies", "replies": reply.replies, "notices": reply.notices})
        }
        Show::Told(notices) => json!({"event": "notices", "notices": notices}),
        Show::Ending => json!({"event": "ending"}),
        Show::InquiryFailed(handles) => json!({
            "event": "inquiry_failed",
            "handles": handles,
            "why": "the model did not decide about these handles, so they were ended",
        }),
        Show::Ended(handles) => json!({"event": "ended", "handles": handles}),
        Show::Kept(kept) => {
            let handles = kept.iter().map(|handle| {
                json!({"id": handle.id, "tool": handle.tool, "lease_secs": handle.lease.as_secs()})
            });
            json!({"event": "kept", "handles": handles.collect::<Value>()})
        }
        Show::Calling
        | Show::Said
        | Show::Begins
        | Show::Idle
        | Show::Lines(_)
        | Show::Switched(_)
        | Show::Attach(_)
        | Show::Interrupted(_)
        | Show::Over => return None,
    })
}

pub(crate) fn write(text: &str) -> io::Result<()> {
    stdout::write(text.as_bytes())
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
