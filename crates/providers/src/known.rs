//! The table of known providers.

use windlass_schema::Dialect;

use crate::ProviderApi;

/// A provider that is known without configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProvider {
    /// Its name, the part before the slash.
    pub name: &'static str,
    /// Its wire format.
    pub api: ProviderApi,
    /// Its address.
    pub base_url: &'static str,
    /// The variable that overrides the address.
    pub base_url_variable: &'static str,
    /// The variables that may hold its key, first wins; empty if it needs none.
    pub key_variables: &'static [&'static str],
    dialect: Option<Dialect>,
}

impl KnownProvider {
    pub fn named(name: &str) -> Option<&'static Self> {
        KNOWN_PROVIDERS.iter().find(|known| known.name == name)
    }

    /// It works without a key.
    pub fn needs_no_key(&self) -> bool {
        self.key_variables.is_empty()
    }

    /// The dialect in which its tools are described.
    pub fn dialect(&self) -> Dialect {
        self.dialect.unwrap_or(self.api.dialect())
    }
}

const fn remote(
    name: &'static str,
    api: ProviderApi,
    base_url: &'static str,
    base_url_variable: &'static str,
    key_variables: &'static [&'static str],
) -> KnownProvider {
    KnownProvider {
        name,
        api,
        base_url,
        base_url_variable,
        key_variables,
        dialect: None,
    }
}

/// Every provider that is known without configuration.
pub const KNOWN_PROVIDERS: &[KnownProvider] = &[
    remote(
        "anthropic",
        ProviderApi::Anthropic,
        "https://api.anthropic.com",
        "ANTHROPIC_BASE_URL",
        &["ANTHROPIC_API_KEY"],
    ),
    remote(
        "openai",
        ProviderApi::Responses,
        "https://api.openai.com/v1",
        "OPENAI_BASE_URL",
        &["OPENAI_API_KEY"],
    ),
    remote(
        "gemini",
        ProviderApi::Gemini,
        "https://generativelanguage.googleapis.com",
        "GEMINI_BASE_URL",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ),
    remote(
        "openrouter",
        ProviderApi::Chat,
        "https://openrouter.ai/api/v1",
        "OPENROUTER_BASE_URL",
        &["OPENROUTER_API_KEY"],
    ),
    remote(
        "mistral",
        ProviderApi::Chat,
        "https://api.mistral.ai/v1",
        "MISTRAL_BASE_URL",
        &["MISTRAL_API_KEY"],
    ),
    remote(
        "deepseek",
        ProviderApi::Chat,
        "https://api.deepseek.com/v1",
        "DEEPSEEK_BASE_URL",
        &["DEEPSEEK_API_KEY"],
    ),
    remote(
        "xai",
        ProviderApi::Chat,
        "https://api.x.ai/v1",
        "XAI_BASE_URL",
        &["XAI_API_KEY"],
    ),
    remote(
        "ollama",
        ProviderApi::Ollama,
        "http://127.0.0.1:11434",
        "OLLAMA_HOST",
        &[],
    ),
    KnownProvider {
        dialect: Some(Dialect::LlamaCpp),
        ..remote(
            "llamacpp",
            ProviderApi::Chat,
            "http://127.0.0.1:8080/v1",
            "LLAMACPP_BASE_URL",
            &[],
        )
    },
    remote(
        "lmstudio",
        ProviderApi::Chat,
        "http://127.0.0.1:1234/v1",
        "LMSTUDIO_BASE_URL",
        &[],
    ),
    remote(
        "vllm",
        ProviderApi::Chat,
        "http://127.0.0.1:8000/v1",
        "VLLM_BASE_URL",
        &[],
    ),
];

/// The variables that hold keys of known providers. Tools do not get them.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    KNOWN_PROVIDERS
        .iter()
        .flat_map(|known| known.key_variables.iter().copied())
}
