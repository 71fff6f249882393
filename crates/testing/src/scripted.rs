//! An executor whose tools follow the test's instructions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_protocol::{Arguments, Question, ToolError};
use windlass_runtime::{
    AdoptError, Answered, Executor, Job, JobDescription, Reporter, Start, Subject, ToolDefinition,
};

use crate::scripted_job::{ScriptedJob, ScriptedRun};

type Opening = Box<dyn FnMut(&ScriptedJob) + Send>;
type Naming = Box<dyn Fn(&Arguments) -> Subject + Send + Sync>;

/// An executor for tests. Cloning is cheap and gives the same executor, so
/// that one clone is registered and the other is kept as the control.
///
/// Every tool that it starts is a [`ScriptedJob`], which the test gets with
/// [`Scripted::next`] and then controls. [`Scripted::opening`] sets the actions
/// of a tool before its spawn is answered.
///
/// ```
/// # use serde_json::json;
/// # use windlass_runtime::{Catalogue, RunOptions, Runtime, SessionOptions};
/// # use windlass_testing::{Scripted, batch, lasting};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let build = Scripted::new();
/// let mut catalogue = Catalogue::new();
/// catalogue.register(lasting("build"), build.executor())?;
/// let session = Runtime::new(catalogue).session(SessionOptions::default());
///
/// let spawn = json!({"action": "spawn", "id": "b1"});
/// session.run(batch([("build", spawn)]), RunOptions::default()).await;
/// let job = build.next().await;
/// job.write("2 warnings\n");
/// job.end();
///
/// let fetch = json!({"action": "fetch", "id": "b1"});
/// let reply = session.run(batch([("build", fetch)]), RunOptions::default()).await;
/// assert_eq!(
///     json!(reply.replies[0].content),
///     json!({"id": "b1", "state": "stopped", "result": "2 warnings\n"})
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Scripted(Arc<ScriptedInner>);

struct ScriptedInner {
    started: watch::Sender<Vec<ScriptedJob>>,
    /// The number of tools that [`Scripted::next`] has returned.
    given: Mutex<usize>,
    opening: Mutex<Option<Opening>>,
    subject: Mutex<Option<Naming>>,
    display: Mutex<Option<String>>,
    failure: Mutex<Option<ToolError>>,
    timeout: Mutex<Option<Duration>>,
    asks: Mutex<Option<Question>>,
    held: watch::Sender<bool>,
    attempts: watch::Sender<usize>,
}

impl Default for Scripted {
    fn default() -> Self {
        Self::new()
    }
}

impl Scripted {
    /// An executor that has started nothing.
    pub fn new() -> Self {
        Self(Arc::new(ScriptedInner {
            started: watch::Sender::new(Vec::new()),
            given: Mutex::new(0),
            opening: Mutex::new(None),
            subject: Mutex::new(None),
            display: Mutex::new(None),
            failure: Mutex::new(None),
            timeout: Mutex::new(None),
            asks: Mutex::new(None),
            held: watch::Sender::new(false),
            attempts: watch::Sender::new(0),
        }))
    }

    /// As an executor to register.
    pub fn executor(&self) -> Arc<dyn Executor> {
        Arc::new(self.clone())
    }

    /// The next started tool that was not returned before.
    pub async fn next(&self) -> ScriptedJob {
        let place = {
            let mut given = self.0.given.lock();
            *given += 1;
            *given - 1
        };
        let mut started = self.0.started.subscribe();
        let jobs = started.wait_for(|jobs| jobs.len() > place).await;
        jobs.expect("the executor holds the sender")[place].clone()
    }

    /// Everything that was started, oldest first.
    pub fn started(&self) -> Vec<ScriptedJob> {
        self.0.started.borrow().clone()
    }

    /// The newest tool that runs under this handle id.
    pub fn job(&self, id: &str) -> Option<ScriptedJob> {
        let started = self.0.started.borrow();
        let is_it = |job: &&ScriptedJob| job.id() == Some(id);
        started.iter().rev().find(is_it).cloned()
    }

    /// Sets the actions of each tool at its start, before the start returns.
    pub fn opening(&self, opening: impl FnMut(&ScriptedJob) + Send + 'static) {
        *self.0.opening.lock() = Some(Box::new(opening));
    }

    /// Sets the subject of permission requests.
    pub fn subject(&self, subject: impl Fn(&Arguments) -> Subject + Send + Sync + 'static) {
        *self.0.subject.lock() = Some(Box::new(subject));
    }

    /// Sets the rendering of every call's arguments for a person.
    pub fn set_display(&self, display: &str) {
        *self.0.display.lock() = Some(display.to_owned());
    }

    /// From now on nothing starts, for this reason.
    pub fn fail_to_start(&self, error: ToolError) {
        *self.0.failure.lock() = Some(error);
    }

    /// Sets the time limit that every call's arguments imply.
    pub fn set_timeout(&self, limit: Duration) {
        *self.0.timeout.lock() = Some(limit);
    }

    /// From now on every start first asks the person.
    pub fn ask_before_start(&self, question: Question) {
        *self.0.asks.lock() = Some(question);
    }

    /// From now on starts take until [`Scripted::release`].
    pub fn hold(&self) {
        self.0.held.send_replace(true);
    }

    /// Releases held starts.
    pub fn release(&self) {
        self.0.held.send_replace(false);
    }

    /// Resolves after this many attempts to start, including held ones.
    pub async fn attempted(&self, count: usize) {
        let mut attempts = self.0.attempts.subscribe();
        let reached = attempts.wait_for(|attempts| *attempts >= count).await;
        reached.expect("the executor holds the sender");
    }
}

#[async_trait]
impl Executor for Scripted {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let inner = &self.0;
        inner.attempts.send_modify(|attempts| *attempts += 1);
        let mut held = inner.held.subscribe();
        let free = held.wait_for(|held| !held).await;
        drop(free.expect("the executor holds the sender"));
        let asks = inner.asks.lock().clone();
        if let Some(question) = asks {
            match reporter.ask_person(question).await {
                Answered::With(_) => {}
                Answered::Declined(why) => return Err(ToolError::new(why)),
                Answered::Nobody => return Err(ToolError::new("nobody answers")),
            }
        }
        if let Some(error) = &*inner.failure.lock() {
            return Err(error.clone());
        }
        let job = ScriptedJob::new(start, reporter);
        if let Some(opening) = &mut *inner.opening.lock() {
            opening(&job);
        }
        inner.started.send_modify(|jobs| jobs.push(job.clone()));
        Ok(Arc::new(ScriptedRun(job)))
    }

    /// Adopts a tool that was detached with [`ScriptedJob::detach`].
    async fn adopt(
        &self,
        running: JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError> {
        let started = self.started();
        let job = started.into_iter().find(|job| job.key() == running.key);
        let job = job.filter(|job| !job.has_ended()).ok_or(AdoptError::Gone)?;
        job.adopted(running.at, reporter);
        Ok(Arc::new(ScriptedRun(job)))
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments, _: &Path) -> Subject {
        match &*self.0.subject.lock() {
            Some(subject) => subject(args),
            None => Subject::new(&tool.name, [tool.name.as_str()]).remembering([&tool.name]),
        }
    }

    async fn format_arguments(&self, _: Start) -> Option<String> {
        self.0.display.lock().clone()
    }

    fn timeout(&self, _: &Arguments) -> Option<Duration> {
        *self.0.timeout.lock()
    }
}
