//! The dialects of JSON Schema, by name.
//!
//! [`render`](crate::render()) describes the form of each of them.

use std::fmt;
use std::str::FromStr;

/// Whom a schema is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// The canonical form: `oneOf` with a branch per action.
    JsonSchema,
    /// Anthropic's `input_schema`.
    Anthropic,
    /// `OpenAI`'s `parameters` with `strict: false`, and compatible APIs.
    OpenAi,
    /// `OpenAI`'s `parameters` with `strict: true`.
    OpenAiStrict,
    /// Gemini's `parametersJsonSchema`.
    Gemini,
    /// Gemini's older `parameters`.
    GeminiLegacy,
    /// The `inputSchema` of an MCP tool.
    Mcp,
    /// Ollama's `parameters`.
    Ollama,
    /// llama.cpp's `parameters`, which it turns into a grammar.
    LlamaCpp,
}

impl Dialect {
    /// All of them, the canonical one first.
    pub const ALL: [Self; 9] = [
        Self::JsonSchema,
        Self::Anthropic,
        Self::OpenAi,
        Self::OpenAiStrict,
        Self::Gemini,
        Self::GeminiLegacy,
        Self::Mcp,
        Self::Ollama,
        Self::LlamaCpp,
    ];

    /// The name that [`Dialect::from_str`] reads.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonSchema => "json-schema",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiStrict => "openai-strict",
            Self::Gemini => "gemini",
            Self::GeminiLegacy => "gemini-legacy",
            Self::Mcp => "mcp",
            Self::Ollama => "ollama",
            Self::LlamaCpp => "llama-cpp",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.as_str() == name)
            .ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

/// A name that no dialect has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a schema dialect; use one of {known}", known = known())]
pub struct UnknownDialect(pub String);

fn known() -> String {
    Dialect::ALL.map(Dialect::as_str).join(", ")
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
