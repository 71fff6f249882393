//! `windlass gain`: the savings of digests, from the record.
//!
//! Everything that a model has read counts, including omitted lines that it
//! fetched later. It is compared with the same outputs cut to the limit of a
//! reply.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};
use windlass::store::Store;
use windlass_protocol::{Arguments, MessagePart, MessageRecord, PartState, SessionRecord};
use windlass_runtime::{Archive, Page};

use crate::args::{GainArgs, Global};
use crate::print::{self, Listing, Printer, Tone, cell, column};
use crate::reach;
use crate::sessions::find;

/// The approximate number of bytes per token.
const BYTES_PER_TOKEN: u64 = 4;

pub(crate) async fn run(global: &Global, args: GainArgs) -> anyhow::Result<ExitCode> {
    let store = windlass::open_record().context("the record cannot be opened")?;
    let sessions = if let Some(id) = &args.session {
        vec![find(&store, id).await?]
    } else {
        let page = Page {
            before: None,
            limit: args.limit,
        };
        store.sessions(page).await?
    };
    let mut gains = Vec::new();
    for session in sessions {
        let tools = by_tool(&messages(&store, &session).await?);
        if !tools.is_empty() {
            gains.push((session, tools));
        }
    }
    let printer = Printer::new(global);
    if printer.is_json {
        print::json(&as_json(&gains))?;
    } else {
        printer.list(Value::Null, &listing(&gains))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Sums over the calls of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Gain {
    calls: u64,
    /// Calls with a digested reply.
    digested: u64,
    /// The bytes of the replies.
    read: u64,
    /// The bytes that the replies would have without a digest.
    whole: u64,
}

type ToolGains = BTreeMap<String, Gain>;

impl Gain {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.digested += other.digested;
        self.read += other.read;
        self.whole += other.whole;
    }

    /// The savings in percent. Negative if the omitted lines were fetched.
    fn percent(self) -> i64 {
        let (read, whole) = (self.read.cast_signed(), self.whole.cast_signed());
        match whole {
            0 => 0,
            whole => (whole - read) * 100 / whole,
        }
    }

    fn to_json(self) -> Value {
        json!({
            "calls": self.calls,
            "digested": self.digested,
            "tokens": self.read / BYTES_PER_TOKEN,
            "tokens_without": self.whole / BYTES_PER_TOKEN,
            "saved_percent": self.percent(),
        })
    }
}

async fn messages(store: &Store, session: &SessionRecord) -> anyhow::Result<Vec<MessageRecord>> {
    let page = Page {
        before: None,
        limit: usize::MAX,
    };
    Ok(store.messages(&session.id, page).await?)
}

fn by_tool(messages: &[MessageRecord]) -> ToolGains {
    let mut tools = ToolGains::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        let MessagePart::Tool(part) = part else {
            continue;
        };
        let gain = match &part.state {
            PartState::Completed(state) => gain_of(&state.output, Some(&state.metadata)),
            PartState::Error(state) => gain_of(&state.error, state.metadata.as_ref()),
            PartState::Pending(_) | PartState::Running(_) => continue,
        };
        tools.entry(part.tool.clone()).or_default().add(gain);
    }
    tools
}

fn gain_of(reply: &str, metadata: Option<&Arguments>) -> Gain {
    let read = reply.len() as u64;
    let digest = metadata.and_then(|metadata| metadata.get("digest"));
    let number = |name: &str| digest.and_then(|digest| digest[name].as_u64());
    let (shown, whole) = (number("shown").unwrap_or(0), number("whole").unwrap_or(0));
    Gain {
        calls: 1,
        digested: u64::from(whole > 0),
        read,
        whole: read.saturating_sub(shown) + whole,
    }
}

fn total(tools: &ToolGains) -> Gain {
    let mut total = Gain::default();
    for gain in tools.values() {
        total.add(*gain);
    }
    total
}

fn as_json(gains: &[(SessionRecord, ToolGains)]) -> Value {
    let mut all = Gain::default();
    let mut sessions = Vec::new();
    for (session, tools) in gains {
        all.add(total(tools));
        let by_tool: serde_json::Map<String, Value> = tools
            .iter()
            .map(|(tool, gain)| (tool.clone(), gain.to_json()))
            .collect();
        sessions.push(json!({
            "session": session.id,
            "total": total(tools).to_json(),
            "tools": by_tool,
        }));
    }
    json!({ "total": all.to_json(), "sessions": sessions })
}

fn listing(gains: &[(SessionRecord, ToolGains)]) -> Listing {
    let columns = [
        column("SESSION"),
        column("TOOL").cut_to(8),
        column("CALLS"),
        column("IN PART"),
        column("TOKENS"),
        column("WITHOUT"),
        column("SAVED"),
        column("TITLE").cut_to(12).spare(1),
    ];
    let empty = "No calls are recorded. Agents, `windlass chat` and `windlass call` record theirs.";
    let mut listing = Listing::new(columns, empty);
    let mut all = Gain::default();
    for (session, tools) in gains {
        all.add(total(tools));
        for (tool, gain) in tools {
            row(
                &mut listing,
                reach::short(session.id.as_str()),
                tool,
                *gain,
                &session.title,
            );
        }
    }
    if !gains.is_empty() {
        row(&mut listing, "all", "", all, "");
        listing.note("Tokens are estimated: four bytes each.");
    }
    listing
}

fn row(listing: &mut Listing, session: &str, tool: &str, gain: Gain, title: &str) {
    let tone = match gain.percent() {
        percent if percent > 0 => Tone::Good,
        percent if percent < 0 => Tone::Waiting,
        _ => Tone::Faint,
    };
    listing.row([
        cell(session),
        cell(tool),
        cell(gain.calls.to_string()),
        cell(gain.digested.to_string()),
        cell((gain.read / BYTES_PER_TOKEN).to_string()),
        cell((gain.whole / BYTES_PER_TOKEN).to_string()),
        cell(format!("{}%", gain.percent())).tone(tone),
        cell(title),
    ]);
}

#[cfg(test)]
#[path = "gain_tests.rs"]
mod tests;
