//! Questions of tools, on their way to whoever answers them.
//!
//! A preset answer in the config wins; then the person or the model is asked,
//! as the tool's policy says. A one-shot that nobody can answer takes the
//! question's default. A live handle stays waiting, since its assistant can
//! answer with `apply`.

use std::sync::Arc;

use serde_json::Value;
use windlass_protocol::{Ask, HandleId, Question, QuestionPolicy, QuestionTarget};

use crate::catalogue::RegisteredTool;
use crate::event::Status;
use crate::handle::Handle;
use crate::inquirer::Answered;
use crate::journal::SessionEvent;
use crate::refusal::Refusal;
use crate::session::{SessionInner, new_ulid};

/// How often an answer that does not fit is asked for again.
const TRIES: usize = 3;

/// Answers a one-shot's question, or says why nobody could.
pub(crate) async fn answer(
    session: &SessionInner,
    handle: &Handle,
    question: &Question,
) -> Result<Value, Unanswered> {
    match ask(session, handle, question).await {
        Answered::With(answer) => return Ok(answer),
        Answered::Declined(why) => return Err(Unanswered::Declined(why)),
        Answered::Nobody => {}
    }
    let unanswered = || Unanswered::Nobody {
        text: question.text.clone(),
        question: question.id.clone(),
    };
    question.default.clone().ok_or_else(unanswered)
}

/// Why a one-shot's question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// The person declined, in these words.
    #[error("{0}")]
    Declined(String),
    /// Nobody can be asked, and the question has no default.
    #[error(
        "the tool asked \"{text}\" and nobody could answer; \
         set `questions.{question}.answer` for it in the config"
    )]
    Nobody {
        /// The question's words.
        text: String,
        /// Its id.
        question: String,
    },
}

/// Puts a live handle's question to whoever can answer it, beside everything
/// else. Where only the assistant can, nothing happens.
pub(crate) fn route(session: &Arc<SessionInner>, handle: &Arc<Handle>, question: Question) {
    if !can_be_answered(session, handle, &question) {
        return;
    }
    let session = Arc::clone(session);
    let handle = Arc::clone(handle);
    session.tasks.clone().spawn(async move {
        tokio::select! {
            answer = ask(&session, &handle, &question) => match answer {
                // The assistant may have been first, which is fine.
                Answered::With(answer) => drop(handle.answer(&question, answer).await),
                Answered::Declined(why) => drop(handle.end(&why).await),
                Answered::Nobody => handle.give_up(&question),
            },
            _ = handle.wait_until(|status| !status.asks(&question)) => {}
            () = session.closing.cancelled() => {}
        }
    });
}

/// Somebody other than the calling assistant can answer.
pub(crate) fn can_be_answered(
    session: &SessionInner,
    handle: &Handle,
    question: &Question,
) -> bool {
    let policy = policy(handle, question);
    policy.answer.is_some()
        || match policy.target {
            QuestionTarget::User => session.requests.is_attended(),
            QuestionTarget::Assistant => session.options.inquirer.is_some(),
            QuestionTarget::Caller => false,
        }
}

/// Whether the assistant may answer with `apply`. A secret goes from the
/// person to the program, unless the person drives or has said that the
/// assistant may know it.
pub(crate) fn may_answer(
    session: &SessionInner,
    tool: &RegisteredTool,
    id: &HandleId,
    question: &Question,
) -> Result<(), Refusal> {
    let options = &session.options;
    if !question.secret || options.trusted || tool.definition.secrets_to_assistant {
        return Ok(());
    }
    let (id, text) = (id.clone(), question.text.clone());
    Err(if session.requests.is_attended() {
        Refusal::SecretOfUser { id, text }
    } else {
        let tool = tool.definition.name.clone();
        Refusal::SecretOfNobody { id, text, tool }
    })
}

/// The handle waits for an answer that nobody but its assistant can give.
pub(crate) fn is_stuck(session: &SessionInner, handle: &Handle, status: &Status) -> bool {
    match status {
        Status::Waiting { question, .. } => {
            !can_be_answered(session, handle, question) || handle.is_given_up()
        }
        _ => false,
    }
}

async fn ask(session: &SessionInner, handle: &Handle, question: &Question) -> Answered {
    let policy = policy(handle, question);
    if let Some(answer) = policy.answer {
        let fits = question.check(answer).ok();
        return fits.map_or(Answered::Nobody, Answered::With);
    }
    let ask = Ask {
        ask: format!("q_{}", new_ulid()),
        call: handle.id().is_none().then(|| handle.call.to_string()),
        handle: handle.id().cloned(),
        tool: handle.tool.definition.name.clone(),
        question: question.clone(),
        rendering: None,
    };
    match policy.target {
        QuestionTarget::User if session.requests.is_attended() => {
            session.requests.open_question(ask).outcome().await
        }
        QuestionTarget::Assistant => inquire(session, ask).await,
        QuestionTarget::User | QuestionTarget::Caller => {
            JournalledAsk::tell(session, ask);
            Answered::Nobody
        }
    }
}

/// Asks the model, if there is one. An answer that does not fit is asked for
/// again.
async fn inquire(session: &SessionInner, ask: Ask) -> Answered {
    let asked = JournalledAsk::tell(session, ask);
    let Some(inquirer) = &session.options.inquirer else {
        return Answered::Nobody;
    };
    for _ in 0..TRIES {
        let Some(answer) = inquirer.answer(&asked.ask).await else {
            break;
        };
        if let Ok(answer) = asked.ask.question.check(answer) {
            return Answered::With(answer);
        }
    }
    Answered::Nobody
}

fn policy(handle: &Handle, question: &Question) -> QuestionPolicy {
    let questions = &handle.tool.definition.questions;
    questions.get(&question.id).cloned().unwrap_or_default()
}

/// A question that no person is asked. The journal is told of it, and again
/// when this is dropped.
struct JournalledAsk<'a> {
    session: &'a SessionInner,
    ask: Arc<Ask>,
}

impl<'a> JournalledAsk<'a> {
    fn tell(session: &'a SessionInner, ask: Ask) -> Self {
        let ask = Arc::new(ask);
        session.tell(SessionEvent::QuestionAsked(Arc::clone(&ask)));
        Self { session, ask }
    }
}

impl Drop for JournalledAsk<'_> {
    fn drop(&mut self) {
        self.session.tell(SessionEvent::QuestionClosed {
            ask: self.ask.ask.clone(),
        });
    }
}
