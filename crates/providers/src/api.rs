//! The wire formats of providers.

use windlass_schema::Dialect;

/// A wire format of model providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` Chat Completions, and all who copy them.
    Chat,
    /// Google Gemini.
    Gemini,
    /// Ollama.
    Ollama,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::Responses,
        Self::Chat,
        Self::Gemini,
        Self::Ollama,
    ];

    /// The word for it in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The API of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.as_str() == name)
    }

    /// The dialect in which its tools are described, unless the provider has
    /// another.
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Anthropic => Dialect::Anthropic,
            Self::Responses | Self::Chat => Dialect::OpenAi,
            Self::Gemini => Dialect::Gemini,
            Self::Ollama => Dialect::Ollama,
        }
    }
}
