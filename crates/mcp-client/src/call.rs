//! One call of a server's tool: its output, its questions and its end.
//!
//! A [`ServerCall`] is shared by the job, the server's messages and the task
//! that waits for the result. The waiting itself is in `follow`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequests,
    InputResponses, ProgressNotificationParam,
};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;
use windlass_output::OutputOptions;
use windlass_protocol::{InputError, Question, QuestionForm, ServerRefusal, ToolError};
use windlass_runtime::{
    ClientRefusal, ClientRequest, Ending, JobOutput, Reporter, ToolEvent, ToolLogLine, ToolProgress,
};

use crate::form::{ElicitationForm, Field, FormFields};
use crate::handler::NO_SAMPLING;

/// The number of times that an invalid answer is asked for again.
const TRIES: usize = 3;

/// A call that runs, or has ended.
pub(crate) struct ServerCall {
    /// Its progress, and a result that is too large for a reply.
    pub(crate) output: JobOutput,
    /// Cancelled when the call is to end.
    pub(crate) cancelled: CancellationToken,
    pub(crate) ended: watch::Sender<bool>,
    /// Whether progress is written to the output, where it can be read during
    /// the call.
    tells_progress: bool,
    reporter: Reporter,
    /// Receives the answer to the open question.
    open: Mutex<Option<oneshot::Sender<Value>>>,
    /// Held while a form is asked, because only one question may be open.
    asking: tokio::sync::Mutex<()>,
    is_over: AtomicBool,
    task_changed: Notify,
    last_progress: Mutex<Option<String>>,
    refusal: Mutex<Option<ServerRefusal>>,
}

impl ServerCall {
    pub(crate) fn new(reporter: Reporter, output: OutputOptions, tells_progress: bool) -> Self {
        Self {
            output: JobOutput::of_messages(output),
            cancelled: CancellationToken::new(),
            ended: watch::Sender::new(false),
            tells_progress,
            reporter,
            open: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            is_over: AtomicBool::new(false),
            task_changed: Notify::new(),
            last_progress: Mutex::default(),
            refusal: Mutex::default(),
        }
    }

    /// Whether it has ended and its end was reported.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    pub(crate) fn refused(&self, refusal: ServerRefusal) {
        *self.refusal.lock() = Some(refusal);
    }

    /// Tells its end, once.
    pub(crate) fn end(&self, mut ending: Ending) {
        ending.refused = self.refusal.lock().take().map(Box::new);
        if !self.is_over.swap(true, Ordering::AcqRel) {
            self.output.finish();
            self.report(ToolEvent::Ended(ending));
            self.ended.send_replace(true);
        }
    }

    /// Resolves when its end was reported.
    pub(crate) async fn wait(&self) {
        let mut ended = self.ended.subscribe();
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Appends text to its output.
    pub(crate) fn say(&self, text: &str) {
        if text.is_empty() || self.has_ended() {
            return;
        }
        let bytes = self.output.say(text.strip_suffix('\n').unwrap_or(text));
        self.report(ToolEvent::Wrote { bytes });
    }

    fn report(&self, event: ToolEvent) {
        self.reporter.report(self.output.written(), event);
    }

    /// Handles a progress notification.
    pub(crate) fn progressed(&self, progress: &ProgressNotificationParam) {
        let share = progress.total.map_or_else(
            || format!("{}", progress.progress),
            |total| format!("{}/{total}", progress.progress),
        );
        if let Some(client) = self.reporter.client() {
            client.progressed(ToolProgress {
                progress: progress.progress,
                total: progress.total,
                message: progress.message.clone(),
            });
        }
        self.report_progress(match &progress.message {
            Some(message) => format!("[{share}] {message}"),
            None => format!("[{share}]"),
        });
    }

    /// The server logs something.
    pub(crate) fn logged(&self, line: ToolLogLine) {
        if let Some(client) = self.reporter.client() {
            client.logged(line);
        }
    }

    /// Records the status of the server's task; a repeated status is ignored.
    pub(crate) fn report_progress(&self, text: String) {
        if !self.tells_progress {
            return;
        }
        let mut last = self.last_progress.lock();
        if last.as_deref() != Some(&text) {
            self.say(&text);
            *last = Some(text);
        }
    }

    /// Its task may have changed.
    pub(crate) fn look_at_task(&self) {
        self.task_changed.notify_one();
    }

    /// Resolves when its task may have changed.
    pub(crate) async fn task_changed(&self) {
        self.task_changed.notified().await;
    }

    /// Takes the answer to the open question.
    pub(crate) fn answer(&self, answer: Value) -> Result<(), InputError> {
        let open = self.open.lock().take();
        open.and_then(|open| open.send(answer).ok())
            .ok_or(InputError::NotOpen)
    }

    /// Asks the questions of a server's elicitation. The server may cancel it.
    pub(crate) async fn elicit(
        &self,
        request: ElicitRequestParams,
        given_up: &CancellationToken,
    ) -> ElicitResult {
        let _turn = self.asking.lock().await;
        let asked = tokio::select! {
            biased;
            asked = self.ask_form(request) => asked,
            () = given_up.cancelled() => {
                if self.open.lock().take().is_some() {
                    // The call no longer waits for the answer.
                    self.report(ToolEvent::Answered);
                }
                None
            }
            () = self.cancelled.cancelled() => None,
        };
        asked.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel))
    }

    async fn ask_form(&self, request: ElicitRequestParams) -> Option<ElicitResult> {
        let fields = match ElicitationForm::of(request)? {
            ElicitationForm::Consent(question) => {
                let yes = self.ask(question, None).await? == Value::Bool(true);
                return Some(ElicitResult::new(if yes {
                    ElicitationAction::Accept
                } else {
                    ElicitationAction::Decline
                }));
            }
            ElicitationForm::Fields(fields) => fields,
        };
        let mut content = Map::new();
        for (number, field) in fields.fields.iter().enumerate() {
            match self.ask_field(field, number, &fields).await? {
                Filled::One(Some(value)) => {
                    content.insert(field.name.clone(), value);
                }
                Filled::One(None) => {}
                Filled::Rest(values) => {
                    content.extend(values);
                    break;
                }
            }
        }
        let accepted = ElicitResult::new(ElicitationAction::Accept);
        Some(accepted.with_content(Value::Object(content)))
    }

    /// The value of a field, or of that and all further fields; `None` without
    /// a valid answer.
    async fn ask_field(&self, field: &Field, number: usize, all: &FormFields) -> Option<Filled> {
        let mut question = field.question.clone();
        let mut form = all.rest(number);
        for _ in 0..TRIES {
            let answer = self.ask(question, Some(form)).await?;
            let filled = match &answer {
                Value::Object(answer) => all.values(number, answer).map(Filled::Rest),
                answer => field.value(answer).map(Filled::One),
            };
            match filled {
                Ok(filled) => return Some(filled),
                Err(why) => {
                    question = field.question.clone();
                    question.text = format!("{} ({why})", question.text);
                    form = all.rest(number);
                    form.message = format!("{} ({why})", form.message);
                }
            }
        }
        None
    }

    async fn ask(&self, question: Question, form: Option<QuestionForm>) -> Option<Value> {
        let (answer, answered) = oneshot::channel();
        *self.open.lock() = Some(answer);
        self.report(ToolEvent::Asked {
            question,
            content: None,
            form: form.map(Box::new),
        });
        answered.await.ok()
    }

    /// Answers the requests in a result or a task. Those in `answered` are not
    /// asked again. Requests to the client are sent together, in parallel with
    /// the first question.
    pub(crate) async fn fulfil(
        &self,
        requests: InputRequests,
        answered: &BTreeMap<String, Value>,
    ) -> Result<InputResponses, ToolError> {
        let never = CancellationToken::new();
        let mut questions = Vec::new();
        let mut keys = Vec::new();
        let mut for_client = Vec::new();
        for (key, request) in requests {
            if answered.contains_key(&key) {
                continue;
            }
            match request {
                InputRequest::Elicitation(request) => questions.push((key, request.params)),
                InputRequest::ListRoots(_) => {
                    keys.push(key);
                    for_client.push(ClientRequest::ListRoots);
                }
                InputRequest::CreateMessage(request) => {
                    keys.push(key);
                    for_client.push(ClientRequest::Sample(to_json(&request.params)?));
                }
                _ => return Err(ToolError::new("the server asked for something unknown")),
            }
        }
        let asking = self.ask_client(for_client, !questions.is_empty());
        let eliciting = async {
            let mut responses = Vec::new();
            for (key, request) in questions {
                responses.push((key, to_json(&self.elicit(request, &never).await)?));
            }
            Ok::<_, ToolError>(responses)
        };
        // The requests reach the client before the question does.
        let (for_client, elicited) = tokio::join!(biased; asking, eliciting);
        let mut responses = InputResponses::new();
        for (key, answer) in keys.into_iter().zip(for_client) {
            let answer = answer.map_err(|error| ToolError::new(error.to_string()))?;
            responses.insert(key, answer);
        }
        responses.extend(elicited?);
        Ok(responses)
    }

    /// Passes requests of the server to the session's client. Without a client
    /// that supports folders, the list of folders is empty.
    pub(crate) async fn ask_client(
        &self,
        requests: Vec<ClientRequest>,
        beside_question: bool,
    ) -> Vec<Result<Value, ClientRefusal>> {
        if requests.is_empty() {
            return Vec::new();
        }
        let are_roots: Vec<_> = requests
            .iter()
            .map(|request| *request == ClientRequest::ListRoots)
            .collect();
        let answers = match self.reporter.client() {
            Some(client) => {
                let asking = client.ask(requests, beside_question);
                let asked = self.cancelled.run_until_cancelled(asking).await;
                asked.unwrap_or_default()
            }
            None => Vec::new(),
        };
        let mut answers = answers.into_iter();
        let all = are_roots.into_iter().map(|is_roots| {
            let none = || Err(ClientRefusal::Undeclared(NO_SAMPLING));
            match answers.next().unwrap_or_else(none) {
                Err(ClientRefusal::Undeclared(_)) if is_roots => Ok(json!({"roots": []})),
                answer => answer,
            }
        });
        all.collect()
    }
}

/// The fields that an answer fills in.
enum Filled {
    /// One field, which may be left out.
    One(Option<Value>),
    /// That field and all further ones.
    Rest(Map<String, Value>),
}

fn to_json(value: &impl serde::Serialize) -> Result<Value, ToolError> {
    serde_json::to_value(value).map_err(|error| ToolError::new(error.to_string()))
}
