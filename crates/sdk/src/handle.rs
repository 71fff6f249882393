//! Tools that last: the trait they implement, and the handle they speak
//! through.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_lite::future;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_protocol::ToolState;

use crate::inbox::{Inbox, Mail};
use crate::question::{Answer, TypedQuestion};
use crate::{Call, Error, answer, unblock};

/// A tool that lasts. Its arguments implement this.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use windlass_sdk::{Error, Stateful, ToolHandle, TypedQuestion};
///
/// /// Counts, and asks when it has had enough.
/// #[derive(Deserialize, JsonSchema)]
/// struct Count {
///     /// How far.
///     to: u32,
/// }
///
/// impl Stateful for Count {
///     async fn run(self, handle: ToolHandle) -> Result<String, Error> {
///         for number in 1..=self.to {
///             handle.report(number.to_string());
///             if number % 100 == 0 && !handle.ask(TypedQuestion::boolean("on", "Go on?")).await? {
///                 break;
///             }
///         }
///         Ok("done".to_owned())
///     }
/// }
/// ```
///
/// The future is polled on the main thread. It may block, or start a runtime
/// of its own: input is read by another thread.
pub trait Stateful: DeserializeOwned + JsonSchema {
    /// Does the work. What it gives is the handle's result.
    ///
    /// When the handle is aborted, whatever awaits the handle ends with an
    /// error; passing it on with `?` is a good way to end. A tool that does
    /// not end within half of its grace is ended by signals.
    fn run(self, handle: ToolHandle) -> impl Future<Output = Result<String, Error>>;
}

/// A running stateful tool's connection to its assistant.
///
/// It can be cloned and used from any thread.
#[derive(Clone)]
pub struct ToolHandle {
    call: Arc<Call>,
    inbox: Arc<Inbox>,
    output: Output,
}

pub(crate) type Output = Arc<Mutex<dyn Write + Send>>;

impl ToolHandle {
    pub(crate) fn new(call: Call, inbox: Arc<Inbox>, output: Output) -> Self {
        Self {
            call: Arc::new(call),
            inbox,
            output,
        }
    }

    /// The call that started it.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Writes output. The assistant reads it with its next `fetch`.
    pub fn report(&self, content: impl AsRef<str>) {
        for piece in answer::pieces(content.as_ref()) {
            self.print(&ToolState::Running {
                content: Some(piece.to_owned()),
            });
        }
    }

    /// Asks, and waits in place for the answer.
    ///
    /// It is an error when the handle is aborted first, or when nobody is left
    /// to answer and the question has no default. Questions of several
    /// threads are asked one after the other.
    pub async fn ask<A: Answer>(&self, question: TypedQuestion<A>) -> Result<A, Error> {
        if let Some(answer) = self.call.answer_to(&question) {
            return Ok(answer);
        }
        let turn = self
            .inbox
            .when(|mail| (!mail.asking || mail.aborted).then(|| mail.asking = true));
        turn.await;
        let _open = AskingGuard(&self.inbox);
        self.print(&ToolState::Waiting {
            content: None,
            question: question.wire().clone(),
        });
        let answer = self.inbox.when(|mail| read_answer(mail, &question)).await?;
        self.print(&ToolState::Running { content: None });
        Ok(answer)
    }

    /// Waits for the next input: the value given to `apply`. `None` if the
    /// handle was aborted, or the input has ended.
    pub async fn input(&self) -> Option<Value> {
        let next = |mail: &mut Mail| match mail.input.pop_front() {
            Some(input) if !mail.aborted => Some(Some(input)),
            _ if mail.aborted || mail.closed => Some(None),
            _ => None,
        };
        self.inbox.when(next).await
    }

    /// Waits until the handle is aborted.
    pub async fn aborted(&self) {
        self.inbox.when(|mail| mail.aborted.then_some(())).await;
    }

    /// The handle has been aborted; finish.
    pub fn is_aborted(&self) -> bool {
        self.inbox.look(|mail| mail.aborted)
    }

    /// Waits for a future, unless the handle is aborted first. In that case the
    /// future is dropped, and this is an error.
    pub async fn unless_aborted<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        let aborted = async {
            self.aborted().await;
            Err(Error::aborted())
        };
        future::or(aborted, async { Ok(work.await) }).await
    }

    /// Waits for a while, unless the handle is aborted first.
    pub async fn sleep(&self, duration: Duration) -> Result<(), Error> {
        self.unless_aborted(unblock(move || std::thread::sleep(duration)))
            .await
    }

    fn print(&self, state: &ToolState) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // The reader is gone, so the end of the tool is on its way.
        let _ = answer::write_state(&mut *output, state);
    }
}

fn read_answer<A: Answer>(
    mail: &mut Mail,
    question: &TypedQuestion<A>,
) -> Option<Result<A, Error>> {
    if mail.aborted {
        return Some(Err(Error::aborted()));
    }
    let wire = question.wire();
    let place = mail.answers.iter().position(|(id, _)| *id == wire.id);
    if let Some(place) = place {
        let (_, answer) = mail.answers.remove(place);
        let refused = || Error::new(format_args!("question `{}` was not answered", wire.id));
        return Some(question.read(answer).ok_or_else(refused));
    }
    if !mail.closed {
        return None;
    }
    let default = wire.default.clone().and_then(|value| question.read(value));
    Some(default.ok_or_else(|| {
        Error::new(format_args!(
            "question `{}` can no longer be answered: {}",
            wire.id, wire.text
        ))
    }))
}

/// A question that is open until this is dropped.
struct AskingGuard<'a>(&'a Inbox);

impl Drop for AskingGuard<'_> {
    fn drop(&mut self) {
        self.0.change(|mail| mail.asking = false);
    }
}

#[cfg(test)]
#[path = "handle_tests.rs"]
mod tests;
