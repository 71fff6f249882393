//! `ask`: the tool by which an agent asks its parent.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use windlass_protocol::{AnswerType, Arguments, Parameters, Question, ReplyContent, ToolShape};
use windlass_runtime::{BuiltinContext, BuiltinTool, Refusal, RunMode, RunPolicy, ToolDefinition};

use super::job::AgentState;

/// The tool of one agent.
pub(super) struct AskTool(pub(super) Arc<AgentState>);

impl AskTool {
    pub(super) const NAME: &str = "ask";
    /// The id of all of its questions.
    pub(super) const QUESTION: &str = "ask";

    pub(super) fn definition() -> ToolDefinition {
        let properties = [
            ("question", json!({"type": "string"})),
            (
                "options",
                json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
            ),
        ];
        ToolDefinition {
            summary: Some("Ask the assistant that gave you your task.".to_owned()),
            shape: ToolShape {
                parameters: Parameters::exactly(properties, &["question"]),
                ..ToolShape::default()
            },
            run: RunPolicy::starting(RunMode::Unattended),
            ..ToolDefinition::new(Self::NAME)
        }
    }
}

#[async_trait]
impl BuiltinTool for AskTool {
    async fn execute(
        &self,
        arguments: &Arguments,
        _: &BuiltinContext,
    ) -> Result<ReplyContent, Refusal> {
        let options = arguments.get("options").and_then(Value::as_array);
        let answer_type = match options {
            Some(options) => AnswerType::Select {
                options: options
                    .iter()
                    .filter_map(|option| option.as_str().map(str::to_owned))
                    .collect(),
            },
            None => AnswerType::Text,
        };
        let question = Question {
            id: Self::QUESTION.to_owned(),
            text: arguments["question"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            pre_amble: None,
            answer_type,
            default: None,
            secret: false,
        };
        let answer = self.0.ask(question).await;
        Ok(ReplyContent::Text(match answer {
            Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}
