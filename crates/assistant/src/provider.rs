//! The providers that there are, and how a model's name becomes a model.
//!
//! Start at [`Providers::open`]. Keys come from the environment or from a
//! command that whoever sets this up runs; which variables hold keys is
//! [`key_variables`], so that no tool is given them.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use indexmap::IndexMap;
use windlass_schema::Dialect;

use crate::model::{InvalidModelId, Model, ModelId};
use crate::remote::{Endpoint, Patience, RemoteModel, SetupError};
use crate::secret::Secret;
use crate::wire::Api;

/// A provider that is known without configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProvider {
    /// Its name, the part before the slash.
    pub name: &'static str,
    /// How it is spoken to.
    pub api: Api,
    /// Where it is.
    pub base_url: &'static str,
    /// The variable that says where it is instead.
    pub base_url_variable: &'static str,
    /// The variables that may hold its key, first wins; none where it needs
    /// none.
    pub key_variables: &'static [&'static str],
    dialect: Option<Dialect>,
}

impl KnownProvider {
    /// It works without a key.
    pub fn needs_no_key(&self) -> bool {
        self.key_variables.is_empty()
    }
}

const fn remote(
    name: &'static str,
    api: Api,
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
        Api::Anthropic,
        "https://api.anthropic.com",
        "ANTHROPIC_BASE_URL",
        &["ANTHROPIC_API_KEY"],
    ),
    remote(
        "openai",
        Api::Responses,
        "https://api.openai.com/v1",
        "OPENAI_BASE_URL",
        &["OPENAI_API_KEY"],
    ),
    remote(
        "gemini",
        Api::Gemini,
        "https://generativelanguage.googleapis.com",
        "GEMINI_BASE_URL",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ),
    remote(
        "openrouter",
        Api::Chat,
        "https://openrouter.ai/api/v1",
        "OPENROUTER_BASE_URL",
        &["OPENROUTER_API_KEY"],
    ),
    remote(
        "mistral",
        Api::Chat,
        "https://api.mistral.ai/v1",
        "MISTRAL_BASE_URL",
        &["MISTRAL_API_KEY"],
    ),
    remote(
        "deepseek",
        Api::Chat,
        "https://api.deepseek.com/v1",
        "DEEPSEEK_BASE_URL",
        &["DEEPSEEK_API_KEY"],
    ),
    remote(
        "xai",
        Api::Chat,
        "https://api.x.ai/v1",
        "XAI_BASE_URL",
        &["XAI_API_KEY"],
    ),
    remote(
        "ollama",
        Api::Ollama,
        "http://127.0.0.1:11434",
        "OLLAMA_HOST",
        &[],
    ),
    KnownProvider {
        dialect: Some(Dialect::LlamaCpp),
        ..remote(
            "llamacpp",
            Api::Chat,
            "http://127.0.0.1:8080/v1",
            "LLAMACPP_BASE_URL",
            &[],
        )
    },
    remote(
        "lmstudio",
        Api::Chat,
        "http://127.0.0.1:1234/v1",
        "LMSTUDIO_BASE_URL",
        &[],
    ),
    remote(
        "vllm",
        Api::Chat,
        "http://127.0.0.1:8000/v1",
        "VLLM_BASE_URL",
        &[],
    ),
];

/// What the configuration says of a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// How it is spoken to; must be said of one that is not known.
    pub api: Option<Api>,
    /// Where it is; must be said of one that is not known.
    pub base_url: Option<String>,
    /// The variable that holds its key.
    pub key_variable: Option<String>,
    /// A command prints its key.
    pub has_key_command: bool,
    /// Further headers.
    pub headers: Vec<(String, String)>,
}

/// Runs the command that prints a provider's key. The error says what went
/// wrong.
pub type KeyCommand =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Secret, String>> + Send + Sync>;

/// Reads a variable.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Why there is no such model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It is not a model's name.
    #[error(transparent)]
    Name(#[from] InvalidModelId),
    /// Nobody knows the provider.
    #[error(
        "there is no provider `{name}`; known are {}; others need `api` and `base_url` \
         under [providers.llm.{name}]",
        .known.join(", ")
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There is no key.
    #[error(
        "`{provider}` needs a key: set {}; without a key there are {}",
        quoted_or(.variables), .without.join(", ")
    )]
    NoKey {
        /// The provider.
        provider: String,
        /// The variables that may hold it.
        variables: Vec<String>,
        /// The providers that need none.
        without: Vec<String>,
    },
    /// The command that should print the key does not.
    #[error("the command for the key of `{provider}` failed: {why}")]
    KeyCommand {
        /// The provider.
        provider: String,
        /// What went wrong.
        why: String,
    },
    /// It cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

fn quoted_or(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}

/// All providers, known and configured.
#[derive(Clone)]
pub struct Providers {
    settings: IndexMap<String, ProviderSettings>,
    variables: Variables,
    key_command: Option<KeyCommand>,
    patience: Patience,
}

impl Providers {
    /// The known providers, with what the configuration says.
    pub fn new(settings: IndexMap<String, ProviderSettings>, variables: Variables) -> Self {
        Self {
            settings,
            variables,
            key_command: None,
            patience: Patience::default(),
        }
    }

    /// The known providers, by this process's environment.
    pub fn from_environment() -> Self {
        let variables = |name: &str| std::env::var(name).ok();
        Self::new(IndexMap::new(), Arc::new(variables))
    }

    /// The same, with a way to run the commands that print keys.
    pub fn with_key_command(mut self, command: KeyCommand) -> Self {
        self.key_command = Some(command);
        self
    }

    /// The same, with this patience.
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Their names, the configured ones first.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.settings.keys().cloned().collect();
        for known in KNOWN_PROVIDERS {
            if !names.iter().any(|name| name == known.name) {
                names.push(known.name.to_owned());
            }
        }
        names
    }

    /// The model of that name.
    pub async fn open(&self, model: &str) -> Result<Arc<dyn Model>, OpenError> {
        let id: ModelId = model.parse()?;
        let endpoint = self.endpoint(&id.provider).await?;
        Ok(Arc::new(RemoteModel::new(id, endpoint)?))
    }

    /// How a provider is reached.
    pub async fn endpoint(&self, provider: &str) -> Result<Endpoint, OpenError> {
        let known = KNOWN_PROVIDERS.iter().find(|known| known.name == provider);
        let settings = self.settings.get(provider).cloned().unwrap_or_default();
        let unknown = || OpenError::Unknown {
            name: provider.to_owned(),
            known: self.names(),
        };
        let api = settings.api.or(known.map(|known| known.api));
        let api = api.ok_or_else(unknown)?;
        let base_url = settings.base_url.clone().or_else(|| {
            let known = known?;
            let told = self.variable(known.base_url_variable).map(|url| {
                if known.api == Api::Ollama {
                    ollama_url(&url)
                } else {
                    url
                }
            });
            Some(told.unwrap_or_else(|| known.base_url.to_owned()))
        });
        let (key, key_source) = self.key(provider, known, &settings).await?;
        Ok(Endpoint {
            api,
            dialect: known
                .filter(|known| known.api == api)
                .and_then(|known| known.dialect)
                .unwrap_or(api.dialect()),
            base_url: base_url.ok_or_else(unknown)?,
            key,
            key_source,
            headers: settings.headers,
            patience: self.patience,
        })
    }

    async fn key(
        &self,
        provider: &str,
        known: Option<&KnownProvider>,
        settings: &ProviderSettings,
    ) -> Result<(Option<Secret>, String), OpenError> {
        if let Some(command) = &self.key_command
            && settings.has_key_command
        {
            let failed = |why: String| OpenError::KeyCommand {
                provider: provider.to_owned(),
                why,
            };
            let key = command(provider.to_owned()).await.map_err(failed)?;
            if key.is_empty() {
                return Err(failed("it printed nothing".to_owned()));
            }
            return Ok((Some(key), "api_key_command".to_owned()));
        }
        let names: Vec<String> = match (&settings.key_variable, known) {
            (Some(name), _) => vec![name.clone()],
            (None, Some(known)) => known.key_variables.iter().map(|&n| n.to_owned()).collect(),
            (None, None) => Vec::new(),
        };
        let found = names
            .iter()
            .find_map(|name| Some((Some(Secret::new(self.variable(name)?)), name.clone())));
        match found {
            Some(found) => Ok(found),
            None if names.is_empty() => Ok((None, "api_key_env".to_owned())),
            None => Err(OpenError::NoKey {
                provider: provider.to_owned(),
                variables: names,
                without: KNOWN_PROVIDERS
                    .iter()
                    .filter(|known| known.needs_no_key())
                    .map(|known| known.name.to_owned())
                    .collect(),
            }),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.trim().is_empty())
    }
}

/// `OLLAMA_HOST` may be an address without a scheme, a port or both, and is
/// also what the server listens on.
fn ollama_url(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/').replace("0.0.0.0", "127.0.0.1");
    let rest = if rest.starts_with(':') {
        format!("127.0.0.1{rest}")
    } else {
        rest
    };
    let has_port = rest
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port || scheme == "https" {
        format!("{scheme}://{rest}")
    } else {
        format!("{scheme}://{rest}:11434")
    }
}

/// The variables that hold keys of known providers.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    KNOWN_PROVIDERS
        .iter()
        .flat_map(|known| known.key_variables.iter().copied())
}

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
