//! Questions of a tool, with the type of their answer.

use std::marker::PhantomData;

use serde_json::Value;
use windlass_protocol::AnswerType;

/// A question whose answer is an `A`: `bool` for yes or no, `String` for text
/// and for one of several options.
///
/// The id names the question among those of the tool. The config can give a
/// fixed answer (`questions.ID.answer`) or choose who is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedQuestion<A> {
    wire: windlass_protocol::Question,
    answer: PhantomData<fn() -> A>,
}

impl TypedQuestion<bool> {
    /// Yes or no.
    pub fn boolean(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with(id.into(), text.into(), AnswerType::Boolean)
    }
}

impl TypedQuestion<String> {
    /// Any text.
    pub fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with(id.into(), text.into(), AnswerType::Text)
    }

    /// One of these options.
    pub fn select<O: Into<String>>(
        id: impl Into<String>,
        text: impl Into<String>,
        options: impl IntoIterator<Item = O>,
    ) -> Self {
        let options = options.into_iter().map(Into::into).collect();
        Self::with(id.into(), text.into(), AnswerType::Select { options })
    }
}

impl<A: Answer> TypedQuestion<A> {
    fn with(id: String, text: String, answer_type: AnswerType) -> Self {
        Self {
            wire: windlass_protocol::Question {
                id,
                text,
                pre_amble: None,
                answer_type,
                default: None,
                secret: false,
            },
            answer: PhantomData,
        }
    }

    /// The answer to use if nobody can be asked. Without it the call fails and
    /// names the question.
    pub fn default(mut self, answer: impl Into<A>) -> Self {
        self.wire.default = Some(answer.into().into());
        self
    }

    /// Text to show before the question, such as a diff.
    pub fn pre_amble(mut self, text: impl Into<String>) -> Self {
        self.wire.pre_amble = Some(text.into());
        self
    }

    /// The answer is a secret: only the person is asked, and it is not
    /// recorded.
    pub fn secret(mut self) -> Self {
        self.wire.secret = true;
        self
    }

    pub(crate) fn wire(&self) -> &windlass_protocol::Question {
        &self.wire
    }

    pub(crate) fn into_wire(self) -> windlass_protocol::Question {
        self.wire
    }

    /// Reads an answer; `None` if it is not valid for this question.
    pub(crate) fn read(&self, answer: Value) -> Option<A> {
        A::from_json(self.wire.check(answer).ok()?)
    }
}

/// The type of an answer: `bool` or `String`.
pub trait Answer: Into<Value> + private::Sealed {
    /// Reads an answer that has been checked against its question.
    #[doc(hidden)]
    fn from_json(answer: Value) -> Option<Self>;
}

impl Answer for bool {
    fn from_json(answer: Value) -> Option<Self> {
        answer.as_bool()
    }
}

impl Answer for String {
    fn from_json(answer: Value) -> Option<Self> {
        match answer {
            Value::String(answer) => Some(answer),
            _ => None,
        }
    }
}

mod private {
    pub trait Sealed: Sized {}
    impl Sealed for bool {}
    impl Sealed for String {}
}
