//! Taking old things out of the record.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, Result, TransactionBehavior, params};
use windlass_protocol::{Millis, PartState, ToolPart};
use windlass_runtime::ArchiveError;

use crate::mark::RuntimeMark;
use crate::output::folder_of;
use crate::rows::{json, number, read};
use crate::store::Store;

/// The data to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prune {
    /// Whole sessions, with their logs.
    Sessions,
    /// The outputs of their tools; the calls are kept.
    Outputs,
}

/// The removed data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// The number of sessions that were removed, or lost their outputs.
    pub sessions: usize,
    /// The number of calls that were removed, or lost their output.
    pub parts: usize,
}

struct Old {
    id: String,
    logs: Option<String>,
}

impl Store {
    /// Removes data without changes since `before`. Running sessions are kept.
    pub async fn prune(
        &self,
        what: Prune,
        before: SystemTime,
    ) -> std::result::Result<Pruned, ArchiveError> {
        let marks = self.inner.marks();
        let outputs = self.inner.outputs();
        let pruning = self.inner.writer.work(move |connection| {
            let old = old(connection, &marks, Millis::at(before))?;
            let mut pruned = Pruned::default();
            for session in &old {
                pruned.sessions += 1;
                pruned.parts += match what {
                    Prune::Sessions => remove(connection, session)?,
                    Prune::Outputs => compact(connection, session)?,
                };
                // What is no longer spoken of need not go well.
                let _ = fs::remove_dir_all(folder_of(&outputs, &session.id));
                if let Some(logs) = &session.logs {
                    let _ = fs::remove_dir_all(logs);
                }
            }
            Ok(pruned)
        });
        match pruning.await {
            Some(pruned) => pruned.map_err(|error: rusqlite::Error| ArchiveError::new(error)),
            None => Err(ArchiveError::new("nothing can be written any more")),
        }
    }
}

fn old(connection: &Connection, marks: &Path, before: Millis) -> Result<Vec<Old>> {
    let found: Vec<(Old, String, Option<i64>)> = connection
        .prepare("SELECT id, logs, runtime, ended FROM session WHERE updated < ?")?
        .query_map([number(before)], |row| {
            let old = Old {
                id: row.get(0)?,
                logs: row.get(1)?,
            };
            Ok((old, row.get(2)?, row.get(3)?))
        })?
        .collect::<Result<_>>()?;
    let over = found
        .into_iter()
        .filter(|(_, runtime, ended)| ended.is_some() || !RuntimeMark::is_alive(marks, runtime));
    Ok(over.map(|(old, _, _)| old).collect())
}

fn remove(connection: &mut Connection, session: &Old) -> Result<usize> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let parts = transaction
        .query_row(
            "SELECT count(*) FROM part WHERE session = ?",
            [&session.id],
            |row| row.get::<_, i64>(0),
        )
        .optional()?;
    transaction.execute("DELETE FROM session WHERE id = ?", [&session.id])?;
    transaction.commit()?;
    Ok(usize::try_from(parts.unwrap_or(0)).unwrap_or(0))
}

fn compact(connection: &mut Connection, session: &Old) -> Result<usize> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let parts: Vec<(String, String)> = transaction
        .prepare("SELECT id, body FROM part WHERE session = ? AND status = 'completed'")?
        .query_map([&session.id], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_>>()?;
    let mut compacted = 0;
    for (id, body) in parts {
        let mut part: ToolPart = read(1, &body)?;
        let PartState::Completed(state) = &mut part.state else {
            continue;
        };
        if state.time.compacted.is_some() {
            continue;
        }
        state.time.compacted = Some(Millis::at(SystemTime::now()));
        state.output.clear();
        state.attachments = None;
        transaction.execute(
            "UPDATE part SET body = ?, output = NULL WHERE id = ?",
            params![json(&part), id],
        )?;
        compacted += 1;
    }
    transaction.execute("UPDATE session SET logs = NULL WHERE id = ?", [&session.id])?;
    transaction.commit()?;
    Ok(compacted)
}
