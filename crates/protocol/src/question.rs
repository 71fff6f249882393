//! Questions of a tool, and the validation of answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question of a tool. A handle has at most one open question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question's id among the tool's questions, and the key of its answer.
    pub id: String,
    /// The text of the question.
    pub text: String,
    /// Text to show before the question, such as a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_amble: Option<String>,
    /// The type of the answer.
    pub answer_type: AnswerType,
    /// The answer to use if nobody can be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The answer is a secret: it is passed from the person to the program
    /// only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// A form of several fields; the question is its first unanswered field. A
/// front end that can show the whole form answers with an object of all its
/// fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionForm {
    /// The text above the form.
    pub message: String,
    /// The fields as the JSON Schema of a flat object, as in MCP elicitation.
    pub schema: Value,
}

/// The type of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AnswerType {
    /// Yes or no.
    Boolean,
    /// One of the options.
    Select {
        /// The valid answers.
        options: Vec<String>,
    },
    /// Any text.
    Text,
}

/// An answer does not fit its question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// A yes or no was wanted.
    #[error("question `{question}` needs true or false, not {got}")]
    NotBoolean {
        /// The question's id.
        question: String,
        /// The given value.
        got: String,
    },
    /// One of several options was wanted.
    #[error("question `{question}` needs one of {}, not {got}", quoted(.options))]
    NotAnOption {
        /// The question's id.
        question: String,
        /// The valid answers.
        options: Vec<String>,
        /// The given value.
        got: String,
    },
    /// Text was wanted.
    #[error("question `{question}` needs a string, not {got}")]
    NotText {
        /// The question's id.
        question: String,
        /// The given value.
        got: String,
    },
}

impl Question {
    /// Checks an answer against the question's type and converts it to the form
    /// that the tool reads.
    ///
    /// Models often write every value as a string, so `"yes"`, `"y"` and
    /// `"true"` (and their opposites) count as booleans, and a number counts as
    /// text. Any other value of the wrong type is an error.
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

/// Shortens a value to 60 characters, for an error message.
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
