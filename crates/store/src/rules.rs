//! The rules that "always" replies have created for a project. They persist and
//! are shared by all processes.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use rusqlite::{Connection, Result, params};
use windlass_protocol::{Millis, PermissionRule};
use windlass_runtime::RuleBook;

use crate::rows::{self, RULE, action_word, number};
use crate::store::StoreInner;

pub(crate) struct ProjectRules {
    pub(crate) project: String,
    pub(crate) directory: String,
    pub(crate) store: Arc<StoreInner>,
}

#[async_trait]
impl RuleBook for ProjectRules {
    async fn remembered(&self) -> Vec<PermissionRule> {
        let project = self.project.clone();
        let reading = self.store.read(move |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {RULE} FROM rule WHERE project = ? ORDER BY id"
                ))?
                .query_map([project], |row| Ok(rows::rule(row)?.rule))?
                .collect::<Result<Vec<_>>>()
        });
        reading.await.unwrap_or_else(|error| {
            // Without rules the user is asked.
            tracing::error!(%error, "the remembered rules cannot be read");
            Vec::new()
        })
    }

    async fn remember(&self, rules: Vec<PermissionRule>) {
        let (project, directory) = (self.project.clone(), self.directory.clone());
        let remembering = self
            .store
            .writer
            .work(move |connection| insert(connection, &project, &directory, &rules));
        if let Some(Err(error)) = remembering.await {
            tracing::error!(%error, "a rule could not be remembered");
        }
    }
}

fn insert(
    connection: &Connection,
    project: &str,
    directory: &str,
    rules: &[PermissionRule],
) -> Result<()> {
    let now = number(Millis::at(SystemTime::now()));
    let mut statement = connection.prepare_cached(
        "INSERT INTO rule (project, directory, permission, pattern, action, created)
         VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (project, permission, pattern) DO UPDATE SET action = excluded.action",
    )?;
    for rule in rules {
        let action = action_word(rule.action);
        statement.execute(params![
            project,
            directory,
            rule.permission,
            rule.pattern,
            action,
            now
        ])?;
    }
    Ok(())
}
