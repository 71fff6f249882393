//! The orders of a text program.
//!
//! If a terminal program has replaced it, that program gets all orders.
//! `text.rs` starts, follows and reruns programs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use windlass_protocol::{HandleUse, InputError, Keyboard, OrderId, Question, Receipt};
use windlass_runtime::{Ending, Job, JobHost, JobOutput, JobTerminal, TypedCommands};

use super::{RunPhase, TextJob};
use crate::confined;
use crate::ending::to_receipt;
use crate::held;
use crate::listening::{ReaderKind, Situation};
use crate::typing;

#[async_trait]
impl Job for TextJob {
    fn output(&self) -> &JobOutput {
        &self.output
    }

    fn terminal(&self) -> Option<Arc<dyn JobTerminal>> {
        let terminal = self.terminal_program()?;
        Some(terminal)
    }

    fn host(&self) -> Arc<dyn JobHost> {
        confined::host(&self.process())
    }

    fn usage(&self) -> Option<HandleUse> {
        match self.terminal_program() {
            Some(terminal) => Some(terminal.usage()),
            None => Some(confined::usage(&self.process())),
        }
    }

    fn key(&self) -> Option<Value> {
        let run = self.run.lock();
        // The program that has taken over is not kept.
        let is_handed_over = run.terminal.is_some();
        let process = run.process.clone();
        drop(run);
        held::key_of(&process).filter(|_| !is_handed_over)
    }

    fn typed_commands(&self, input: &Keyboard) -> Option<TypedCommands> {
        if let Some(terminal) = self.terminal_program() {
            return terminal.typed_commands(input);
        }
        if !self.plan.runs_typed {
            return None;
        }
        let bytes = typing::bytes(input);
        let listeners = self.process().listeners();
        let listening = ReaderKind::to(listeners.as_deref(), Situation::default());
        self.typed.lock().commands(&bytes, &listening)
    }

    async fn apply(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError> {
        self.orders.once_now(order, || {
            if let Some(terminal) = self.terminal_program() {
                return terminal.apply(&input);
            }
            // What the program answers comes after this.
            let before = self.output.written();
            typing::type_in(&self.process(), &input)?;
            self.typed.lock().note(&typing::bytes(&input));
            self.output.note_input(before);
            Ok(())
        })
    }

    async fn answer(
        &self,
        order: &OrderId,
        question: &Question,
        answer: Value,
    ) -> Result<(), InputError> {
        let answered = async {
            if let Some(terminal) = self.terminal_program() {
                return terminal.answer(&answer);
            }
            let answers = {
                let mut run = self.run.lock();
                run.answers.insert(question.id.clone(), answer);
                run.answers.clone()
            };
            let again = async {
                let command = (self.plan.command)(&answers)?;
                self.run_again(command, false).await
            };
            again.await.map_err(|error| {
                self.report_end(Ending::with(Err(error.clone())));
                InputError::Rerun(error)
            })
        };
        self.orders.once(order, answered).await
    }

    async fn settle(&self, limit: Duration) {
        let deadline = tokio::time::Instant::now() + limit;
        let mut phase = self.phase.subscribe();
        loop {
            let (process, number, terminal) = {
                let run = self.run.lock();
                (run.process.clone(), run.number, run.terminal.clone())
            };
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if let Some(terminal) = terminal {
                return terminal.settle(left).await;
            }
            process.settle(left).await;
            if process.exit().is_none() {
                return;
            }
            // What the exit means is about to be told.
            let told = phase.wait_for(|phase| *phase != RunPhase::Running(number));
            match tokio::time::timeout_at(deadline, told).await {
                Ok(Ok(phase)) if matches!(*phase, RunPhase::Running(_) | RunPhase::HandedOver) => {}
                _ => return,
            }
        }
    }

    async fn leave(&self) {
        let process = {
            let mut run = self.run.lock();
            // What follows is its next owner's to hear.
            run.follower = None;
            run.process.clone()
        };
        process.leave().await;
    }

    async fn abort(&self, _order: &OrderId, grace: Duration) -> Receipt {
        let (process, terminal) = {
            let mut run = self.run.lock();
            run.aborted = true;
            (run.process.clone(), run.terminal.clone())
        };
        if let Some(terminal) = terminal {
            let receipt = terminal.abort(grace).await;
            // The program that has exited may have left some too.
            let left = to_receipt(process.end(grace).await);
            return Receipt {
                ended: receipt.ended + left.ended,
                survivors: [receipt.survivors, left.survivors].concat(),
            };
        }
        let receipt = process.end(grace).await;
        let mut phase = self.phase.subscribe();
        let told = phase.wait_for(|phase| matches!(phase, RunPhase::Asked | RunPhase::Ended));
        let asked = told.await.is_ok_and(|phase| *phase == RunPhase::Asked);
        if asked {
            // No program is left to report an end.
            self.report_end(Ending::failed("ended while it waited for an answer"));
        }
        let mut receipt = to_receipt(receipt);
        receipt.ended += self.run.lock().ended_late;
        receipt
    }
}
