//! Conversion of rows.

use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};
use serde_json::Value;
use windlass_protocol::{
    Millis, PermissionRule, Role, RuleAction, RuleRecord, RuntimeRecord, SessionId, SessionRecord,
    SessionTime,
};

/// The columns of [`session`], in order.
pub(crate) const SESSION: &str = "id, project, directory, title, version, front_end, runtime, pid, created, updated, ended, parent";

pub(crate) fn session(row: &Row<'_>) -> Result<SessionRecord> {
    Ok(SessionRecord {
        id: session_id(row, 0)?,
        project_id: row.get(1)?,
        directory: row.get(2)?,
        parent_id: maybe_session_id(row, 11)?,
        title: row.get(3)?,
        version: row.get(4)?,
        front_end: row.get(5)?,
        runtime: RuntimeRecord {
            id: row.get(6)?,
            pid: row.get(7)?,
        },
        time: SessionTime {
            created: millis(row, 8)?,
            updated: millis(row, 9)?,
            ended: maybe_millis(row, 10)?,
        },
    })
}

/// The columns of [`rule`], in order.
pub(crate) const RULE: &str = "id, permission, pattern, action, directory, created";

pub(crate) fn rule(row: &Row<'_>) -> Result<RuleRecord> {
    let action: String = row.get(3)?;
    Ok(RuleRecord {
        id: row.get(0)?,
        rule: PermissionRule {
            permission: row.get(1)?,
            pattern: row.get(2)?,
            action: read(3, &Value::String(action).to_string())?,
        },
        directory: row.get(4)?,
        created: millis(row, 5)?,
    })
}

pub(crate) fn session_id(row: &Row<'_>, column: usize) -> Result<SessionId> {
    let id: String = row.get(column)?;
    SessionId::new(id).map_err(|error| unreadable(column, error))
}

fn maybe_session_id(row: &Row<'_>, column: usize) -> Result<Option<SessionId>> {
    let id: Option<String> = row.get(column)?;
    id.map(|id| SessionId::new(id).map_err(|error| unreadable(column, error)))
        .transpose()
}

pub(crate) fn millis(row: &Row<'_>, column: usize) -> Result<Millis> {
    let millis: i64 = row.get(column)?;
    Ok(Millis(millis.max(0).cast_unsigned()))
}

pub(crate) fn maybe_millis(row: &Row<'_>, column: usize) -> Result<Option<Millis>> {
    let millis: Option<i64> = row.get(column)?;
    Ok(millis.map(|millis| Millis(millis.max(0).cast_unsigned())))
}

/// A time as `SQLite` keeps it.
pub(crate) fn number(millis: Millis) -> i64 {
    i64::try_from(millis.0).unwrap_or(i64::MAX)
}

pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("the record's types have string keys")
}

/// Reads a column's JSON.
pub(crate) fn read<T: serde::de::DeserializeOwned>(column: usize, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(column, error))
}

pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

pub(crate) fn role(word: &str) -> Role {
    match word {
        "user" => Role::User,
        _ => Role::Assistant,
    }
}

pub(crate) fn action_word(action: RuleAction) -> &'static str {
    match action {
        RuleAction::Allow => "allow",
        RuleAction::Ask => "ask",
        RuleAction::Deny => "deny",
    }
}

fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
