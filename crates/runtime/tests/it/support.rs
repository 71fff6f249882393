//! A session on a stage: two scripted tools, the builtins, and whoever a test
//! wants to be there. Replies are compared as text, a line each.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinHandle;
use windlass_protocol::{BatchReply, Notice, ReplyContent};
use windlass_runtime::{
    Attendance, Await, Catalogue, DescribeTools, RunOptions, Runtime, Session, SessionEvent,
    SessionOptions, ToolDefinition, ToolEvent,
};
use windlass_testing::{
    MemoryRecorder, Scripted, ScriptedInquirer, ScriptedPerson, batch, lasting,
};

/// What a test may change before the session begins.
pub(crate) struct Setup {
    pub(crate) tool: ToolDefinition,
    pub(crate) other: ToolDefinition,
    pub(crate) options: SessionOptions,
}

/// A session and everyone around it.
pub(crate) struct Stage {
    /// Runs the tool `tool`.
    pub(crate) tool: Scripted,
    /// Runs the tool `other`.
    pub(crate) other: Scripted,
    pub(crate) session: Session,
    pub(crate) person: Arc<ScriptedPerson>,
    pub(crate) inquirer: Arc<ScriptedInquirer>,
    pub(crate) recording: Arc<MemoryRecorder>,
}

/// Who takes part besides the tools.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cast {
    pub(crate) person: bool,
    pub(crate) inquirer: bool,
    pub(crate) recorder: bool,
}

pub(crate) const NOBODY: Cast = Cast {
    person: false,
    inquirer: false,
    recorder: false,
};
pub(crate) const PERSON: Cast = Cast {
    person: true,
    ..NOBODY
};
pub(crate) const INQUIRER: Cast = Cast {
    inquirer: true,
    ..NOBODY
};

impl Stage {
    /// Tools only, without a person.
    pub(crate) fn new() -> Self {
        Self::with(NOBODY, |_| {})
    }

    pub(crate) fn with(cast: Cast, change: impl FnOnce(&mut Setup)) -> Self {
        let person = Arc::new(ScriptedPerson::new());
        let inquirer = Arc::new(ScriptedInquirer::new());
        let recording = Arc::new(MemoryRecorder::new());
        let mut options = SessionOptions::default();
        if cast.person {
            options.attendance = Attendance::Attended;
        }
        if cast.inquirer {
            options.inquirer = Some(inquirer.clone());
        }
        if cast.recorder {
            options.recorder = Some(recording.clone());
        }
        let mut setup = Setup {
            tool: lasting("tool"),
            other: lasting("other"),
            options,
        };
        change(&mut setup);
        let tool = Scripted::new();
        let other = Scripted::new();
        let mut catalogue = Catalogue::new();
        catalogue.register(setup.tool, tool.executor()).unwrap();
        catalogue.register(setup.other, other.executor()).unwrap();
        let waiting = Arc::new(Await);
        catalogue
            .register_builtin(Await::definition(), waiting)
            .unwrap();
        let describing = Arc::new(DescribeTools);
        catalogue
            .register_builtin(DescribeTools::definition(), describing)
            .unwrap();
        let session = Runtime::new(catalogue).session(setup.options);
        if cast.person {
            person.attend(session.requests());
        }
        Self {
            tool,
            other,
            session,
            person,
            inquirer,
            recording,
        }
    }

    /// Runs a batch and returns its replies as text.
    pub(crate) async fn run<const N: usize>(&self, calls: [(&str, Value); N]) -> String {
        told(&self.session.run(batch(calls), RunOptions::default()).await)
    }

    /// Runs a batch beside the test.
    pub(crate) fn go<const N: usize>(&self, calls: [(&str, Value); N]) -> JoinHandle<String> {
        let session = self.session.clone();
        let batch = batch(calls);
        tokio::spawn(async move { told(&session.run(batch, RunOptions::default()).await) })
    }

    /// Resolves when the journal holds such an event.
    pub(crate) async fn seen(&self, wanted: impl Fn(&SessionEvent) -> bool) -> SessionEvent {
        let mut tail = self.session.journal().tail(0);
        while let Some((_, entry)) = tail.next().await {
            if wanted(&entry.event) {
                return entry.event;
            }
        }
        panic!("the session closed without it");
    }

    /// Resolves when the call has come in.
    pub(crate) async fn called(&self, wanted: &str) {
        self.seen(|event| matches!(event, SessionEvent::Called { call, .. } if **call == *wanted))
            .await;
    }

    /// Everything in the journal so far, but for the marks of calls.
    pub(crate) async fn events(&self) -> Vec<SessionEvent> {
        let journal = self.session.journal();
        let mut tail = journal.tail(0);
        let mut events = Vec::new();
        for _ in 0..journal.last() {
            events.extend(tail.next().await.map(|(_, entry)| entry.event));
        }
        events.retain(|event| {
            !matches!(
                event,
                SessionEvent::Called { .. } | SessionEvent::Replied { .. } | SessionEvent::Part(_)
            )
        });
        events
    }

    /// The events of tools so far.
    pub(crate) async fn tool_events(&self) -> Vec<ToolEvent> {
        let events = self.events().await.into_iter();
        events
            .filter_map(|event| match event {
                SessionEvent::Tool { event, .. } => Some(event),
                _ => None,
            })
            .collect()
    }

    /// The notices that wait to be told, as text.
    pub(crate) fn notices(&self) -> String {
        let mut text = String::new();
        for notice in self.session.take_notices() {
            tell_notice(&mut text, &notice);
        }
        text.trim_end().to_owned()
    }
}

/// A batch's replies, a line each: the call, a `!` if it is an error, and the
/// content. Notices follow.
pub(crate) fn told(reply: &BatchReply) -> String {
    let mut text = String::new();
    for reply in &reply.replies {
        let mark = if reply.is_error { " !" } else { "" };
        let content = match &reply.content {
            ReplyContent::Text(content) => content.clone(),
            other => serde_json::to_string(other).unwrap(),
        };
        writeln!(text, "{}{mark} {content}", reply.id).unwrap();
    }
    for notice in &reply.notices {
        tell_notice(&mut text, notice);
    }
    text.trim_end().to_owned()
}

fn tell_notice(text: &mut String, notice: &Notice) {
    let word = |value: Value| value.as_str().unwrap().to_owned();
    let level = word(serde_json::to_value(notice.level).unwrap());
    let kind = word(serde_json::to_value(notice.kind).unwrap());
    writeln!(text, "notice {level} {kind}: {}", notice.text).unwrap();
}
