//! The trait for running tools.
//!
//! The runtime calls an [`Executor`] to start a tool and gets a [`Job`] for
//! orders; the job reports events through its [`Reporter`]. Neither knows the
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

/// Starts tools.
#[async_trait]
pub trait Executor: Send + Sync + 'static {
    /// Starts the tool, and returns as soon as it runs.
    ///
    /// Reports made before this returns are queued. An error means that nothing
    /// was started.
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError>;

    /// Takes over a running tool from its description. Events after the
    /// description's offset are reported, and the open question is reported
    /// again. An executor whose tools end with it returns
    /// [`AdoptError::Unsupported`].
    async fn adopt(
        &self,
        running: JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError>;

    /// Whether its tools can be kept beyond their runtime ([`Start::keep`]) and
    /// adopted.
    fn keeps(&self) -> bool {
        false
    }

    /// The subject of a permission request for a call in the project at `root`.
    /// Default: the tool's name only.
    fn subject(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> Subject {
        let _ = (args, root);
        Subject::new(&tool.name, [tool.name.as_str()]).remembering([&tool.name])
    }

    /// A short text for a call that starts the tool, for lists. Default: the
    /// patterns of its subject.
    fn title(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> String {
        self.subject(tool, args, root).texts().join("; ")
    }

    /// The arguments in a readable form for a permission request, if the tool
    /// provides one; otherwise they are shown unchanged. The call must not have
    /// any effect yet. Returns within a few seconds.
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

/// The reason why a running tool could not be adopted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdoptError {
    /// Tools of this executor end with the runtime that started them.
    #[error("tools of this kind end with the runtime that started them; start the tool again")]
    Unsupported,
    /// The tool no longer runs, or the key is not this executor's.
    #[error("the tool no longer runs; start it again")]
    Gone,
    /// Its holder does not answer, or does not release it.
    #[error("the holder of the tool refused to hand it over")]
    Silent,
    /// Another runtime has it.
    #[error("the tool belongs to another runtime, process {owner}")]
    Taken {
        /// The runtime's process.
        owner: u32,
    },
    /// It runs but could not be taken over.
    #[error("the tool could not be taken over: {why}")]
    Failed {
        /// The reason.
        why: String,
    },
}

/// Receives reports.
pub(crate) trait ReportSink: Send + Sync + 'static {
    fn take_in(self: Arc<Self>, report: ToolReport);

    /// The client of the session that the tool runs in, if it has one.
    fn client(&self) -> Option<ToolClient>;

    /// Asks the person a question that is independent of the tool's own.
    fn ask_person(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answered>;
}

/// Reports the events of one tool. Cloning is cheap; reports on a handle that
/// is gone are ignored.
#[derive(Clone)]
pub struct Reporter(Weak<dyn ReportSink>);

impl Reporter {
    pub(crate) fn to<S: ReportSink>(sink: &Arc<S>) -> Self {
        Self(Arc::<S>::downgrade(sink))
    }

    /// A reporter without a handle, and its reports, for running an executor
    /// outside of a session.
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

    /// The client of the session, if the front end forwards tools' requests to
    /// it.
    pub fn client(&self) -> Option<ToolClient> {
        self.0.upgrade()?.client()
    }

    /// Asks the person for something that the tool needs before it runs, such
    /// as access to its machine. Only the person is asked; if nobody attends
    /// the session, the answer is [`Answered::Nobody`] at once. Dropping the
    /// future withdraws the question.
    pub async fn ask_person(&self, question: Question) -> Answered {
        match self.0.upgrade() {
            Some(sink) => sink.ask_person(question).await,
            None => Answered::Nobody,
        }
    }

    /// Whether the runtime still processes reports.
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
        // The caller dropped the receiver, so it does not need the value.
        let _ = self.0.send(report);
    }

    fn client(&self) -> Option<ToolClient> {
        None
    }

    fn ask_person(self: Arc<Self>, _question: Question) -> BoxFuture<'static, Answered> {
        Box::pin(std::future::ready(Answered::Nobody))
    }
}
