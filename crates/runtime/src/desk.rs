//! Where a person's answers come in, whichever way they come.
//!
//! Start at [`Desk`]. Every session that has a [`Person`] has a desk before
//! them: what is asked lies on it, so that any front end can list it and answer
//! it, while the person themselves is asked as before. The first answer wins
//! and the other asking is withdrawn.

use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;
use windlass_protocol::{AnswerError, Ask, PermissionId, PermissionRequest};

use crate::person::{Answered, PermissionDecision, Person};

/// What a session has asked its person and has not been told.
pub struct Desk {
    person: Arc<dyn Person>,
    permissions: Pile<PermissionRequest, PermissionDecision>,
    questions: Pile<Ask, Value>,
}

/// An answer that nobody waits for, or that does not fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DeskError {
    /// The request was replied to, withdrawn, or never made.
    #[error("no permission `{0}` is being asked for; it may have been answered elsewhere")]
    NoPermission(String),
    /// The question was answered, withdrawn, or never asked.
    #[error("no question `{0}` is open; it may have been answered elsewhere")]
    NoQuestion(String),
    /// The question stays open.
    #[error(transparent)]
    Unfit(AnswerError),
    /// The question stays open. What was given is not repeated.
    #[error("question `{0}` asks for a secret, which must be a string")]
    UnfitSecret(String),
}

impl Desk {
    /// A desk before this person.
    pub fn before(person: Arc<dyn Person>) -> Arc<Self> {
        Arc::new(Self {
            person,
            permissions: Pile::default(),
            questions: Pile::default(),
        })
    }

    /// Who sits at it.
    pub fn person(&self) -> &Arc<dyn Person> {
        &self.person
    }

    /// The permissions that are being asked for, oldest first.
    pub fn permissions(&self) -> Vec<PermissionRequest> {
        self.permissions.list()
    }

    /// The questions that are open, oldest first.
    pub fn questions(&self) -> Vec<Ask> {
        self.questions.list()
    }

    /// How many of both there are.
    pub fn len(&self) -> usize {
        self.permissions.0.lock().len() + self.questions.0.lock().len()
    }

    /// Nothing waits for a person.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replies to a permission request.
    pub fn reply(&self, id: &PermissionId, decision: PermissionDecision) -> Result<(), DeskError> {
        let id = id.as_str();
        let taken = self.permissions.take(id);
        let told = taken.and_then(|(_, sender)| sender.send(decision).ok());
        told.ok_or_else(|| DeskError::NoPermission(brief(id)))
    }

    /// Answers a question. An answer that does not fit leaves it open.
    pub fn answer(&self, ask: &str, value: Value) -> Result<(), DeskError> {
        let missing = || DeskError::NoQuestion(brief(ask));
        let asked = self.questions.get(ask).ok_or_else(missing)?;
        let question = &asked.question;
        let value = question.check(value).map_err(|error| {
            if question.secret {
                DeskError::UnfitSecret(question.id.clone())
            } else {
                DeskError::Unfit(error)
            }
        })?;
        let taken = self.questions.take(ask);
        let told = taken.and_then(|(_, sender)| sender.send(value).ok());
        told.ok_or_else(missing)
    }
}

#[async_trait]
impl Person for Desk {
    async fn permit(&self, request: &PermissionRequest) -> Option<PermissionDecision> {
        let id = request.id.as_str();
        let (_lies_here, answered) = self.permissions.put(id, request.clone());
        first(answered, self.person.permit(request)).await
    }

    async fn answer(&self, ask: &Ask) -> Option<Value> {
        let (_lies_here, answered) = self.questions.put(&ask.ask, ask.clone());
        first(answered, self.person.answer(ask)).await
    }

    async fn ask(&self, ask: &Ask) -> Answered {
        let (_lies_here, answered) = self.questions.put(&ask.ask, ask.clone());
        let mut own = None;
        let asking = async {
            match self.person.ask(ask).await {
                Answered::With(answer) => Some(answer),
                other => {
                    own = Some(other);
                    None
                }
            }
        };
        match first(answered, asking).await {
            Some(answer) => Answered::With(answer),
            None => own.unwrap_or(Answered::Nobody),
        }
    }
}

/// The answer from the desk or the person's own. Whoever was told that theirs
/// was taken finds that it was.
async fn first<A>(
    mut desk: oneshot::Receiver<A>,
    person: impl Future<Output = Option<A>>,
) -> Option<A> {
    tokio::select! {
        biased;
        Ok(answer) = &mut desk => Some(answer),
        answer = person => {
            desk.close();
            desk.try_recv().ok().or(answer)
        }
    }
}

/// A person who is reached at the session's [`Desk`] and nowhere else: waits
/// until somebody answers there.
#[derive(Debug, Clone, Copy, Default)]
pub struct AtTheDesk;

#[async_trait]
impl Person for AtTheDesk {
    async fn permit(&self, _: &PermissionRequest) -> Option<PermissionDecision> {
        std::future::pending().await
    }

    async fn answer(&self, _: &Ask) -> Option<Value> {
        std::future::pending().await
    }
}

/// Askings of one kind by id, in the order in which they came.
struct Pile<Q, A>(Mutex<IndexMap<String, (Q, oneshot::Sender<A>)>>);

impl<Q, A> Default for Pile<Q, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Q: Clone, A> Pile<Q, A> {
    /// Lies there until it is taken or the guard is dropped.
    fn put(&self, id: &str, asked: Q) -> (Guard<'_, Q, A>, oneshot::Receiver<A>) {
        let (sender, receiver) = oneshot::channel();
        self.0.lock().insert(id.to_owned(), (asked, sender));
        (Guard(self, id.to_owned()), receiver)
    }

    fn take(&self, id: &str) -> Option<(Q, oneshot::Sender<A>)> {
        self.0.lock().shift_remove(id)
    }

    fn get(&self, id: &str) -> Option<Q> {
        self.0.lock().get(id).map(|(asked, _)| asked.clone())
    }

    fn list(&self) -> Vec<Q> {
        let pile = self.0.lock();
        pile.values().map(|(asked, _)| asked.clone()).collect()
    }
}

struct Guard<'a, Q: Clone, A>(&'a Pile<Q, A>, String);

impl<Q: Clone, A> Drop for Guard<'_, Q, A> {
    fn drop(&mut self) {
        self.0.take(&self.1);
    }
}

/// At most 64 characters of an id that may be anything.
fn brief(id: &str) -> String {
    id.chars().take(64).collect()
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
