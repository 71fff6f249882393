//! Detects a question that is repeated endlessly.
//!
//! A live tool that rejects an answer asks again. Without a person it would get
//! the same answer for ever: a preset, a default, or a model's. [`Repetition`]
//! limits this. A tool that asks different things is not affected: its texts,
//! or its output between two questions, show progress.

use windlass_protocol::Question;

/// The number of answers to one question without a person.
pub(crate) const MOST: u32 = 16;

/// Counts the answers to one question that were not given by a person.
#[derive(Default)]
pub(crate) struct Repetition {
    asked: Option<AskedQuestion>,
    count: u32,
}

/// A question as it was asked.
#[derive(PartialEq)]
struct AskedQuestion {
    question: Question,
    /// The tool's words beside it.
    content: Option<String>,
}

impl Repetition {
    /// Counts one more answer to the question. `false` if the limit is reached.
    /// `silent`: the tool has written nothing but this context since its last
    /// question.
    pub(crate) fn admits(
        &mut self,
        question: &Question,
        content: Option<String>,
        silent: bool,
    ) -> bool {
        let asked = AskedQuestion {
            question: question.clone(),
            content,
        };
        if !silent || self.asked.as_ref() != Some(&asked) {
            self.asked = Some(asked);
            self.count = 0;
        }
        self.count += 1;
        self.count <= MOST
    }
}

#[cfg(test)]
#[path = "repetition_tests.rs"]
mod tests;
