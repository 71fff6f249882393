//! One question, asked again and again.
//!
//! A live tool that does not take an answer asks again. Where no person is
//! asked, it would be given the same answer for ever: a preset, a default, or
//! that of a model. [`Repetition`] says when that is enough. A tool that asks
//! about one thing after the other is not meant: its words, or its output
//! between two questions, tell that it has got on.

use windlass_protocol::Question;

/// How often one question is answered without a person.
pub(crate) const MOST: u32 = 16;

/// Counts the answers to one question that no person gave.
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
    /// Counts one more answer to the question. `false` when it has had enough
    /// of them. `silent` says that the tool has written nothing but these
    /// words since it asked before.
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
