//! The open question of a handle: who may answer it, and its answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;
use windlass_protocol::{Question, QuestionForm, ToolEvent};

use super::Handle;
use crate::orders::new_order;
use crate::refusal::Refusal;

impl Handle {
    /// Answers the open question if it is still this one: the first answer
    /// wins.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        question: &Question,
        answer: Value,
    ) -> Result<(), Refusal> {
        let is_form = answer.is_object() && self.form.lock().is_some();
        let checked = if is_form {
            Ok(answer)
        } else {
            question.check(answer)
        };
        let answer = checked.map_err(|error| {
            if question.secret {
                // The error would tell what was given.
                Refusal::SecretNotString {
                    question: question.id.clone(),
                }
            } else {
                error.into()
            }
        })?;
        if !self.claim_question(question) {
            return Err(Refusal::AlreadyAnswered {
                question: question.id.clone(),
            });
        }
        let Some(job) = self.job() else {
            unreachable!("only a job asks");
        };
        let answered = job.answer(&new_order(), question, answer).await;
        answered.map_err(Refusal::from)
    }

    /// Claims the right to answer this question. Returns false if it is no
    /// longer open.
    pub(crate) fn claim_question(self: &Arc<Self>, question: &Question) -> bool {
        let mut intake = self.intake.lock();
        let open = self.status.borrow().asks(question);
        if open {
            let at = self.job().map_or(0, |job| job.output().written());
            self.apply(&mut intake, at, &ToolEvent::Answered);
        }
        open
    }

    /// Leaves this question to the assistant, if it is still open.
    pub(crate) fn give_up(&self, question: &Question) {
        let intake = self.intake.lock();
        let given_up = self.status.borrow().asks(question);
        self.given_up.store(given_up, Ordering::Release);
        drop(intake);
        // Waiters on the handle must check their condition again.
        self.status.send_modify(|_| {});
    }

    /// Whether the open question is left to the assistant.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Acquire)
    }

    /// Whether the open question was routed when it was asked.
    pub(crate) fn is_routed(&self) -> bool {
        self.routed.load(Ordering::Acquire)
    }

    /// The tool's words beside its open question.
    pub(crate) fn context(&self) -> Option<String> {
        self.context.lock().clone()
    }

    /// Counts an answer without a person to this question. Returns false if
    /// there were too many.
    pub(crate) fn admits_answer(&self, question: &Question) -> bool {
        let content = self.context();
        let written = self.job().map_or(0, |job| job.output().written());
        // Contents are parted by a line break.
        let beside = content.as_ref().map_or(0, |content| content.len() + 1);
        let (repetition, before) = &mut *self.repetition.lock();
        let silent = written.saturating_sub(*before) <= beside as u64;
        *before = written;
        repetition.admits(question, content, silent)
    }

    /// The form that contains its open question.
    pub(crate) fn form(&self) -> Option<Box<QuestionForm>> {
        self.form.lock().clone()
    }
}
