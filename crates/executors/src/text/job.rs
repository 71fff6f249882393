//! What the runtime asks of a text program.
//!
//! Once a program on a terminal has taken over, everything goes to that one.
//! How a program is started, followed and run again is in `text.rs`.

use std::ops::Range;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use regex::Regex;
use serde_json::Value;
use windlass_process::{Cursor, Stream};
use windlass_protocol::{Question, ScreenUpdate, Typing, View};
use windlass_runtime::{Ending, Job, Keyboard, Reading, Receipt, Since};

use super::{Phase, Run, TextJob};
use crate::ending::{tail, to_receipt};
use crate::typing;

#[async_trait]
impl Job for TextJob {
    fn read(&self, view: View, limit: usize) -> Reading {
        let mut run = self.run.lock();
        if let Some(terminal) = run.terminal.clone() {
            let carried = std::mem::take(&mut run.carried);
            let mut reading = terminal.read(view, limit);
            reading.text.insert_str(0, &carried);
            return reading;
        }
        let excerpt = {
            let Run {
                process, cursor, ..
            } = &mut *run;
            let output = process.output();
            match view {
                View::New => output.read(cursor, limit),
                View::Screen | View::All => {
                    *cursor = Cursor::at(output.position());
                    output.read_all(limit)
                }
            }
        };
        let mut text = std::mem::take(&mut run.carried);
        text.push_str(&excerpt.text);
        Reading {
            text,
            omitted_bytes: excerpt.omitted_bytes,
            log: excerpt.log,
            ..Reading::default()
        }
    }

    fn preview(&self, limit: usize) -> String {
        if let Some(terminal) = self.terminal() {
            return terminal.preview(limit);
        }
        tail(self.process().output(), limit)
    }

    fn last_line(&self) -> Option<String> {
        if let Some(terminal) = self.terminal() {
            return terminal.last_line();
        }
        let process = self.process();
        let line = process.output().last_line(Stream::Stdout);
        line.or_else(|| process.errors().last_line(Stream::Stderr))
    }

    fn written(&self) -> u64 {
        match self.terminal() {
            Some(terminal) => terminal.written(),
            None => self.process().output().position(),
        }
    }

    fn log(&self, range: Range<u64>) -> Vec<u8> {
        match self.terminal() {
            Some(terminal) => terminal.log(range),
            None => self.process().output().raw(range),
        }
    }

    fn screen(&self, since: Option<u64>) -> Option<ScreenUpdate> {
        self.terminal()?.screen(since)
    }

    fn screen_changed(&self, generation: u64) -> BoxFuture<'static, ()> {
        match self.terminal() {
            Some(terminal) => terminal.screen_changed(generation),
            None => Box::pin(std::future::pending()),
        }
    }

    fn resize(&self, rows: u16, cols: u16) -> Result<(), String> {
        match self.terminal() {
            Some(terminal) => terminal.resize(rows, cols),
            None => Err("it has no terminal that could be resized".to_owned()),
        }
    }

    fn type_in(&self, keyboard: Keyboard) -> Result<(), String> {
        if let Some(terminal) = self.terminal() {
            return terminal.type_in(keyboard);
        }
        let process = self.process();
        match keyboard {
            Keyboard::Typing(typing) => typing::type_in(&process, &typing),
            Keyboard::Bytes(bytes) => process.write(&bytes).map_err(|error| error.to_string()),
        }
    }

    fn last_output(&self) -> Instant {
        if let Some(terminal) = self.terminal() {
            return terminal.last_output();
        }
        let run = self.run.lock();
        run.process
            .output()
            .last_write()
            .map_or(run.started, |last| last.max(run.started))
    }

    fn find(&self, pattern: Regex, since: Since) -> BoxFuture<'static, Option<String>> {
        if let Some(terminal) = self.terminal() {
            return terminal.find(pattern, since);
        }
        let run = self.run.lock();
        let output = run.process.output();
        let from = match since {
            Since::LastInput => run.last_input,
            Since::Now => output.position(),
        };
        Box::pin(output.find(pattern, from))
    }

    async fn apply(&self, typing: Typing) -> Result<(), String> {
        if let Some(terminal) = self.terminal() {
            return terminal.apply(typing).await;
        }
        let mut run = self.run.lock();
        let position = run.process.output().position();
        typing::type_in(&run.process, &typing)?;
        run.last_input = position;
        Ok(())
    }

    async fn answer(&self, question: &Question, answer: Value) -> Result<(), String> {
        if let Some(terminal) = self.terminal() {
            return terminal.answer(question, answer).await;
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
            error.message
        })
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
            let told = phase.wait_for(|phase| *phase != Phase::Running(number));
            match tokio::time::timeout_at(deadline, told).await {
                Ok(Ok(phase)) if matches!(*phase, Phase::Running(_) | Phase::HandedOver) => {}
                _ => return,
            }
        }
    }

    async fn abort(&self, grace: Duration) -> Receipt {
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
        // After a question there is no program left to report an end.
        let _ = phase
            .wait_for(|phase| matches!(phase, Phase::Asked | Phase::Ended))
            .await;
        to_receipt(receipt)
    }
}
