//! `--ask`: the driver acts as the person and as the assistant.
//!
//! As the person it gets the session's open requests ([`tell_requests`]) and
//! replies by their ids. As the assistant it answers inquiries ([`Inquiries`]).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;
use windlass_protocol::{Ask, DriveEvent, DriveOutput, Question, TurnEndDecision, TurnEndHandle};
use windlass_runtime::{Inquirer, PersonRequest, RequestWatch, Session};

use super::fault::DriveFault;
use super::lines::LineOutput;

/// Questions that the driver has answered, so that their closing is not
/// reported to it.
#[derive(Clone, Default)]
pub(crate) struct AnsweredAsks(Arc<Mutex<HashSet<String>>>);

impl AnsweredAsks {
    /// Records that the driver answers this question.
    pub(crate) fn add(&self, ask: &str) {
        self.0.lock().insert(ask.to_owned());
    }

    /// Reverts that. Returns false if there was no record.
    pub(crate) fn remove(&self, ask: &str) -> bool {
        self.0.lock().remove(ask)
    }
}

/// Reports opened requests and withdrawn questions to the driver until the
/// session ends.
pub(crate) async fn tell_requests(
    output: LineOutput,
    session: Session,
    mut watch: RequestWatch,
    answered: AnsweredAsks,
) {
    while let Some(open) = watch.next().await {
        // Skip a request that was withdrawn meanwhile.
        if !open.is_open() {
            continue;
        }
        let event = match open.request() {
            PersonRequest::Permission(request) => DriveEvent::Permission {
                request: (**request).clone(),
            },
            PersonRequest::Question(ask) | PersonRequest::Trust(ask) => {
                DriveEvent::Question((**ask).clone())
            }
        };
        output.write(&DriveOutput::Event(Box::new(event)));
        if let PersonRequest::Question(ask) = open.request() {
            let ask = ask.ask.clone();
            let (output, session, answered) = (output.clone(), session.clone(), answered.clone());
            windlass_task::spawn(async move {
                open.closed().await;
                if !answered.remove(&ask) && !session.is_closing() {
                    output.write(&DriveOutput::Event(Box::new(DriveEvent::Withdrawn { ask })));
                }
            });
        }
    }
}

/// Inquiries that the driver has not answered.
pub(crate) struct Inquiries {
    output: LineOutput,
    questions: Mutex<HashMap<String, (Question, oneshot::Sender<Value>)>>,
    turn_ends: Mutex<HashMap<String, TurnEndInquiry>>,
    inquired: Mutex<u64>,
}

struct TurnEndInquiry {
    handles: Vec<String>,
    answer: oneshot::Sender<BTreeMap<String, TurnEndDecision>>,
}

impl Inquiries {
    pub(crate) fn new(output: LineOutput) -> Self {
        Self {
            output,
            questions: Mutex::default(),
            turn_ends: Mutex::default(),
            inquired: Mutex::new(0),
        }
    }

    /// Whether the assistant, not the person, is asked this.
    pub(crate) fn holds(&self, ask: &str) -> bool {
        self.questions.lock().contains_key(ask)
    }

    /// Answers for the assistant. An answer that does not fit leaves the
    /// question open.
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

    /// Declines for the assistant: the question takes its default, or fails.
    pub(crate) fn decline(&self, ask: &str) -> Result<(), DriveFault> {
        match self.questions.lock().remove(ask) {
            Some(_) => Ok(()),
            None => Err(DriveFault::NoQuestion(ask.to_owned())),
        }
    }

    /// Decides on the handles at the end of the turn.
    pub(crate) fn decide(
        &self,
        ask: &str,
        decisions: BTreeMap<String, TurnEndDecision>,
    ) -> Result<(), DriveFault> {
        let mut inquiries = self.turn_ends.lock();
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

    fn send(&self, event: DriveEvent) {
        self.output.write(&DriveOutput::Event(Box::new(event)));
    }
}

/// Guard: reports a question as withdrawn, unless it was answered.
struct ToldWhenWithdrawn<'a>(&'a Inquiries, &'a str);

impl Drop for ToldWhenWithdrawn<'_> {
    fn drop(&mut self) {
        if self.0.holds(self.1) {
            self.0.send(DriveEvent::Withdrawn {
                ask: self.1.to_owned(),
            });
        }
    }
}

/// Guard: removes a question when it is over.
struct Forget<'a, T>(&'a Mutex<HashMap<String, T>>, &'a str);

impl<T> Drop for Forget<'_, T> {
    fn drop(&mut self) {
        self.0.lock().remove(self.1);
    }
}

#[async_trait]
impl Inquirer for Inquiries {
    async fn answer(&self, ask: &Ask) -> Option<Value> {
        let (sender, receiver) = oneshot::channel();
        let entry = (ask.question.clone(), sender);
        self.questions.lock().insert(ask.ask.clone(), entry);
        let _forget = Forget(&self.questions, &ask.ask);
        self.send(DriveEvent::Question(ask.clone()));
        let _withdrawn = ToldWhenWithdrawn(self, &ask.ask);
        receiver.await.ok()
    }

    async fn decide(&self, handles: &[TurnEndHandle]) -> Option<BTreeMap<String, TurnEndDecision>> {
        let number = {
            let mut inquired = self.inquired.lock();
            *inquired += 1;
            *inquired
        };
        let ask = format!("q_turn_{number}");
        let (answer, receiver) = oneshot::channel();
        let inquiry = TurnEndInquiry {
            handles: handles.iter().map(|handle| handle.id.to_string()).collect(),
            answer,
        };
        self.turn_ends.lock().insert(ask.clone(), inquiry);
        let _forget = Forget(&self.turn_ends, &ask);
        self.send(DriveEvent::Inquire {
            ask: ask.clone(),
            handles: handles.to_vec(),
        });
        receiver.await.ok()
    }
}
