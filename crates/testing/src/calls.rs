//! Calls, tools and questions, written briefly.

use serde_json::Value;
use windlass_protocol::{ActionSet, AnswerType, Batch, Parameters, Question, ToolCall, ToolShape};
use windlass_runtime::{RunMode, RunPolicy, ToolDefinition};

/// A batch of calls, each a tool's name and its arguments. The calls are
/// named `c1`, `c2` and so on, the batch `b`.
///
/// # Panics
///
/// When arguments are not a JSON object.
pub fn batch<const N: usize>(calls: [(&str, Value); N]) -> Batch {
    let calls = calls.into_iter().enumerate().map(|(place, (tool, given))| {
        let Value::Object(arguments) = given else {
            panic!("the arguments of `{tool}` must be an object, not {given}");
        };
        ToolCall {
            id: format!("c{}", place + 1),
            tool: tool.to_owned(),
            arguments,
        }
    });
    Batch {
        id: "b".to_owned(),
        calls: calls.collect(),
    }
}

/// A tool that can run as a handle: it has every action, accepts any argument
/// and runs without asking.
pub fn lasting(name: &str) -> ToolDefinition {
    ToolDefinition {
        shape: ToolShape {
            parameters: Parameters {
                additional: true,
                ..Parameters::default()
            },
            actions: ActionSet::all(),
            one_shot: true,
            typing: true,
            lines: false,
            keep: false,
        },
        run: RunPolicy::starting(RunMode::Unattended),
        ..ToolDefinition::new(name)
    }
}

/// A yes-or-no question.
pub fn question(id: &str, text: &str) -> Question {
    Question {
        id: id.to_owned(),
        text: text.to_owned(),
        pre_amble: None,
        answer_type: AnswerType::Boolean,
        default: None,
        secret: false,
    }
}

/// A question with a text answer.
pub fn text_question(id: &str, text: &str) -> Question {
    Question {
        answer_type: AnswerType::Text,
        ..question(id, text)
    }
}
