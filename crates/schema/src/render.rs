//! The schema of a tool in every dialect.

use serde_json::Value;
use windlass_protocol::ToolShape;

use crate::Dialect;
use crate::branch::{Branch, branches, one_of};
use crate::flat::{Flat, flatten};
use crate::form::rewrite_untyped;
use crate::gemini::{legacy_object, modern};
use crate::llama::{spelled_out, with_all_types};
use crate::ollama::plain;
use crate::reference::inline_all;
use crate::strict::strict_object;

/// Writes the schema of a tool for a dialect.
///
/// A tool without actions gets a plain object schema. A tool with actions
/// gets a `oneOf` with a branch per action in [`Dialect::JsonSchema`] and
/// [`Dialect::LlamaCpp`], and one flat object in all others, which admits
/// every call that the `oneOf` does, and a few more: reading such a call names
/// what is missing.
///
/// The result is total: of a shape that [`check`](crate::check()) refuses it
/// is some schema. Arguments written under [`Dialect::OpenAiStrict`],
/// [`Dialect::Gemini`] and [`Dialect::GeminiLegacy`] go through
/// [`restore`](crate::restore()) before they are read. Gemini's legacy API
/// refuses an object without properties: leave `parameters` out for a tool
/// that takes nothing.
pub fn render(shape: &ToolShape, dialect: Dialect) -> Value {
    let shape = &ToolShape {
        parameters: inline_all(&shape.parameters),
        ..*shape
    };
    let mut branches = branches(shape);
    if dialect == Dialect::LlamaCpp {
        for schema in branches
            .iter_mut()
            .flat_map(|branch| branch.properties.values_mut())
        {
            *schema = spelled_out(schema.take());
        }
    }
    let flat = || flatten(shape, &branches);
    match dialect {
        Dialect::JsonSchema | Dialect::LlamaCpp => canonical(shape, branches),
        Dialect::Anthropic | Dialect::OpenAi => flat().with_text_input().into_schema(),
        Dialect::Mcp => {
            let mut flat = flat().with_text_input().with_run(shape);
            // Frameworks refuse a tool that has a property without a type.
            for schema in flat.properties.values_mut() {
                *schema = rewrite_untyped(schema.take(), with_all_types);
            }
            flat.into_schema()
        }
        Dialect::OpenAiStrict => {
            let flat = flat().with_text_input();
            strict_object(&flat.properties, &names(&flat.required))
        }
        Dialect::Gemini => {
            let mut flat = flat().with_text_input();
            for schema in flat.properties.values_mut() {
                *schema = modern(schema);
            }
            flat.into_schema()
        }
        Dialect::GeminiLegacy => {
            let flat = flat().with_text_input();
            legacy_object(&flat.properties, &names(&flat.required))
        }
        Dialect::Ollama => {
            let mut flat = flat().with_text_input();
            flat.closed = false;
            for schema in flat.properties.values_mut() {
                *schema = plain(schema.take());
            }
            flat.into_schema()
        }
    }
}

fn canonical(shape: &ToolShape, mut branches: Vec<Branch>) -> Value {
    match branches.pop() {
        Some(only) if shape.actions.is_empty() => Flat {
            properties: only.properties,
            required: only.required,
            closed: !shape.parameters.additional,
        }
        .into_schema(),
        last => {
            branches.extend(last);
            one_of(&branches)
        }
    }
}

fn names(required: &[String]) -> Vec<&str> {
    required.iter().map(String::as_str).collect()
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
