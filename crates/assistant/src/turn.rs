//! A turn: from the user's message to the assistant's last message.
//!
//! ```text
//!            calls               answered
//!  Speaking ──────▶ Running ─────────────▶ Speaking
//!     │ no calls                              ▲
//!     ▼                                       │ something was waited for
//!  Ending ────────────────────────────────────┘
//!     │ nothing more to say
//!     ▼
//!   Over
//! ```
//!
//! Start at [`Assistant::turn`]. Each phase is a method that returns the next
//! phase. Everything said is appended to the conversation before the next
//! phase, and every call gets its reply before the model speaks again.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;
use windlass_protocol::{
    AwaitReply, Batch, BatchReply, CallReply, HandleId, HandleView, MessageId, Notice, NoticeLevel,
    ReplyContent, Said, ToolCall, TurnEndReport, TurnEvent,
};
use windlass_runtime::{ArchiveError, RunOptions, Session, SessionEvent, Tail};
use windlass_schema::RenderedShape;

use crate::conversation::Conversation;
use crate::error::ModelError;
use crate::model::{
    Effort, Finish, Model, ModelEvent, ModelReply, ModelRequest, OfferedTool, Usage,
};
use crate::stopping::{running, stop_handles};

/// Maximum number of continuations of a reply that is cut at its limit.
const CUT_IN_A_ROW: u32 = 3;

/// A model that works with a session's tools.
pub struct Assistant {
    pub model: Arc<dyn Model>,
    /// The system prompt.
    pub system: String,
    /// The maximum length of a reply, in tokens.
    pub max_tokens: Option<u32>,
    /// The reasoning effort.
    pub effort: Option<Effort>,
    /// The tools that the model may call.
    pub tools: Vec<OfferedTool>,
    /// The session that runs its tools.
    pub session: Session,
    /// The conversation.
    pub conversation: Arc<Conversation>,
}

/// Observes a turn. It must not block.
pub trait Audience: Send + Sync {
    /// Something happened.
    fn hear(&self, heard: Heard<'_>);
}

/// Hears nothing.
impl Audience for () {
    fn hear(&self, _: Heard<'_>) {}
}

/// Something that happened in a turn.
#[derive(Debug, Clone, Copy)]
pub enum Heard<'a> {
    /// An event of the model's reply.
    Model(&'a ModelEvent),
    /// The model's reply is complete.
    Said(&'a ModelReply),
    /// Calls are run.
    Running(&'a Batch),
    Answered(&'a BatchReply),
    /// Notices were delivered to the assistant on their own.
    Told(&'a [Notice]),
    /// The turn ends; the remaining handles are dealt with.
    Ending,
    /// The report on them.
    Ended(&'a TurnEndReport),
}

/// An interjection of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interjection {
    /// A message. It interrupts the model, and waits for running calls.
    Say(String),
    /// Running calls are cancelled, and every handle is ended.
    StopTools,
    /// The turn is over at once.
    Abort,
}

/// The result of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnOutcome {
    /// The assistant's last message.
    pub text: String,
    /// The tokens used.
    pub usage: Usage,
    /// The user ended it.
    pub aborted: bool,
}

/// A turn that could not continue. The conversation contains everything said
/// before.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The model does not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The conversation cannot be stored.
    #[error("the conversation cannot be recorded")]
    Record(#[from] ArchiveError),
    /// The model would not answer.
    #[error("the model refused to answer ({0}); rephrase the message, or choose another model")]
    Refused(String),
    /// The model runs into its limit again and again.
    #[error(
        "the model's replies are cut at the length limit; raise `assistant.max_tokens`, or ask \
         for less"
    )]
    Cut,
}

/// The next phase of a turn.
enum TurnPhase {
    Speaking,
    Running {
        message: MessageId,
        calls: Vec<ToolCall>,
    },
    Ending,
    Over {
        aborted: bool,
    },
}

impl Assistant {
    /// The tools of a session's runtime, described for a model.
    pub fn offered(tools: &windlass_runtime::Catalogue) -> Vec<OfferedTool> {
        tools
            .offered()
            .map(|tool| {
                let tool = tool.definition();
                let description = tool.summary.as_ref().or(tool.description.as_ref());
                OfferedTool {
                    name: tool.name.clone(),
                    description: description.cloned().unwrap_or_default(),
                    shape: RenderedShape::new(tool.shape.clone()),
                }
            })
            .collect()
    }

    /// Runs one turn. The user's interjections arrive through `interjections`.
    pub async fn turn(
        &self,
        message: &str,
        audience: &dyn Audience,
        interjections: &mut mpsc::Receiver<Interjection>,
    ) -> Result<TurnOutcome, TurnError> {
        let mut turn = TurnLoop {
            assistant: self,
            audience,
            interjections,
            journal: self.session.journal().tail(self.session.journal().last()),
            before: running(&self.session),
            said: Vec::new(),
            cut: 0,
            outcome: TurnOutcome {
                text: String::new(),
                usage: Usage::default(),
                aborted: false,
            },
        };
        turn.said.push(message.to_owned());
        turn.hand_over().await?;
        let mut phase = TurnPhase::Speaking;
        loop {
            // Boxed, so that a turn that waits is small.
            phase = match phase {
                TurnPhase::Speaking => Box::pin(turn.speak()).await?,
                TurnPhase::Running { message, calls } => Box::pin(turn.run(message, calls)).await?,
                TurnPhase::Ending => Box::pin(turn.end()).await?,
                TurnPhase::Over { aborted } => {
                    turn.outcome.aborted = aborted;
                    return Ok(turn.outcome);
                }
            };
        }
    }

    /// Stores undelivered notices, so that they are delivered when the
    /// conversation resumes. For the end of a session.
    pub async fn keep_notices(&self) -> Result<(), ArchiveError> {
        let notices = self.session.take_notices();
        if notices.is_empty() {
            return Ok(());
        }
        let event = TurnEvent::Notices { notices };
        self.conversation.append(event).await.map(drop)
    }
}

struct TurnLoop<'a> {
    assistant: &'a Assistant,
    audience: &'a dyn Audience,
    interjections: &'a mut mpsc::Receiver<Interjection>,
    /// Watched for critical notices.
    journal: Tail,
    /// The handles that ran when it began.
    before: HashSet<HandleId>,
    /// The user's messages that the model has not seen yet.
    said: Vec<String>,
    /// The number of consecutive replies that reached the limit.
    cut: u32,
    outcome: TurnOutcome,
}

// ── Speaking ───────────────────────────────────────────────────────────────

/// Why the model stopped speaking.
enum SpeechEnd {
    Whole,
    Said(String),
    Abort,
    Critical,
}

impl TurnLoop<'_> {
    /// Lets the model speak, and appends its words unless there are none.
    async fn speak(&mut self) -> Result<TurnPhase, TurnError> {
        let (reply, end) = self.listen().await?;
        self.outcome.usage = self.outcome.usage.plus(reply.usage);
        let is_whole = matches!(end, SpeechEnd::Whole);
        let calls: Vec<ToolCall> = reply.calls().cloned().collect();
        let finish = reply.finish.clone();
        let said = if is_whole {
            self.audience.hear(Heard::Said(&reply));
            self.outcome.text = reply.text();
            reply.said
        } else {
            reply.into_interrupted()
        };
        let mut message = None;
        if !said.is_empty() {
            let event = TurnEvent::Assistant {
                model: self.assistant.model.id().to_string(),
                said,
                interrupted: !is_whole,
            };
            message = Some(self.assistant.conversation.append(event).await?);
        }
        match end {
            SpeechEnd::Whole => {
                return match (finish, message) {
                    (Some(Finish::Length), _) => {
                        self.cut += 1;
                        if self.cut >= CUT_IN_A_ROW {
                            return Err(TurnError::Cut);
                        }
                        self.refuse(&calls).await?;
                        Ok(TurnPhase::Speaking)
                    }
                    (Some(Finish::Refused(why)), _) if calls.is_empty() => {
                        Err(TurnError::Refused(why))
                    }
                    (_, Some(message)) if !calls.is_empty() => {
                        self.cut = 0;
                        Ok(TurnPhase::Running { message, calls })
                    }
                    _ => Ok(TurnPhase::Ending),
                };
            }
            SpeechEnd::Abort => return Ok(TurnPhase::Over { aborted: true }),
            SpeechEnd::Said(text) => self.said.push(text),
            SpeechEnd::Critical => self.append_notices().await?,
        }
        self.hand_over().await?;
        Ok(TurnPhase::Speaking)
    }

    /// Hears the model out, unless something is more important.
    async fn listen(&mut self) -> Result<(ModelReply, SpeechEnd), TurnError> {
        let assistant = self.assistant;
        let events = assistant.conversation.events();
        let request = ModelRequest {
            system: &assistant.system,
            events: &events,
            tools: &assistant.tools,
            format: None,
            max_tokens: assistant.max_tokens,
            effort: assistant.effort,
        };
        let mut stream = assistant.model.stream(request);
        let mut reply = ModelReply::default();
        loop {
            tokio::select! {
                event = stream.next() => match event {
                    Some(event) => {
                        let event = event?;
                        self.audience.hear(Heard::Model(&event));
                        reply.take(event);
                    }
                    None => return Ok((reply, SpeechEnd::Whole)),
                },
                Some(interjection) = self.interjections.recv() => match interjection {
                    Interjection::Say(text) => return Ok((reply, SpeechEnd::Said(text))),
                    Interjection::Abort => return Ok((reply, SpeechEnd::Abort)),
                    Interjection::StopTools => {
                        stop_handles(&assistant.session, &self.before).await;
                    }
                },
                Some((_, entry)) = self.journal.next() => {
                    if let SessionEvent::Noticed(notice) = &entry.event
                        && notice.level == NoticeLevel::Critical
                    {
                        return Ok((reply, SpeechEnd::Critical));
                    }
                }
            }
        }
    }

    /// Refuses the calls of a reply that reached its limit: their arguments may
    /// be incomplete.
    async fn refuse(&mut self, calls: &[ToolCall]) -> Result<(), TurnError> {
        const WHY: &str = "not run: your reply was cut at its length limit; make shorter replies";
        let event = if calls.is_empty() {
            TurnEvent::User {
                text: "(Your reply was cut at its length limit. Continue from there.)".to_owned(),
                notices: Vec::new(),
            }
        } else {
            TurnEvent::Replies {
                replies: calls
                    .iter()
                    .map(|call| CallReply::refused(call.id.clone(), WHY))
                    .collect(),
                notices: Vec::new(),
            }
        };
        self.assistant.conversation.append(event).await?;
        Ok(())
    }
}

// ── Running ────────────────────────────────────────────────────────────────

impl TurnLoop<'_> {
    /// Runs the calls of a message.
    async fn run(
        &mut self,
        message: MessageId,
        mut calls: Vec<ToolCall>,
    ) -> Result<TurnPhase, TurnError> {
        // Converts the arguments from the model's dialect.
        let dialect = self.assistant.model.dialect();
        for call in &mut calls {
            let mut tools = self.assistant.tools.iter();
            if let Some(tool) = tools.find(|tool| tool.name == call.tool) {
                let arguments = std::mem::take(&mut call.arguments);
                call.arguments = windlass_schema::restore(&tool.shape, dialect, arguments);
            }
        }
        let batch = Batch {
            id: Ulid::generate().to_string(),
            calls,
        };
        self.audience.hear(Heard::Running(&batch));
        let cancel = CancellationToken::new();
        let options = RunOptions {
            cancel: cancel.clone(),
            message: Some(message),
            ..RunOptions::default()
        };
        let running = self.assistant.session.run(batch, options);
        tokio::pin!(running);
        let (mut stopped, mut aborted) = (false, false);
        let reply = loop {
            tokio::select! {
                reply = &mut running => break reply,
                Some(interjection) = self.interjections.recv() => match interjection {
                    Interjection::Say(text) => self.said.push(text),
                    Interjection::StopTools => {
                        stopped = true;
                        cancel.cancel();
                    }
                    Interjection::Abort => {
                        aborted = true;
                        cancel.cancel();
                    }
                },
            }
        };
        self.audience.hear(Heard::Answered(&reply));
        let replies = TurnEvent::Replies {
            replies: reply.replies,
            notices: reply.notices,
        };
        self.assistant.conversation.append(replies).await?;
        if aborted {
            return Ok(TurnPhase::Over { aborted: true });
        }
        if stopped {
            self.stop_handles().await;
        }
        self.hand_over().await?;
        if stopped {
            // Where the user has said nothing, no message has carried it.
            self.append_notices().await?;
        }
        Ok(TurnPhase::Speaking)
    }

    async fn stop_handles(&self) {
        stop_handles(&self.assistant.session, &self.before).await;
    }
}

// ── Ending ─────────────────────────────────────────────────────────────────

impl TurnLoop<'_> {
    async fn end(&mut self) -> Result<TurnPhase, TurnError> {
        self.audience.hear(Heard::Ending);
        let ending = self.assistant.session.end_turn();
        tokio::pin!(ending);
        let report = loop {
            tokio::select! {
                report = &mut ending => break report,
                Some(interjection) = self.interjections.recv() => match interjection {
                    Interjection::Say(text) => self.said.push(text),
                    Interjection::StopTools => self.stop_handles().await,
                    Interjection::Abort => return Ok(TurnPhase::Over { aborted: true }),
                },
            }
        };
        self.audience.hear(Heard::Ended(&report));
        if !report.results.is_empty() {
            self.give_results(report.results).await?;
            self.hand_over().await?;
            return Ok(TurnPhase::Speaking);
        }
        if !self.said.is_empty() {
            self.hand_over().await?;
            return Ok(TurnPhase::Speaking);
        }
        let conversation = &self.assistant.conversation;
        conversation.append(TurnEvent::TurnEnded).await?;
        Ok(TurnPhase::Over { aborted: false })
    }

    /// Adds the results of handles that the assistant decided to wait for, as a
    /// call of `await` and its reply.
    async fn give_results(&mut self, results: Vec<HandleView>) -> Result<(), TurnError> {
        let id = format!("call_{}", Ulid::generate());
        let ids: Vec<&str> = results.iter().map(|view| view.id.as_str()).collect();
        let arguments = json!({"all": ids}).as_object().cloned().unwrap_or_default();
        let call = ToolCall {
            id: id.clone(),
            tool: "await".to_owned(),
            arguments,
        };
        let conversation = &self.assistant.conversation;
        let batch = Batch {
            id: Ulid::generate().to_string(),
            calls: vec![call.clone()],
        };
        let waiting = TurnEvent::Assistant {
            model: String::new(),
            said: vec![Said::Call { call, seal: None }],
            interrupted: false,
        };
        conversation.append(waiting).await?;
        self.audience.hear(Heard::Running(&batch));
        let reply = BatchReply {
            batch: batch.id,
            replies: vec![CallReply {
                id,
                content: ReplyContent::Await(AwaitReply {
                    completed: results,
                    ..AwaitReply::default()
                }),
                is_error: false,
                error: None,
                extras: windlass_protocol::ReplyExtras::default(),
            }],
            notices: self.assistant.session.take_notices(),
        };
        self.audience.hear(Heard::Answered(&reply));
        let replies = TurnEvent::Replies {
            replies: reply.replies,
            notices: reply.notices,
        };
        conversation.append(replies).await?;
        Ok(())
    }
}

// ── The conversation ───────────────────────────────────────────────────────

impl TurnLoop<'_> {
    /// Appends the user's messages, with the pending notices.
    async fn hand_over(&mut self) -> Result<(), TurnError> {
        for text in std::mem::take(&mut self.said) {
            let notices = self.assistant.session.take_notices();
            if !notices.is_empty() {
                self.audience.hear(Heard::Told(&notices));
            }
            let event = TurnEvent::User { text, notices };
            self.assistant.conversation.append(event).await?;
        }
        Ok(())
    }

    /// Appends the pending notices on their own.
    async fn append_notices(&mut self) -> Result<(), TurnError> {
        let notices = self.assistant.session.take_notices();
        if notices.is_empty() {
            return Ok(());
        }
        self.audience.hear(Heard::Told(&notices));
        let event = TurnEvent::Notices { notices };
        self.assistant.conversation.append(event).await?;
        Ok(())
    }
}
