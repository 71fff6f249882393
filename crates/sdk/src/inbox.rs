//! Messages from a stateful tool's stdin, for its future to wait for.
//!
//! A thread reads the lines into an [`Inbox`]; [`Inbox::when`] waits until it
//! contains a matching message.

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use event_listener::Event;
use serde_json::Value;
use windlass_protocol::StateInput;

/// Messages that were received and not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    mail: Mutex<Mail>,
    changed: Event,
}

/// The inbox's contents.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    /// Input, oldest first.
    pub(crate) input: VecDeque<Value>,
    /// Answers with their questions' ids.
    pub(crate) answers: Vec<(String, Value)>,
    /// The tool is to stop.
    pub(crate) aborted: bool,
    /// The input has ended.
    pub(crate) closed: bool,
    /// A question is open.
    pub(crate) asking: bool,
}

impl Inbox {
    /// An inbox that a thread fills from these lines.
    pub(crate) fn filled_from(lines: impl BufRead + Send + 'static) -> Arc<Self> {
        let inbox = Arc::new(Self::default());
        let filled = Arc::clone(&inbox);
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                filled.take_line(&line);
            }
            filled.change(|mail| mail.closed = true);
        });
        inbox
    }

    fn take_line(&self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        match serde_json::from_str(line) {
            Ok(StateInput::Apply { input }) => self.change(|mail| mail.input.push_back(input)),
            Ok(StateInput::Answer { question, answer }) => {
                self.change(|mail| mail.answers.push((question, answer)));
            }
            Ok(StateInput::Abort) => self.change(|mail| mail.aborted = true),
            Err(error) => eprintln!("a line of input is invalid: {error}"),
        }
    }

    /// Changes the contents, and wakes all waiters.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Mail)) {
        change(&mut self.mail.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify(usize::MAX);
    }

    /// Looks at the contents now.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Mail) -> T) -> T {
        look(&mut self.mail.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until `look` returns a value.
    pub(crate) async fn when<T>(&self, mut look: impl FnMut(&mut Mail) -> Option<T>) -> T {
        loop {
            // Listening comes first, so that no change is missed between the
            // look and the wait.
            let listener = self.changed.listen();
            if let Some(found) = self.look(&mut look) {
                return found;
            }
            listener.await;
        }
    }
}
