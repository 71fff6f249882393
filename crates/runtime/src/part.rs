//! A call as it is recorded: pending, running, completed or error.
//!
//! ```text
//!  CallPart::created ─▶ pending ─running─▶ running ─ended─▶ completed | error
//!                          └──────────────ended─────────────────▶ error
//! ```
//!
//! Every change is told to the journal as a whole [`ToolPart`]. A call whose
//! caller went away before it was answered ends as an error too, so that no
//! part is left running. What is typed into a terminal is told when it has been
//! typed and was to be seen, not before: it may turn out to be a secret.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windlass_protocol::{
    Arguments, Attachment, CallReply, ErrorView, Exit, FilePart, HandleAction, HandleId, MessageId,
    Millis, PartId, PartState, PartTime, PartTimeWithEnd, RawArguments, ReplyContent, ShownInPart,
    StateCompleted, StateError, StatePending, StateRunning, ToolPart,
};

use crate::arguments::{conceal, take_typing};
use crate::catalogue::{RegisteredTool, Runs};
use crate::dispatch::{PlannedCall, PlannedWork};
use crate::journal::SessionEvent;
use crate::refusal::Refusal;
use crate::session::{SessionInner, new_ulid};
use crate::show::CallAnswer;

/// Arguments of an action that belong to the call, not to the tool.
const OF_THE_CALL: [&str; 5] = ["action", "id", "view", "lines", "enter"];

/// The longest title.
const TITLE: usize = 200;

/// A text that is longer than this, in bytes, is cut before a title is made of
/// it.
const LONG_FOR_A_TITLE: usize = 4096;

/// One call on its way, and its part of the record.
pub(crate) struct CallPart<'a> {
    /// The call.
    pub(crate) id: Arc<str>,
    /// The message that holds it.
    pub(crate) message: &'a MessageId,
    session: &'a SessionInner,
    part: PartId,
    tool: Arc<str>,
    action: Option<HandleAction>,
    handle: Option<HandleId>,
    progress: Mutex<RunningPart>,
}

/// Whether typed text may be disclosed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Discretion {
    /// Yes.
    Open,
    /// Not yet: the terminal may start to read a secret before the text is
    /// typed. It is disclosed afterwards.
    Unknown,
    /// No.
    Secret,
}

struct RunningPart {
    input: Arc<Arguments>,
    /// The typed text, until it is known whether it may be disclosed.
    withheld: Option<Arguments>,
    /// The input is a secret and is not recorded.
    secret: bool,
    title: String,
    start: Millis,
    ended: bool,
}

impl RunningPart {
    fn running(&self, metadata: Arguments) -> PartState {
        PartState::Running(StateRunning {
            input: Arc::clone(&self.input),
            title: Some(self.title.clone()),
            metadata: Some(metadata),
            time: PartTime { start: self.start },
        })
    }

    fn time(&self) -> PartTimeWithEnd {
        PartTimeWithEnd {
            start: self.start,
            end: now().max(self.start),
            compacted: None,
        }
    }
}

impl<'a> CallPart<'a> {
    /// Begins the record of a call.
    pub(crate) fn created(
        session: &'a SessionInner,
        message: &'a MessageId,
        call: &mut PlannedCall,
    ) -> Self {
        let (action, handle) = match &call.work {
            Ok(PlannedWork::Handle(on)) => {
                (Some(on.command.action()), Some(on.command.id().clone()))
            }
            _ => (None, None),
        };
        let mut input = std::mem::take(&mut call.input);
        let discretion = match &handle {
            Some(id) if action == Some(HandleAction::Apply) => session.discretion(id),
            _ => Discretion::Open,
        };
        let mut withheld = None;
        match discretion {
            Discretion::Open => {}
            Discretion::Unknown => withheld = Some(take_typing(Arc::make_mut(&mut input))),
            Discretion::Secret => conceal(Arc::make_mut(&mut input)),
        }
        let part = Self {
            id: Arc::clone(&call.id),
            message,
            session,
            part: PartId::from_suffix(&new_ulid()),
            tool: Arc::clone(&call.tool),
            action,
            handle,
            progress: Mutex::new(RunningPart {
                input,
                withheld,
                secret: discretion == Discretion::Secret,
                title: call.tool.to_string(),
                start: now(),
                ended: false,
            }),
        };
        session.journal.append(SessionEvent::Called {
            call: Arc::clone(&part.id),
            tool: Arc::clone(&part.tool),
            action,
            handle: part.handle.clone(),
        });
        let input = Arc::clone(&part.progress.lock().input);
        let raw = RawArguments::Json(Arc::clone(&input));
        part.record(PartState::Pending(StatePending { input, raw }));
        part
    }

    /// Records that the call runs with these arguments.
    pub(crate) fn running(&self, tool: &RegisteredTool, args: &Arguments) {
        let mut progress = self.progress.lock();
        progress.start = now();
        progress.title = self.title_of(tool, args);
        if let Some(withheld) = &mut progress.withheld {
            withheld.clone_from(args);
        } else if !progress.secret {
            self.take_arguments(&mut progress.input, args);
        }
        tracing::debug!(
            tool = %self.tool,
            call = %self.id,
            action = self.action.map(|action| action.to_string()),
            handle = self.handle.as_ref().map(HandleId::as_str),
            title = if progress.secret { "(secret)" } else { &progress.title },
            "a call runs"
        );
        self.record(progress.running(self.metadata()));
    }

    /// Records the end of the output of the running call.
    pub(crate) fn preview(&self, output: String) {
        let mut metadata = self.metadata();
        metadata.insert("output".into(), Value::String(output));
        self.record(self.progress.lock().running(metadata));
    }

    /// The command that the call runs, or its arguments.
    pub(crate) fn title(&self) -> String {
        self.progress.lock().title.clone()
    }

    /// Marks the input as a secret.
    pub(crate) fn conceal(&self) {
        let mut progress = self.progress.lock();
        progress.secret = true;
        let withheld = progress.withheld.take();
        let input = Arc::make_mut(&mut progress.input);
        input.extend(withheld.unwrap_or_default());
        conceal(input);
    }

    /// Records the input, which was visible when it was typed.
    pub(crate) fn reveal(&self) {
        let mut progress = self.progress.lock();
        if let Some(withheld) = progress.withheld.take() {
            Arc::make_mut(&mut progress.input).extend(withheld);
        }
    }

    /// The handle that the call is about.
    pub(crate) fn handle(&self) -> Option<&HandleId> {
        self.handle.as_ref()
    }

    /// Whether the input is a secret.
    pub(crate) fn is_secret(&self) -> bool {
        self.progress.lock().secret
    }

    /// Records the end of the call with its answer, and returns the reply.
    pub(crate) fn ended(&self, answer: Result<CallAnswer, Refusal>) -> CallReply {
        let id = self.id.to_string();
        let (reply, digest) = match answer {
            Ok(CallAnswer {
                content,
                is_error,
                error,
                extras,
                digest,
            }) => {
                let reply = CallReply {
                    id,
                    content,
                    is_error,
                    error,
                    extras,
                };
                (reply, digest)
            }
            Err(refusal) => (CallReply::refused(id, refusal.to_string()), None),
        };
        let output = reply.content.to_text();
        let mut metadata = self.metadata();
        if let Some(ShownInPart { shown, whole, log }) = digest.as_deref() {
            let mut digest = json!({ "shown": shown, "whole": whole });
            if let Some(log) = log {
                digest["log"] = json!(log);
            }
            metadata.insert("digest".into(), digest);
        }
        let exit = exit_metadata(&reply);
        tracing::debug!(
            tool = %self.tool,
            call = %self.id,
            failed = reply.is_error,
            refused = reply.extras.is_refusal,
            exit = ?exit,
            bytes = output.len(),
            "a call is answered"
        );
        metadata.extend(exit);
        if reply.is_error {
            self.failed(output, metadata, reply.error.as_ref());
        } else {
            let attachments = reply.extras.attachments.iter();
            let attachments: Vec<_> = attachments.map(|file| self.file(file)).collect();
            let mut progress = self.progress.lock();
            progress.ended = true;
            self.record(PartState::Completed(StateCompleted {
                input: std::mem::take(&mut progress.input),
                output,
                title: std::mem::take(&mut progress.title),
                metadata,
                time: progress.time(),
                attachments: Some(attachments).filter(|files| !files.is_empty()),
            }));
        }
        self.session.journal.append(SessionEvent::Replied {
            call: Arc::clone(&self.id),
            is_error: reply.is_error,
        });
        reply
    }

    fn failed(&self, error: String, mut metadata: Arguments, beyond_message: Option<&ErrorView>) {
        if let Some(ErrorView { transient, trace }) = beyond_message {
            metadata.insert("transient".into(), json!(transient));
            metadata.insert("trace".into(), json!(trace));
        }
        let mut progress = self.progress.lock();
        progress.ended = true;
        let state = StateError {
            input: std::mem::take(&mut progress.input),
            error,
            metadata: Some(metadata),
            time: progress.time(),
        };
        self.record(PartState::Error(state));
    }

    fn record(&self, state: PartState) {
        let metadata = self.metadata();
        self.session
            .journal
            .append(SessionEvent::Part(Arc::new(ToolPart {
                id: self.part.clone(),
                session_id: self.session.id.clone(),
                message_id: self.message.clone(),
                call_id: self.id.to_string(),
                tool: self.tool.to_string(),
                state,
                metadata: Some(metadata).filter(|metadata| !metadata.is_empty()),
            })));
    }

    fn metadata(&self) -> Arguments {
        let mut metadata = Arguments::new();
        if let Some(handle) = &self.handle {
            metadata.insert("handle".into(), json!(handle));
        }
        if let Some(action) = self.action {
            metadata.insert("action".into(), json!(action));
        }
        metadata
    }

    /// Records the arguments for the tool, which a person may have edited. The
    /// names of [`OF_THE_CALL`] cannot be edited.
    fn take_arguments(&self, input: &mut Arc<Arguments>, args: &Arguments) {
        let own = |name: &str| self.action.is_some() && OF_THE_CALL.contains(&name);
        let theirs = input.iter().filter(|(name, _)| !own(name));
        if theirs.eq(args) {
            return;
        }
        let kept = input.iter().filter(|(name, _)| own(name));
        let taken = kept.chain(args);
        let taken = taken.map(|(name, value)| (name.clone(), value.clone()));
        *input = Arc::new(taken.collect());
    }

    fn title_of(&self, tool: &RegisteredTool, args: &Arguments) -> String {
        let title = match (&tool.runs, self.action, &self.handle) {
            (Runs::Executor(executor), None | Some(HandleAction::Spawn), _) => {
                let root = &self.session.options.root;
                executor.title(&tool.definition, &brief(args), root)
            }
            (_, Some(action), Some(handle)) => format!("{action} {handle}"),
            _ => self.tool.to_string(),
        };
        match title.char_indices().nth(TITLE) {
            Some((cut, _)) => format!("{}…", &title[..cut]),
            None => title,
        }
    }

    fn file(&self, attachment: &Attachment) -> FilePart {
        let Attachment {
            mime,
            filename,
            url,
        } = attachment.clone();
        FilePart {
            id: PartId::from_suffix(&new_ulid()),
            session_id: self.session.id.clone(),
            message_id: self.message.clone(),
            mime,
            filename,
            url,
            source: None,
        }
    }
}

impl Drop for CallPart<'_> {
    fn drop(&mut self) {
        if !self.progress.get_mut().ended {
            self.failed(
                "cancelled: no client waits for the reply any more".to_owned(),
                self.metadata(),
                None,
            );
        }
    }
}

/// The exit of the process in a reply, if it failed.
fn exit_metadata(reply: &CallReply) -> Arguments {
    let (code, signal) = match (&reply.extras.exit, &reply.content) {
        (Some(Exit::Code(code)), _) => (Some(*code), None),
        (Some(Exit::Signal(signal)), _) => (None, Some(signal)),
        (None, ReplyContent::Handle(view)) => (view.exit_code, view.signal.as_ref()),
        (None, _) => (None, None),
    };
    let code = code.map(|code| ("exit_code".to_owned(), json!(code)));
    let signal = signal.map(|signal| ("signal".to_owned(), json!(signal)));
    code.into_iter().chain(signal).collect()
}

/// The arguments with long texts cut, for titles.
fn brief(args: &Arguments) -> Cow<'_, Arguments> {
    let is_long =
        |value: &Value| matches!(value, Value::String(text) if text.len() > LONG_FOR_A_TITLE);
    if !args.values().any(is_long) {
        return Cow::Borrowed(args);
    }
    let cut = |value: &Value| match value {
        Value::String(text) => text[..text.floor_char_boundary(LONG_FOR_A_TITLE)].into(),
        other => other.clone(),
    };
    let cut = args.iter().map(|(name, value)| (name.clone(), cut(value)));
    Cow::Owned(cut.collect())
}

fn now() -> Millis {
    Millis::at(SystemTime::now())
}
