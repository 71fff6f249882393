//! Recovery after runtimes that died: unanswered calls, and open requests.

use std::path::Path;

use rusqlite::{Connection, Result, TransactionBehavior, params};
use windlass_protocol::{Decider, DecisionRecord, Millis, ToolPart};

use crate::mark::RuntimeMark;
use crate::rows::{json, maybe_millis, read};

/// Marks the remains of dead runtimes. Another process may do so at the same
/// time.
pub(crate) fn recover(connection: &mut Connection, marks: &Path) -> Result<()> {
    let open = "SELECT DISTINCT runtime FROM session WHERE ended IS NULL";
    let runtimes: Vec<String> = connection
        .prepare(open)?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_>>()?;
    for runtime in runtimes {
        if !RuntimeMark::is_alive(marks, &runtime) {
            bury(connection, &runtime)?;
        }
    }
    RuntimeMark::sweep(marks);
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
        let part: ToolPart = read(1, &body)?;
        let part = part.interrupted(last_seen.unwrap_or(Millis(0)));
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
