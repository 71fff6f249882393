//! The conversations of front ends that have messages of their own.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Result, Row};
use windlass_protocol::{ConversationEvent, MessageId, SessionId};
use windlass_runtime::{ArchiveError, Conversations};

use crate::reply;
use crate::rows::{self, millis, read, session_id};
use crate::store::Store;
use crate::write::Write;
use crate::writer::WriterCommand;

#[async_trait]
impl Conversations for Store {
    async fn append(
        &self,
        session: &SessionId,
        event: ConversationEvent,
    ) -> std::result::Result<(), ArchiveError> {
        let said = Write::Said {
            session: session.clone(),
            event: Box::new(event),
        };
        self.inner.writer.inbox.put(WriterCommand::Write(said));
        self.inner.writer.durable().await;
        Ok(())
    }

    async fn load(
        &self,
        session: &SessionId,
    ) -> std::result::Result<Vec<ConversationEvent>, ArchiveError> {
        let session = session.to_string();
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT said.message, message.role, said.text, said.payload, said.at, said.replies
                     FROM said JOIN message ON message.id = said.message
                     WHERE said.session = ? ORDER BY said.seq",
                )?
                .query_map([session], |row| event(connection, row))?
                .collect()
        })
        .await
    }

    async fn newest(
        &self,
        project_id: &str,
    ) -> std::result::Result<Option<SessionId>, ArchiveError> {
        let project = project_id.to_owned();
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT id FROM session WHERE project = ? AND parent IS NULL
                     AND EXISTS (SELECT 1 FROM said WHERE said.session = session.id)
                     ORDER BY updated DESC, seq DESC LIMIT 1",
                )?
                .query_row([project], |row| session_id(row, 0))
                .optional()
        })
        .await
    }
}

fn event(connection: &Connection, row: &Row<'_>) -> Result<ConversationEvent> {
    let message: String = row.get(0)?;
    let role: String = row.get(1)?;
    let payload: String = row.get(3)?;
    let replies: Option<String> = row.get(5)?;
    let replies = replies.map(|stored| reply::restored(connection, &stored));
    Ok(ConversationEvent {
        message: MessageId::new(message)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?,
        role: rows::role(&role),
        text: row.get(2)?,
        payload: read(3, &payload)?,
        replies: replies.transpose()?.unwrap_or_default(),
        at: millis(row, 4)?,
    })
}
