//! How a tool runs: the trait that executors implement.
//!
//! The runtime calls an [`Executor`] to start a tool and gets a [`Job`] to
//! give orders to; the job reports events through its [`Reporter`]. Orders
//! go down by calls, events come up by reports, and neither knows the
//! registry.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use windlass_protocol::{
    Arguments, JobDescription, Question, Start, ToolDefinition, ToolError, ToolEvent, ToolReport,
};

use crate::client::ToolClient;
use crate::inquirer::Answered;
use crate::job::Job;
use crate::subject::Subject;

/// Starts a tool.
#[async_trait]
pub trait Executor: Send + Sync + 'static {
    /// Starts the tool and answers as soon as it runs.
    ///
    /// Reports made before this returns are kept until it has. An error means
    /// that nothing runs and nothing is left.
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError>;

    /// Takes over a tool that runs already, from its description. Reports on
    /// what happened after the description's offset follow, and the question
    /// that is open is reported again. An executor whose tools end with it
    /// answers [`AdoptError::Unsupported`].
    async fn adopt(
        &self,
        running: JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError>;

    /// Whether its tools can be kept beyond their runtime ([`Start::keep`]),
    /// and so be adopted.
    fn keeps(&self) -> bool {
        false
    }

    /// The subject of a permission request for a call in the project at
    /// `root`. By default the tool's name and no more.
    fn subject(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> Subject {
        let _ = (args, root);
        Subject::new(&tool.name, [tool.name.as_str()]).remembering([&tool.name])
    }

    /// A short text for a call that starts the tool, to list it by. By default
    /// the patterns of its subject.
    fn title(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> String {
        self.subject(tool, args, root).texts().join("; ")
    }

    /// The arguments as a person would like to read them before they permit
    /// the call, if the tool can say; else they are shown as they are. Nothing
    /// is done yet, and may not be. Answers within a few seconds.
    async fn format_arguments(&self, start: Start) -> Option<String> {
        let _ = start;
        None
    }

    /// A time limit that these arguments set for a one-shot.
    fn timeout(&self, args: &Arguments) -> Option<Duration> {
        let _ = args;
        None
    }
}

/// A running tool that could not be adopted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdoptError {
    /// Tools of this executor end with the runtime that started them.
    #[error("tools of this kind end with the runtime that started them; start the tool again")]
    Unsupported,
    /// The tool does not run any more, or the key is not this executor's.
    #[error("the tool no longer runs; start it again")]
    Gone,
    /// Whoever holds it does not answer, or does not give it away.
    #[error("whoever holds the tool does not give it away now")]
    Silent,
    /// Another runtime has it.
    #[error("the tool belongs to another runtime, process {owner}")]
    Taken {
        /// The runtime's process.
        owner: u32,
    },
    /// It runs, and could not be taken over.
    #[error("the tool could not be taken over: {why}")]
    Failed {
        /// The reason.
        why: String,
    },
}

/// Takes in what reporters report.
pub(crate) trait ReportSink: Send + Sync + 'static {
    fn take_in(self: Arc<Self>, report: ToolReport);

    /// The client of the session that the tool runs in, if it has one.
    fn client(&self) -> Option<ToolClient>;

    /// Puts a question to the person, beside those of the tool.
    fn ask_person(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answered>;
}

/// Reports what happens to one tool. Cloning is cheap; reporting on a handle
/// that is gone does nothing.
#[derive(Clone)]
pub struct Reporter(Weak<dyn ReportSink>);

impl Reporter {
    pub(crate) fn to<S: ReportSink>(sink: &Arc<S>) -> Self {
        let sink: Weak<S> = Arc::downgrade(sink);
        Self(sink)
    }

    /// A reporter without a handle, and the reports made through it or its
    /// clones: for running an executor outside of a session.
    pub fn channel() -> (Self, Reports) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let sink = Arc::new(Channel(sender));
        let reporter = Self::to(&sink);
        (
            reporter,
            Reports {
                receiver,
                _sink: sink,
            },
        )
    }

    /// Reports an event that happened when the output had `at` bytes.
    pub fn report(&self, at: u64, event: ToolEvent) {
        if let Some(sink) = self.0.upgrade() {
            sink.take_in(ToolReport { at, event });
        }
    }

    /// The client of the session, where the front end passes requests of tools
    /// on to it.
    pub fn client(&self) -> Option<ToolClient> {
        self.0.upgrade()?.client()
    }

    /// Puts a question to the person, for something that the tool needs before
    /// it runs, such as the way to its machine. Nobody but the person is asked,
    /// and where nobody attends the session the answer is [`Answered::Nobody`]
    /// at once. Dropping the future withdraws the question.
    pub async fn ask_person(&self, question: Question) -> Answered {
        match self.0.upgrade() {
            Some(sink) => sink.ask_person(question).await,
            None => Answered::Nobody,
        }
    }

    /// The runtime still wants to know.
    pub fn is_wanted(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// The reports of one tool that runs outside of a session, in order.
pub struct Reports {
    receiver: mpsc::UnboundedReceiver<ToolReport>,
    _sink: Arc<Channel>,
}

impl Reports {
    /// Waits for the next report.
    pub async fn next(&mut self) -> Option<ToolReport> {
        self.receiver.recv().await
    }

    /// The next report, if there is one already.
    pub fn try_next(&mut self) -> Option<ToolReport> {
        self.receiver.try_recv().ok()
    }
}

struct Channel(mpsc::UnboundedSender<ToolReport>);

impl ReportSink for Channel {
    fn take_in(self: Arc<Self>, report: ToolReport) {
        // Whoever dropped the receiver does not want to know.
        let _ = self.0.send(report);
    }

    fn client(&self) -> Option<ToolClient> {
        None
    }

    fn ask_person(self: Arc<Self>, _question: Question) -> BoxFuture<'static, Answered> {
        Box::pin(std::future::ready(Answered::Nobody))
    }
}
