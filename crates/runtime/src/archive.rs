//! Read access to the record.
//!
//! A session writes with a [`Recorder`](crate::Recorder); others read what
//! sessions of any runtime have written with an [`Archive`]. [`Conversations`]
//! is for front ends with real messages. Stores implement these traits.

use std::path::PathBuf;

use async_trait::async_trait;
use windlass_protocol::{
    ConversationEvent, MessageRecord, NoticeRecord, PartId, PermissionRecord, RuleRecord,
    SessionId, SessionRecord,
};

/// A section of a long list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Only entries older than the session or message with this id.
    pub before: Option<String>,
    /// The maximum number of entries.
    pub limit: usize,
}

impl Default for Page {
    /// The newest hundred.
    fn default() -> Self {
        Self {
            before: None,
            limit: 100,
        }
    }
}

/// The complete output of a part that is too large for the record itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// The record could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[error("the record cannot be read")]
pub struct ArchiveError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

impl ArchiveError {
    /// For this reason.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

/// Reads what sessions have recorded, those of other runtimes included.
#[async_trait]
pub trait Archive: Send + Sync + 'static {
    /// Sessions, the newest first.
    async fn sessions(&self, page: Page) -> Result<Vec<SessionRecord>, ArchiveError>;

    /// One session.
    async fn session(&self, id: &SessionId) -> Result<Option<SessionRecord>, ArchiveError>;

    /// The newest messages of a session before the page's mark, in
    /// chronological order. An output that is stored in a file is truncated in
    /// its part; [`Archive::output`] returns the file.
    async fn messages(
        &self,
        id: &SessionId,
        page: Page,
    ) -> Result<Vec<MessageRecord>, ArchiveError>;

    /// The file with a part's complete output, if it has one.
    async fn output(&self, part: &PartId) -> Result<Option<OutputFile>, ArchiveError>;

    /// The permission requests of a session and their decisions, in order.
    async fn permissions(&self, id: &SessionId) -> Result<Vec<PermissionRecord>, ArchiveError>;

    /// A session's notices, in order.
    async fn notices(&self, id: &SessionId) -> Result<Vec<NoticeRecord>, ArchiveError>;

    /// Every remembered rule, of all projects.
    async fn rules(&self) -> Result<Vec<RuleRecord>, ArchiveError>;

    /// Forgets a remembered rule. False when there is none of that id.
    async fn forget_rule(&self, id: i64) -> Result<bool, ArchiveError>;
}

/// Stores the messages of front ends that have some, event by event.
#[async_trait]
pub trait Conversations: Send + Sync + 'static {
    /// Appends an event to a session's conversation. It is stored when this
    /// resolves.
    async fn append(
        &self,
        session: &SessionId,
        event: ConversationEvent,
    ) -> Result<(), ArchiveError>;

    /// The whole conversation of a session, in order.
    async fn load(&self, session: &SessionId) -> Result<Vec<ConversationEvent>, ArchiveError>;

    /// The newest session of a project that holds a conversation.
    async fn newest(&self, project_id: &str) -> Result<Option<SessionId>, ArchiveError>;
}
