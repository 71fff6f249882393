//! The record, read.

use std::collections::HashMap;
use std::path::PathBuf;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Result, params};
use windlass_protocol::{
    MessageId, MessageInfo, MessagePart, MessageRecord, MessageTime, Millis, NoticeRecord, PartId,
    PartState, PermissionRecord, PermissionTime, RuleRecord, SessionId, SessionRecord, TextPart,
    ToolPart,
};
use windlass_runtime::{Archive, ArchiveError, OutputFile, Page};

use crate::rows::{self, RULE, SESSION, maybe_millis, millis, read};
use crate::store::Store;

type Read<T> = std::result::Result<T, ArchiveError>;

#[async_trait]
impl Archive for Store {
    async fn sessions(&self, page: Page) -> Read<Vec<SessionRecord>> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT {SESSION} FROM session
                 WHERE ?1 IS NULL OR seq < (SELECT seq FROM session WHERE id = ?1)
                 ORDER BY seq DESC LIMIT ?2"
            );
            connection
                .prepare_cached(&sql)?
                .query_map(params![page.before, limit(&page)], rows::session)?
                .collect()
        })
        .await
    }

    async fn session(&self, id: &SessionId) -> Read<Option<SessionRecord>> {
        let id = id.to_string();
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {SESSION} FROM session WHERE id = ?"))?
                .query_row([id], rows::session)
                .optional()
        })
        .await
    }

    async fn messages(&self, id: &SessionId, page: Page) -> Read<Vec<MessageRecord>> {
        let id = id.clone();
        self.read(move |connection| messages(connection, &id, &page))
            .await
    }

    async fn output(&self, part: &PartId) -> Read<Option<OutputFile>> {
        let part = part.to_string();
        let path = self
            .read(move |connection| {
                connection
                    .prepare_cached(
                        "SELECT coalesce(output, json_extract(body, '$.state.metadata.digest.log'))
                         FROM part WHERE id = ?",
                    )?
                    .query_row([part], |row| row.get::<_, Option<String>>(0))
                    .optional()
            })
            .await?;
        let Some(path) = path.flatten().map(PathBuf::from) else {
            return Ok(None);
        };
        // A file that is gone is no output.
        let found = std::fs::metadata(&path).ok();
        Ok(found.map(|found| OutputFile {
            path,
            bytes: found.len(),
        }))
    }

    async fn permissions(&self, id: &SessionId) -> Read<Vec<PermissionRecord>> {
        let id = id.to_string();
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT request, decision, asked, decided FROM permission
                     WHERE session = ? ORDER BY seq",
                )?
                .query_map([id], |row| {
                    let decision: Option<String> = row.get(1)?;
                    Ok(PermissionRecord {
                        request: read(0, &row.get::<_, String>(0)?)?,
                        decision: decision.map(|decision| read(1, &decision)).transpose()?,
                        time: PermissionTime {
                            asked: millis(row, 2)?,
                            decided: maybe_millis(row, 3)?,
                        },
                    })
                })?
                .collect()
        })
        .await
    }

    async fn notices(&self, id: &SessionId) -> Read<Vec<NoticeRecord>> {
        let id = id.to_string();
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT notice, created, delivered FROM notice WHERE session = ? ORDER BY number",
                )?
                .query_map([id], |row| {
                    Ok(NoticeRecord {
                        notice: read(0, &row.get::<_, String>(0)?)?,
                        created: millis(row, 1)?,
                        delivered: maybe_millis(row, 2)?,
                    })
                })?
                .collect()
        })
        .await
    }

    async fn rules(&self) -> Read<Vec<RuleRecord>> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!("SELECT {RULE} FROM rule ORDER BY directory, id"))?
                .query_map([], rows::rule)?
                .collect()
        })
        .await
    }

    async fn forget_rule(&self, id: i64) -> Read<bool> {
        let forgetting = self
            .inner
            .writer
            .work(move |connection| connection.execute("DELETE FROM rule WHERE id = ?", [id]));
        match forgetting.await {
            Some(forgotten) => Ok(forgotten.map_err(ArchiveError::new)? > 0),
            None => Err(ArchiveError::new("nothing can be written any more")),
        }
    }
}

fn limit(page: &Page) -> i64 {
    i64::try_from(page.limit).unwrap_or(i64::MAX)
}

fn messages(connection: &Connection, id: &SessionId, page: &Page) -> Result<Vec<MessageRecord>> {
    let mut found: Vec<(String, String, Millis)> = connection
        .prepare_cached(
            "SELECT id, role, created FROM message WHERE session = ?1
             AND (?2 IS NULL OR seq < (SELECT seq FROM message WHERE id = ?2))
             ORDER BY seq DESC LIMIT ?3",
        )?
        .query_map(params![id.as_str(), page.before, limit(page)], |row| {
            Ok((row.get(0)?, row.get(1)?, millis(row, 2)?))
        })?
        .collect::<Result<_>>()?;
    found.reverse();
    let mut texts = texts(connection, id)?;
    found
        .into_iter()
        .map(|(message, role, created)| {
            let mut parts = texts.remove(&message).unwrap_or_default();
            let calls = calls(connection, &message)?;
            let completed = completed(&calls);
            parts.extend(
                calls
                    .into_iter()
                    .map(|part| MessagePart::Tool(Box::new(part))),
            );
            Ok(MessageRecord {
                info: MessageInfo {
                    id: message_id(message)?,
                    session_id: id.clone(),
                    role: rows::role(&role),
                    time: MessageTime { created, completed },
                },
                parts,
            })
        })
        .collect()
}

fn calls(connection: &Connection, message: &str) -> Result<Vec<ToolPart>> {
    connection
        .prepare_cached("SELECT body FROM part WHERE message = ? ORDER BY seq")?
        .query_map([message], |row| read(0, &row.get::<_, String>(0)?))?
        .collect()
}

/// The time of the last reply, once all calls have one.
fn completed(calls: &[ToolPart]) -> Option<Millis> {
    let ends = calls.iter().map(|part| match &part.state {
        PartState::Completed(state) => Some(state.time.end),
        PartState::Error(state) => Some(state.time.end),
        PartState::Pending(_) | PartState::Running(_) => None,
    });
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// The texts by message.
fn texts(connection: &Connection, id: &SessionId) -> Result<HashMap<String, Vec<MessagePart>>> {
    let mut texts: HashMap<String, Vec<MessagePart>> = HashMap::new();
    let said: Vec<(i64, String, String)> = connection
        .prepare_cached(
            "SELECT seq, message, text FROM said WHERE session = ? AND text IS NOT NULL ORDER BY seq",
        )?
        .query_map([id.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<Result<_>>()?;
    for (seq, message, text) in said {
        let part = TextPart {
            id: PartId::from_suffix(&format!("text{seq}")),
            session_id: id.clone(),
            message_id: message_id(message.clone())?,
            text,
        };
        texts
            .entry(message)
            .or_default()
            .push(MessagePart::Text(part));
    }
    Ok(texts)
}

fn message_id(id: String) -> Result<MessageId> {
    MessageId::new(id).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
