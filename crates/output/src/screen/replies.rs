//! The answers to a program's queries, until somebody writes them to it.
//!
//! Start at [`Replies::push`]. Answers are told in the order of the queries, each once.

use std::fmt;
use std::io::Write;

/// How much is kept of answers that nobody has taken yet; what a program asks beyond that is not answered.
const LIMIT: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct Replies(Vec<u8>);

impl Replies {
    /// Adds an answer. One that finds no room is left out whole.
    pub(super) fn push(&mut self, reply: fmt::Arguments<'_>) {
        let before = self.0.len();
        write!(self.0, "{reply}").expect("memory takes everything");
        if self.0.len() > LIMIT {
            self.0.truncate(before);
        }
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}
