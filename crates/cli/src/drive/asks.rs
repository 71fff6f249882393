//! With `--ask` the driver is the person, and the assistant too.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;
use windlass_protocol::{
    Ask, DriveEvent, DriveOutput, PermissionAnswer, PermissionRequest, Question, TurnEndDecision,
    TurnEndHandle,
};
use windlass_runtime::{Inquirer, PermissionDecision, Person};

use super::fault::DriveFault;
use super::output::Output;

/// What the driver has been asked and has not answered.
pub(crate) struct Asks {
    output: Output,
    permissions: Mutex<HashMap<String, oneshot::Sender<PermissionDecision>>>,
    questions: Mutex<HashMap<String, (Question, oneshot::Sender<Value>)>>,
    inquiries: Mutex<HashMap<String, Inquiry>>,
    inquired: Mutex<u64>,
}

struct Inquiry {
    handles: Vec<String>,
    answer: oneshot::Sender<BTreeMap<String, TurnEndDecision>>,
}

impl Asks {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            output,
            permissions: Mutex::default(),
            questions: Mutex::default(),
            inquiries: Mutex::default(),
            inquired: Mutex::new(0),
        }
    }

    /// The driver replies to a permission request.
    pub(crate) fn permission(&self, answer: PermissionAnswer) -> Result<(), DriveFault> {
        let id = answer.permission.as_str();
        let Some(sender) = self.permissions.lock().remove(id) else {
            return Err(DriveFault::NoPermission(id.to_owned()));
        };
        let _ = sender.send(PermissionDecision {
            reply: answer.reply,
            message: answer.message,
            arguments: answer.arguments,
        });
        Ok(())
    }

    /// The driver answers a question. One that does not fit leaves it open.
    pub(crate) fn answer(&self, ask: &str, value: Value) -> Result<(), DriveFault> {
        let mut questions = self.questions.lock();
        let Some((question, _)) = questions.get(ask) else {
            return Err(DriveFault::NoQuestion(ask.to_owned()));
        };
        let value = question.check(value)?;
        if let Some((_, sender)) = questions.remove(ask) {
            let _ = sender.send(value);
        }
        Ok(())
    }

    /// The driver says what becomes of the handles at the turn's end.
    pub(crate) fn decide(
        &self,
        ask: &str,
        decisions: BTreeMap<String, TurnEndDecision>,
    ) -> Result<(), DriveFault> {
        let mut inquiries = self.inquiries.lock();
        let Some(inquiry) = inquiries.get(ask) else {
            return Err(DriveFault::NoInquiry(ask.to_owned()));
        };
        if let Some(unknown) = decisions.keys().find(|id| !inquiry.handles.contains(id)) {
            return Err(DriveFault::OtherHandle {
                inquiry: ask.to_owned(),
                handle: unknown.clone(),
                handles: inquiry.handles.clone(),
            });
        }
        if let Some(inquiry) = inquiries.remove(ask) {
            let _ = inquiry.answer.send(decisions);
        }
        Ok(())
    }

    fn tell(&self, event: DriveEvent) {
        self.output.write(&DriveOutput::Event(event));
    }
}

/// Forgets what was asked when the asking is over, answered or not.
struct Forget<'a, T>(&'a Mutex<HashMap<String, T>>, &'a str);

impl<T> Drop for Forget<'_, T> {
    fn drop(&mut self) {
        self.0.lock().remove(self.1);
    }
}

#[async_trait]
impl Person for Asks {
    async fn permit(&self, request: &PermissionRequest) -> Option<PermissionDecision> {
        let id = request.id.as_str();
        let (sender, receiver) = oneshot::channel();
        self.permissions.lock().insert(id.to_owned(), sender);
        let _forget = Forget(&self.permissions, id);
        self.tell(DriveEvent::Permission {
            request: request.clone(),
        });
        receiver.await.ok()
    }

    async fn answer(&self, ask: &Ask) -> Option<Value> {
        let (sender, receiver) = oneshot::channel();
        let entry = (ask.question.clone(), sender);
        self.questions.lock().insert(ask.ask.clone(), entry);
        let _forget = Forget(&self.questions, &ask.ask);
        self.tell(DriveEvent::Question(ask.clone()));
        receiver.await.ok()
    }
}

#[async_trait]
impl Inquirer for Asks {
    async fn answer(&self, ask: &Ask) -> Option<Value> {
        Person::answer(self, ask).await
    }

    async fn decide(&self, handles: &[TurnEndHandle]) -> Option<BTreeMap<String, TurnEndDecision>> {
        let number = {
            let mut inquired = self.inquired.lock();
            *inquired += 1;
            *inquired
        };
        let ask = format!("q_turn_{number}");
        let (answer, receiver) = oneshot::channel();
        let inquiry = Inquiry {
            handles: handles.iter().map(|handle| handle.id.to_string()).collect(),
            answer,
        };
        self.inquiries.lock().insert(ask.clone(), inquiry);
        let _forget = Forget(&self.inquiries, &ask);
        self.tell(DriveEvent::Inquire {
            ask: ask.clone(),
            handles: handles.to_vec(),
        });
        receiver.await.ok()
    }
}
