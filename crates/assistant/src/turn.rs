//! A turn: from the user's message to the assistant's last word.
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
//! Start at [`Assistant::turn`]. Each phase is a method that says what comes
//! next. Whatever was said is appended to the conversation before the next
//! phase, and every call in it is answered before the model speaks again.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;
use windlass_protocol::{
    AwaitReply, Batch, BatchReply, CallReply, HandleId, HandleView, MessageId, Notice,
    ReplyContent, Said, ToolCall, TurnEndReport, TurnEvent,
};
use windlass_runtime::{ArchiveError, RunOptions, Session, Tail};
use windlass_schema::RenderedShape;

use crate::between::{critical, next, running, stop_handles};
use crate::conversation::Conversation;
use crate::error::ModelError;
use crate::model::{Effort, Finish, Model, ModelEvent, OfferedTool, Reply, Request, Usage};

/// A reply that is cut at its limit is gone on from this often.
const CUT_IN_A_ROW: u32 = 3;

/// A model that works with a session's tools.
pub struct Assistant {
    /// The model.
    pub model: Arc<dyn Model>,
    /// What it is told before everything else.
    pub system: String,
    /// How much it may say at once, in tokens.
    pub max_tokens: Option<u32>,
    /// How hard it should think.
    pub effort: Option<Effort>,
    /// The tools it is told of.
    pub tools: Vec<OfferedTool>,
    /// Where its tools run.
    pub session: Session,
    /// What was said.
    pub conversation: Arc<Conversation>,
}

/// Hears what goes on in a turn. It must not block.
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
    /// The model says something.
    Model(&'a ModelEvent),
    /// What it said is whole.
    Said(&'a Reply),
    /// Calls are run.
    Running(&'a Batch),
    /// They are answered.
    Answered(&'a BatchReply),
    /// The assistant is told something by itself.
    Told(&'a [Notice]),
    /// The turn ends: handles that still run are seen to.
    Ending,
    /// What became of them.
    Ended(&'a TurnEndReport),
}

/// What the user says in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interjection {
    /// A message. It interrupts the model, and waits for calls that run.
    Say(String),
    /// Calls that run are given up, and every handle is ended.
    StopTools,
    /// The turn is over at once.
    Abort,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnOutcome {
    /// The assistant's last word.
    pub text: String,
    /// What it cost.
    pub usage: Usage,
    /// The user ended it.
    pub aborted: bool,
}

/// Why a turn could not go on. The conversation holds what was said before.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The model does not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What was said cannot be kept.
    #[error("the conversation cannot be kept")]
    Record(#[from] ArchiveError),
    /// The model would not answer.
    #[error("the model refused to answer ({0}); say it differently, or ask another model")]
    Refused(String),
    /// The model runs into its limit again and again.
    #[error(
        "the model's answers are cut at their limit; raise `assistant.max_tokens` or ask for less"
    )]
    Cut,
}

/// What a turn does next.
enum Phase {
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
    /// The tools of a session's runtime, as a model is told of them.
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

    /// One turn. What the user says in between comes through `interjections`.
    pub async fn turn(
        &self,
        message: &str,
        audience: &dyn Audience,
        interjections: &mut mpsc::Receiver<Interjection>,
    ) -> Result<TurnOutcome, TurnError> {
        let mut turn = Turn {
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
        let mut phase = Phase::Speaking;
        loop {
            // Boxed, so that a turn that waits is small.
            phase = match phase {
                Phase::Speaking => Box::pin(turn.speak()).await?,
                Phase::Running { message, calls } => Box::pin(turn.run(message, calls)).await?,
                Phase::Ending => Box::pin(turn.end()).await?,
                Phase::Over { aborted } => {
                    turn.outcome.aborted = aborted;
                    return Ok(turn.outcome);
                }
            };
        }
    }

    /// Puts down what the assistant has not been told yet, so that it is told
    /// when the conversation goes on. For when the session ends.
    pub async fn keep_notices(&self) -> Result<(), ArchiveError> {
        let notices = self.session.take_notices();
        if notices.is_empty() {
            return Ok(());
        }
        let event = TurnEvent::Notices { notices };
        self.conversation.append(event).await.map(drop)
    }
}

struct Turn<'a> {
    assistant: &'a Assistant,
    audience: &'a dyn Audience,
    interjections: &'a mut mpsc::Receiver<Interjection>,
    /// Where critical notices are seen.
    journal: Tail,
    /// The handles that ran when it began.
    before: HashSet<HandleId>,
    /// What the user said and the assistant has not been told.
    said: Vec<String>,
    /// How often in a row the model ran into its limit.
    cut: u32,
    outcome: TurnOutcome,
}

// ── Speaking ───────────────────────────────────────────────────────────────

/// Why the model stopped speaking.
enum Stop {
    Whole,
    Said(String),
    Abort,
    Critical,
}

impl Turn<'_> {
    async fn speak(&mut self) -> Result<Phase, TurnError> {
        let (reply, stop) = self.listen().await?;
        self.outcome.usage = self.outcome.usage.plus(reply.usage);
        match stop {
            Stop::Whole => self.take_reply(reply).await,
            interrupted => {
                let said = reply.into_interrupted();
                self.put_down(said, true).await?;
                match interrupted {
                    Stop::Said(text) => self.said.push(text),
                    Stop::Abort => return Ok(Phase::Over { aborted: true }),
                    Stop::Critical | Stop::Whole => self.tell().await?,
                }
                self.hand_over().await?;
                Ok(Phase::Speaking)
            }
        }
    }

    /// Hears the model out, unless something is more important.
    async fn listen(&mut self) -> Result<(Reply, Stop), TurnError> {
        let assistant = self.assistant;
        let events = assistant.conversation.events();
        let request = Request {
            system: &assistant.system,
            events: &events,
            tools: &assistant.tools,
            format: None,
            max_tokens: assistant.max_tokens,
            effort: assistant.effort,
        };
        let mut stream = assistant.model.stream(request);
        let mut reply = Reply::default();
        loop {
            tokio::select! {
                event = stream.next() => match event {
                    Some(event) => {
                        let event = event?;
                        self.audience.hear(Heard::Model(&event));
                        reply.take(event);
                    }
                    None => return Ok((reply, Stop::Whole)),
                },
                interjection = next(self.interjections) => match interjection {
                    Interjection::Say(text) => return Ok((reply, Stop::Said(text))),
                    Interjection::Abort => return Ok((reply, Stop::Abort)),
                    Interjection::StopTools => {
                        stop_handles(&assistant.session, &self.before).await;
                    }
                },
                () = critical(&mut self.journal) => return Ok((reply, Stop::Critical)),
            }
        }
    }

    async fn take_reply(&mut self, reply: Reply) -> Result<Phase, TurnError> {
        self.audience.hear(Heard::Said(&reply));
        let calls: Vec<ToolCall> = reply.calls().cloned().collect();
        self.outcome.text = reply.text();
        let finish = reply.finish.clone();
        let message = self.put_down(reply.said, false).await?;
        match finish {
            Some(Finish::Length) => {
                self.cut += 1;
                if self.cut >= CUT_IN_A_ROW {
                    return Err(TurnError::Cut);
                }
                self.refuse(&calls).await?;
                Ok(Phase::Speaking)
            }
            Some(Finish::Refused(why)) if calls.is_empty() => Err(TurnError::Refused(why)),
            _ => match message {
                Some(message) if !calls.is_empty() => {
                    self.cut = 0;
                    Ok(Phase::Running { message, calls })
                }
                _ => Ok(Phase::Ending),
            },
        }
    }

    /// A reply that ran into its limit may not say what it was going to say.
    async fn refuse(&mut self, calls: &[ToolCall]) -> Result<(), TurnError> {
        const WHY: &str = "not run: your reply was cut at its length limit; say less at once";
        let event = if calls.is_empty() {
            TurnEvent::User {
                text: "(Your reply was cut at its length limit. Go on from there.)".to_owned(),
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

impl Turn<'_> {
    /// Runs the calls of a message.
    async fn run(&mut self, message: MessageId, calls: Vec<ToolCall>) -> Result<Phase, TurnError> {
        let batch = Batch {
            id: Ulid::generate().to_string(),
            calls: calls.into_iter().map(|call| self.restored(call)).collect(),
        };
        self.audience.hear(Heard::Running(&batch));
        let cancel = CancellationToken::new();
        let options = RunOptions {
            message: Some(message),
            ..RunOptions::until(&cancel)
        };
        let running = self.assistant.session.run(batch, options);
        tokio::pin!(running);
        let (mut stopped, mut aborted) = (false, false);
        let reply = loop {
            tokio::select! {
                reply = &mut running => break reply,
                interjection = next(self.interjections) => match interjection {
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
            return Ok(Phase::Over { aborted: true });
        }
        if stopped {
            self.stop_handles().await;
        }
        self.hand_over().await?;
        if stopped {
            // Where the user has said nothing, no message has carried it.
            self.tell().await?;
        }
        Ok(Phase::Speaking)
    }

    async fn stop_handles(&self) {
        stop_handles(&self.assistant.session, &self.before).await;
    }

    /// The call with its arguments as the tool itself has them.
    fn restored(&self, mut call: ToolCall) -> ToolCall {
        let mut tools = self.assistant.tools.iter();
        if let Some(tool) = tools.find(|tool| tool.name == call.tool) {
            let dialect = self.assistant.model.dialect();
            call.arguments = windlass_schema::restore(&tool.shape, dialect, call.arguments);
        }
        call
    }
}

// ── Ending ─────────────────────────────────────────────────────────────────

impl Turn<'_> {
    async fn end(&mut self) -> Result<Phase, TurnError> {
        self.audience.hear(Heard::Ending);
        let ending = self.assistant.session.end_turn();
        tokio::pin!(ending);
        let report = loop {
            tokio::select! {
                report = &mut ending => break report,
                interjection = next(self.interjections) => match interjection {
                    Interjection::Say(text) => self.said.push(text),
                    Interjection::StopTools => self.stop_handles().await,
                    Interjection::Abort => return Ok(Phase::Over { aborted: true }),
                },
            }
        };
        self.audience.hear(Heard::Ended(&report));
        if !report.results.is_empty() {
            self.give_results(report.results).await?;
            self.hand_over().await?;
            return Ok(Phase::Speaking);
        }
        if !self.said.is_empty() {
            self.hand_over().await?;
            return Ok(Phase::Speaking);
        }
        let conversation = &self.assistant.conversation;
        conversation.append(TurnEvent::TurnEnded).await?;
        Ok(Phase::Over { aborted: false })
    }

    /// The assistant said that it wants to wait, which is to say that it calls
    /// `await`; here is the reply.
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

impl Turn<'_> {
    /// Puts down what the assistant said, if it said anything, and gives the
    /// message that holds it.
    async fn put_down(
        &mut self,
        said: Vec<Said>,
        interrupted: bool,
    ) -> Result<Option<MessageId>, TurnError> {
        if said.is_empty() {
            return Ok(None);
        }
        let event = TurnEvent::Assistant {
            model: self.assistant.model.id().to_string(),
            said,
            interrupted,
        };
        Ok(Some(self.assistant.conversation.append(event).await?))
    }

    /// Gives the assistant what the user said, and what it has not been told
    /// with it.
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

    /// Tells the assistant what it has not been told, by itself.
    async fn tell(&mut self) -> Result<(), TurnError> {
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
