//! A scripted person and inquirer; the test gives the answers.
//!
//! Each question arrives at the test as a [`PendingPrompt`] and stays open
//! until the test replies, or until the runtime withdraws it.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc, oneshot};
use windlass_protocol::{
    Ask, PermissionAnswer, PermissionReply, PermissionRequest, TurnEndDecision, TurnEndHandle,
};
use windlass_runtime::{
    Inquirer, OpenRequest, PendingRequests, PersonRequest, ReplyError, RequestWatch,
};

/// A prompt that waits for the test's reply.
#[derive(Debug)]
pub struct PendingPrompt<Q, A> {
    /// The question or request.
    pub asked: Q,
    reply: oneshot::Sender<Option<A>>,
}

impl<Q, A> PendingPrompt<Q, A> {
    /// Answers. Nothing happens when the question was withdrawn.
    pub fn reply(self, answer: A) {
        let _ = self.reply.send(Some(answer));
    }

    /// Nobody answers.
    pub fn decline(self) {
        let _ = self.reply.send(None);
    }

    /// Resolves when the runtime withdraws the prompt.
    pub async fn withdrawn(mut self) {
        self.reply.closed().await;
    }

    /// Whether the runtime still waits for an answer.
    pub fn is_open(&self) -> bool {
        !self.reply.is_closed()
    }
}

impl<Q> PendingPrompt<Q, PermissionAnswer> {
    /// Permits it this time.
    pub fn once(self) {
        self.decide(PermissionReply::Once, None);
    }

    /// Permits it from now on.
    pub fn always(self) {
        self.decide(PermissionReply::Always, None);
    }

    /// Rejects the request, optionally with a message to the assistant.
    pub fn reject(self, message: Option<&str>) {
        self.decide(PermissionReply::Reject, message);
    }

    fn decide(self, reply: PermissionReply, message: Option<&str>) {
        self.reply(PermissionAnswer {
            reply,
            message: message.map(str::to_owned),
            arguments: None,
        });
    }
}

/// A channel of prompts from the runtime to the test.
#[derive(Debug)]
struct PromptChannel<Q, A> {
    sender: mpsc::UnboundedSender<PendingPrompt<Q, A>>,
    receiver: Mutex<mpsc::UnboundedReceiver<PendingPrompt<Q, A>>>,
}

impl<Q, A> PromptChannel<Q, A> {
    fn new() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let receiver = Mutex::new(receiver);
        Self { sender, receiver }
    }

    async fn ask(&self, asked: Q) -> Option<A> {
        let (reply, answer) = oneshot::channel();
        self.sender.send(PendingPrompt { asked, reply }).ok()?;
        // A prompt that the test drops was not answered.
        answer.await.ok().flatten()
    }

    async fn next(&self) -> PendingPrompt<Q, A> {
        let mut receiver = self.receiver.lock().await;
        let prompt = receiver.recv().await;
        prompt.expect("the line holds its own sender")
    }
}

/// The number of times that an invalid answer is asked for again.
const TRIES: usize = 3;

/// A person played by the test: a watcher of a session's requests.
#[derive(Debug)]
pub struct ScriptedPerson {
    lines: Arc<PersonLines>,
}

#[derive(Debug)]
struct PersonLines {
    permissions: PromptChannel<PermissionRequest, PermissionAnswer>,
    questions: PromptChannel<Ask, Value>,
}

impl Default for ScriptedPerson {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedPerson {
    /// A person who answers when the test does.
    pub fn new() -> Self {
        Self {
            lines: Arc::new(PersonLines {
                permissions: PromptChannel::new(),
                questions: PromptChannel::new(),
            }),
        }
    }

    /// Watches these requests until their session ends. A prompt that the test
    /// declines or drops is given up.
    pub fn attend(&self, requests: &PendingRequests) {
        tokio::spawn(follow(Arc::clone(&self.lines), requests.watch()));
    }

    /// The next permission request.
    pub async fn next_permission(&self) -> PendingPrompt<PermissionRequest, PermissionAnswer> {
        self.lines.permissions.next().await
    }

    /// The next question.
    pub async fn next_question(&self) -> PendingPrompt<Ask, Value> {
        self.lines.questions.next().await
    }
}

async fn follow(lines: Arc<PersonLines>, mut watch: RequestWatch) {
    while let Some(open) = watch.next().await {
        let lines = Arc::clone(&lines);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = open.closed() => {}
                () = lines.prompt(&open) => {}
            }
        });
    }
}

impl PersonLines {
    async fn prompt(&self, open: &OpenRequest) {
        match open.request() {
            PersonRequest::Permission(request) => {
                while let Some(answer) = self.permissions.ask((**request).clone()).await {
                    match open.reply(answer) {
                        // The person sees the error and edits the arguments again.
                        Err(ReplyError::UnfitArguments(_)) => {}
                        // It may have been closed in this moment.
                        _ => return,
                    }
                }
            }
            PersonRequest::Question(ask) | PersonRequest::Trust(ask) => {
                for _ in 0..TRIES {
                    let Some(answer) = self.questions.ask((**ask).clone()).await else {
                        break;
                    };
                    match open.answer(answer) {
                        Err(ReplyError::Unfit(_) | ReplyError::UnfitSecret(_)) => {}
                        _ => return,
                    }
                }
            }
        }
        open.give_up();
    }
}

/// A model for inquiries, played by the test.
#[derive(Debug)]
pub struct ScriptedInquirer {
    questions: PromptChannel<Ask, Value>,
    decisions: PromptChannel<Vec<TurnEndHandle>, BTreeMap<String, TurnEndDecision>>,
}

impl Default for ScriptedInquirer {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedInquirer {
    /// A model that answers when the test does.
    pub fn new() -> Self {
        Self {
            questions: PromptChannel::new(),
            decisions: PromptChannel::new(),
        }
    }

    /// The next question.
    pub async fn next_question(&self) -> PendingPrompt<Ask, Value> {
        self.questions.next().await
    }

    /// The next inquiry about handles at a turn's end.
    pub async fn next_inquiry(
        &self,
    ) -> PendingPrompt<Vec<TurnEndHandle>, BTreeMap<String, TurnEndDecision>> {
        self.decisions.next().await
    }
}

#[async_trait]
impl Inquirer for ScriptedInquirer {
    async fn answer(&self, ask: &Ask) -> Option<Value> {
        self.questions.ask(ask.clone()).await
    }

    async fn decide(&self, handles: &[TurnEndHandle]) -> Option<BTreeMap<String, TurnEndDecision>> {
        self.decisions.ask(handles.to_vec()).await
    }
}
