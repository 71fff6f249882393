//! `describe_tools`: documentation of tools that the schemas leave out.

use std::fmt::Write as _;

use async_trait::async_trait;
use serde_json::{Value, json};
use windlass_protocol::{
    Arguments, Examples, Parameters, ReplyContent, RunMode, RunPolicy, ToolDefinition, ToolShape,
};

use crate::builtin::{BuiltinContext, BuiltinTool};
use crate::catalogue::Catalogue;
use crate::refusal::Refusal;

/// Gives tools' documentation.
#[derive(Debug, Clone, Copy, Default)]
pub struct DescribeTools;

impl DescribeTools {
    /// The name it is called by.
    pub const NAME: &str = "describe_tools";

    /// How it is registered.
    pub fn definition() -> ToolDefinition {
        let names = json!({"type": "array", "items": {"type": "string"}, "minItems": 1});
        let parameters = Parameters::exactly([("tools", names)], &["tools"]);
        ToolDefinition {
            summary: Some("Read the documentation and examples of tools, by name.".to_owned()),
            shape: ToolShape {
                parameters,
                ..ToolShape::default()
            },
            run: RunPolicy::starting(RunMode::Unattended),
            only_reads: true,
            ..ToolDefinition::new(Self::NAME)
        }
    }
}

#[async_trait]
impl BuiltinTool for DescribeTools {
    async fn execute(
        &self,
        arguments: &Arguments,
        context: &BuiltinContext,
    ) -> Result<ReplyContent, Refusal> {
        let names = arguments["tools"].as_array().into_iter().flatten();
        let mut text = String::new();
        for name in names.filter_map(Value::as_str) {
            let Some(tool) = context.tools().get(name) else {
                return Err(context.tools().missing(name));
            };
            if !text.is_empty() {
                text.push('\n');
            }
            describe(&mut text, tool.definition());
        }
        Ok(ReplyContent::Text(text))
    }

    fn is_offered(&self, catalogue: &Catalogue) -> bool {
        catalogue
            .all()
            .any(|tool| tool.definition.has_documentation())
    }
}

fn describe(text: &mut String, tool: &ToolDefinition) {
    let _ = writeln!(text, "# {}", tool.name);
    for line in [&tool.summary, &tool.description].into_iter().flatten() {
        let _ = writeln!(text, "\n{}", line.trim_end());
    }
    match &tool.examples {
        Some(Examples::Text(examples)) => {
            let _ = writeln!(text, "\nExamples:\n{}", examples.trim_end());
        }
        Some(Examples::List(examples)) => {
            text.push_str("\nExamples:\n");
            for example in examples {
                match example {
                    Value::String(example) => {
                        let _ = writeln!(text, "- {example}");
                    }
                    other => {
                        let _ = writeln!(text, "- {other}");
                    }
                }
            }
        }
        None => {}
    }
}
