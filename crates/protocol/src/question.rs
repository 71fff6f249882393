//! Questions that a tool asks, and what counts as an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One question of a tool. A handle has at most one open at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Names the question among the tool's own, and keys its answer.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// What to show before the question, such as a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_amble: Option<String>,
    /// What kind of answer is wanted.
    pub answer_type: AnswerType,
    /// The answer to take when nobody can be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The answer is a secret: it goes from the person to the program and
    /// nowhere else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// A form of several fields that a question is the first open field of. Whoever
/// can show it whole answers the question with an object of all its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionForm {
    /// The text above the form.
    pub message: String,
    /// The fields as a JSON Schema of a flat object, as MCP's elicitation has
    /// it.
    pub schema: Value,
}

/// What kind of answer a question wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AnswerType {
    /// Yes or no.
    Boolean,
    /// One of the options.
    Select {
        /// What may be answered, exactly one of these.
        options: Vec<String>,
    },
    /// Any text.
    Text,
}

/// An answer does not fit its question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// A yes or no was wanted.
    #[error("question `{question}` wants true or false, not {got}")]
    NotBoolean {
        /// The question's id.
        question: String,
        /// What came instead.
        got: String,
    },
    /// One of several options was wanted.
    #[error("question `{question}` wants one of {}, not {got}", quoted(.options))]
    NotAnOption {
        /// The question's id.
        question: String,
        /// What could have been answered.
        options: Vec<String>,
        /// What came instead.
        got: String,
    },
    /// Text was wanted.
    #[error("question `{question}` wants a string, not {got}")]
    NotText {
        /// The question's id.
        question: String,
        /// What came instead.
        got: String,
    },
}

impl Question {
    /// Checks an answer against the question's type and gives it in the form
    /// in which the tool reads it.
    ///
    /// Models often write every value as a string, so `"yes"`, `"y"` and
    /// `"true"` (and their opposites) count as booleans, and a number counts
    /// as text. Anything else of the wrong type is an error.
    pub fn check(&self, answer: Value) -> Result<Value, AnswerError> {
        match (&self.answer_type, answer) {
            (AnswerType::Boolean, Value::Bool(answer)) => Ok(Value::Bool(answer)),
            (AnswerType::Boolean, Value::String(text)) => {
                match text.trim().to_ascii_lowercase().as_str() {
                    "true" | "yes" | "y" => Ok(Value::Bool(true)),
                    "false" | "no" | "n" => Ok(Value::Bool(false)),
                    _ => Err(self.not_boolean(&Value::String(text))),
                }
            }
            (AnswerType::Boolean, other) => Err(self.not_boolean(&other)),
            (AnswerType::Select { options }, Value::String(text)) => {
                let trimmed = text.trim_end_matches(['\r', '\n']);
                if options.iter().any(|option| option == trimmed) {
                    Ok(Value::String(trimmed.to_owned()))
                } else {
                    Err(self.not_an_option(options, &Value::String(text)))
                }
            }
            (AnswerType::Select { options }, other) => Err(self.not_an_option(options, &other)),
            (AnswerType::Text, Value::String(text)) => Ok(Value::String(text)),
            (AnswerType::Text, Value::Number(number)) => Ok(Value::String(number.to_string())),
            (AnswerType::Text, other) => Err(AnswerError::NotText {
                question: self.id.clone(),
                got: brief(&other),
            }),
        }
    }

    fn not_boolean(&self, got: &Value) -> AnswerError {
        AnswerError::NotBoolean {
            question: self.id.clone(),
            got: brief(got),
        }
    }

    fn not_an_option(&self, options: &[String], got: &Value) -> AnswerError {
        AnswerError::NotAnOption {
            question: self.id.clone(),
            options: options.to_vec(),
            got: brief(got),
        }
    }
}

fn quoted(options: &[String]) -> String {
    options
        .iter()
        .map(|option| format!("\"{option}\""))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A value in at most 60 characters, for an error message.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
