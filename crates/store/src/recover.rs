//! What runtimes that died have left: calls that were never answered, and
//! requests that nobody will reply to.

use std::path::Path;

use rusqlite::{Connection, Result, TransactionBehavior, params};
use windlass_protocol::{
    Decider, DecisionRecord, Millis, PartState, PartTimeWithEnd, StateError, ToolPart,
};

use crate::mark::{is_alive, sweep};
use crate::rows::{json, maybe_millis, read};

/// What an interrupted call is answered with in the record.
const INTERRUPTED: &str = "interrupted: the runtime ended before the call did";

/// Marks what the dead have left. Another process may be doing the same.
pub(crate) fn recover(connection: &mut Connection, marks: &Path) -> Result<()> {
    let open = "SELECT DISTINCT runtime FROM session WHERE ended IS NULL";
    let runtimes: Vec<String> = connection
        .prepare(open)?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_>>()?;
    for runtime in runtimes {
        if !is_alive(marks, &runtime) {
            bury(connection, &runtime)?;
        }
    }
    sweep(marks);
    Ok(())
}

fn bury(connection: &mut Connection, runtime: &str) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let parts: Vec<(String, String, Option<Millis>)> = transaction
        .prepare(
            "SELECT part.id, part.body, session.updated FROM part JOIN session ON session.id = part.session
             WHERE part.status IN ('pending', 'running') AND session.runtime = ? AND session.ended IS NULL",
        )?
        .query_map([runtime], |row| {
            Ok((row.get(0)?, row.get(1)?, maybe_millis(row, 2)?))
        })?
        .collect::<Result<_>>()?;
    for (id, body, last_seen) in parts {
        let part = interrupted(read(1, &body)?, last_seen.unwrap_or(Millis(0)));
        transaction.execute(
            "UPDATE part SET status = 'error', body = ? WHERE id = ?",
            params![json(&part), id],
        )?;
    }
    transaction.execute(
        "UPDATE permission SET decision = ?, decided = asked WHERE decision IS NULL AND session IN
             (SELECT id FROM session WHERE runtime = ? AND ended IS NULL)",
        params![
            json(&DecisionRecord::new(Decider::Withdrawn, None)),
            runtime
        ],
    )?;
    transaction.execute(
        "UPDATE session SET ended = updated WHERE runtime = ? AND ended IS NULL",
        [runtime],
    )?;
    transaction.commit()
}

fn interrupted(mut part: ToolPart, last_seen: Millis) -> ToolPart {
    let (input, metadata, start) = match part.state {
        PartState::Pending(state) => (state.input, None, last_seen),
        PartState::Running(state) => (state.input, state.metadata, state.time.start),
        ended @ (PartState::Completed(_) | PartState::Error(_)) => {
            part.state = ended;
            return part;
        }
    };
    part.state = PartState::Error(StateError {
        input,
        error: INTERRUPTED.to_owned(),
        metadata: metadata.or_else(|| part.metadata.clone()),
        time: PartTimeWithEnd {
            start,
            end: last_seen.max(start),
            compacted: None,
        },
    });
    part
}
