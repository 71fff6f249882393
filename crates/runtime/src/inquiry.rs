//! Routes tools' questions to a person, a model, or the assistant.
//!
//! A preset answer in the config takes precedence; then the person or the model
//! is asked, by the tool's policy. A one-shot without an answer takes the
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
use crate::repetition::MOST;
use crate::request_table::Ticket;
use crate::session::{SessionInner, new_ulid};

/// The number of attempts for an answer that does not fit.
const TRIES: usize = 3;

/// The maximum size of a question's context.
const CONTEXT: usize = 32 << 10;
/// The part of that size reserved for the end of the context.
const CONTEXT_END: usize = 8 << 10;

/// The maximum number of bytes of a question that a message quotes.
const QUOTED: usize = 400;

/// Answers a one-shot's question; the error explains why there is no answer.
pub(crate) async fn answer(
    session: &SessionInner,
    handle: &Handle,
    question: &Question,
) -> Result<Value, Unanswered> {
    let route = begin(session, handle, question);
    if !route.asks_person() && !handle.admits_answer(question) {
        return Err(Unanswered::Repeated {
            id: question.id.clone(),
        });
    }
    match route.outcome(session).await {
        Answered::With(answer) => return Ok(answer),
        Answered::Declined(why) => return Err(Unanswered::Declined(why)),
        Answered::Nobody => {}
    }
    let unanswered = || Unanswered::Nobody {
        text: beginning(&question.text),
    };
    question.default.clone().ok_or_else(unanswered)
}

/// The reason why a one-shot's question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// The person declined, with this reason.
    #[error("{0}")]
    Declined(String),
    /// Nobody can be asked, and the question has no default.
    #[error("the tool asked \"{text}\" and no one could answer; ask the user, or do without it")]
    Nobody {
        /// The question's words.
        text: String,
    },
    /// The tool accepts none of the answers.
    #[error(
        "the tool repeated question `{id}` and accepted none of {MOST} answers; only the user can \
         answer it"
    )]
    Repeated {
        /// The question's id.
        id: String,
    },
}

/// Routes a live handle's question, in the background. Does nothing if only the
/// assistant can answer. A request to a person is open when this returns.
pub(crate) fn route(session: &Arc<SessionInner>, handle: &Arc<Handle>, question: Question) {
    if !can_be_answered(session, handle, &question) {
        return;
    }
    let asking = begin(session, handle, &question);
    let session = Arc::clone(session);
    let handle = Arc::clone(handle);
    windlass_task::spawn_tracked(&session.tasks.clone(), async move {
        if !asking.asks_person() && !handle.admits_answer(&question) {
            handle.give_up(&question);
            return;
        }
        tokio::select! {
            answer = asking.outcome(&session) => match answer {
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

/// Asks only the person.
pub(crate) async fn ask_person(
    session: &SessionInner,
    handle: &Handle,
    question: &Question,
) -> Answered {
    if !session.requests.is_attended() {
        return Answered::Nobody;
    }
    let ask = new_ask(session, handle, question);
    let ticket = session.requests.open_question(ask);
    tokio::select! {
        answered = ticket.outcome() => answered,
        () = session.closing.cancelled() => Answered::Nobody,
    }
}

/// Whether someone other than the calling assistant can answer.
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

/// Whether the assistant may answer with `apply`. A secret is for the program
/// only, unless the person drives the session or has allowed the assistant to
/// know it.
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
    let (id, text) = (id.clone(), beginning(&question.text));
    Err(if session.requests.is_attended() {
        let command = session.requests.answering(&id).map(|ask| answer_with(&ask));
        Refusal::SecretOfUser { id, text, command }
    } else {
        Refusal::SecretOfNobody { id, text }
    })
}

/// The command with which a person answers a question.
fn answer_with(ask: &str) -> String {
    format!("windlass answer {ask}")
}

/// A note to the assistant if the handle waits for the user.
pub(crate) fn note(session: &SessionInner, handle: &Handle, status: &Status) -> Option<String> {
    let requests = &session.requests;
    let (what, command) = match status {
        Status::Waiting { .. } => {
            let ask = requests.answering(handle.id()?)?;
            ("they answer", answer_with(&ask))
        }
        Status::Pending => match requests.permitting(&handle.call) {
            Some(permission) => {
                let command = format!("windlass permissions reply {permission} once");
                ("they allow it", command)
            }
            // Its start needs an answer.
            None => (
                "they answer",
                answer_with(&requests.answering(handle.id()?)?),
            ),
        },
        Status::Running { .. } | Status::Stopped(_) => return None,
    };
    Some(format!(
        "waiting for the user: {what} with `{command}` or on the page; tell them, and await this handle"
    ))
}

/// Whether the handle waits for an answer that only its assistant can give.
pub(crate) fn is_stuck(session: &SessionInner, handle: &Handle, status: &Status) -> bool {
    match status {
        Status::Waiting {
            question,
            aborting: None,
        } => !can_be_answered(session, handle, question) || handle.is_given_up(),
        _ => false,
    }
}

/// A question on its way to an answer.
enum QuestionRoute {
    /// The answer is known.
    Known(Answered),
    /// A person is asked.
    Person(Ticket<Answered>),
    /// The model is to be asked.
    Model(Box<Ask>),
}

impl QuestionRoute {
    fn asks_person(&self) -> bool {
        matches!(self, Self::Person(_))
    }

    async fn outcome(self, session: &SessionInner) -> Answered {
        match self {
            Self::Known(answered) => answered,
            Self::Person(ticket) => ticket.outcome().await,
            Self::Model(ask) => inquire(session, *ask).await,
        }
    }
}

/// Begins to ask, as the tool's policy says.
fn begin(session: &SessionInner, handle: &Handle, question: &Question) -> QuestionRoute {
    let policy = policy(handle, question);
    if let Some(answer) = policy.answer {
        let fits = question.check(answer).ok();
        return QuestionRoute::Known(fits.map_or(Answered::Nobody, Answered::With));
    }
    let ask = new_ask(session, handle, question);
    match policy.target {
        QuestionTarget::User if session.requests.is_attended() => {
            QuestionRoute::Person(session.requests.open_question(ask))
        }
        QuestionTarget::Assistant => QuestionRoute::Model(Box::new(ask)),
        QuestionTarget::User | QuestionTarget::Caller => {
            JournalledAsk::begin(session, ask);
            QuestionRoute::Known(Answered::Nobody)
        }
    }
}

/// The start of a question's text, for messages.
fn beginning(text: &str) -> String {
    if text.len() <= QUOTED {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(QUOTED)])
}

/// The start and the end of a question's context.
pub(crate) fn shortened(content: &str) -> String {
    if content.len() <= CONTEXT {
        return content.to_owned();
    }
    let head = &content[..content.floor_char_boundary(CONTEXT - CONTEXT_END)];
    let tail = &content[content.ceil_char_boundary(content.len() - CONTEXT_END)..];
    let cut = content.len() - head.len() - tail.len();
    format!("{head}\n[{cut} bytes cut]\n{tail}")
}

/// Asks the model a question that otherwise only the assistant could answer.
/// Secrets are excluded, and presets were tried before.
pub(crate) async fn of_assistant(
    session: &SessionInner,
    handle: &Handle,
    question: &Question,
) -> Option<Value> {
    session
        .options
        .inquirer
        .as_ref()
        .filter(|_| !question.secret && handle.admits_answer(question))?;
    match inquire(session, new_ask(session, handle, question)).await {
        Answered::With(answer) => Some(answer),
        Answered::Nobody | Answered::Declined(_) => None,
    }
}

/// A new question. One that was open when this runtime took the session over
/// keeps its id.
fn new_ask(session: &SessionInner, handle: &Handle, question: &Question) -> Ask {
    let known = handle.id().and_then(|id| session.past_ask(id, question));
    Ask {
        ask: known.unwrap_or_else(|| format!("q_{}", new_ulid())),
        call: handle.id().is_none().then(|| handle.call.to_string()),
        handle: handle.id().cloned(),
        tool: handle.tool.definition.name.clone(),
        question: question.clone(),
        content: handle.context(),
        form: handle.form(),
        rendering: None,
    }
}

/// Asks the model, if there is one. Repeats the question if the answer does not
/// fit.
async fn inquire(session: &SessionInner, ask: Ask) -> Answered {
    let asked = JournalledAsk::begin(session, ask);
    let Some(inquirer) = &session.options.inquirer else {
        return Answered::Nobody;
    };
    for _ in 0..TRIES {
        let Some(answer) = inquirer.answer(&asked.ask).await else {
            break;
        };
        if let Ok(answer) = asked.ask.check(answer) {
            return Answered::With(answer);
        }
    }
    Answered::Nobody
}

fn policy(handle: &Handle, question: &Question) -> QuestionPolicy {
    let questions = &handle.tool.definition.questions;
    questions.get(&question.id).cloned().unwrap_or_default()
}

/// Guard: journals a question that no person is asked, and its end on drop.
struct JournalledAsk<'a> {
    session: &'a SessionInner,
    ask: Arc<Ask>,
}

impl<'a> JournalledAsk<'a> {
    fn begin(session: &'a SessionInner, ask: Ask) -> Self {
        let ask = Arc::new(ask);
        session
            .journal
            .append(SessionEvent::QuestionAsked(Arc::clone(&ask)));
        Self { session, ask }
    }
}

impl Drop for JournalledAsk<'_> {
    fn drop(&mut self) {
        self.session.journal.append(SessionEvent::QuestionClosed {
            ask: self.ask.ask.clone(),
        });
    }
}
