//! Providers, and opening a model by its name.
//!
//! Start at [`Providers::open`]. Keys come from the environment or from a
//! command that the caller runs. The table of known providers is in
//! `windlass-providers`.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use indexmap::IndexMap;
use windlass_providers::{KNOWN_PROVIDERS, KnownProvider, ProviderApi};

use crate::model::{InvalidModelId, Model, ModelId};
use crate::remote::{Endpoint, Patience, RemoteModel, SetupError};
use crate::secret::Secret;

/// The configuration of a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// Its API; required for an unknown provider.
    pub api: Option<ProviderApi>,
    /// Its base URL; required for an unknown provider.
    pub base_url: Option<String>,
    /// The variable that holds its key.
    pub key_variable: Option<String>,
    /// A command prints its key.
    pub has_key_command: bool,
    /// Further headers.
    pub headers: Vec<(String, String)>,
}

/// Runs the command that prints a provider's key.
pub type KeyCommand =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Secret, KeyCommandError>> + Send + Sync>;

/// A command printed no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyCommandError {
    /// The provider has no command.
    #[error("there is none")]
    Missing,
    /// It cannot be started, for this reason.
    #[error("{0}")]
    Start(String),
    /// It ended like this.
    #[error("it ended with {0}")]
    Failed(String),
    /// It printed nothing.
    #[error("it printed nothing")]
    Empty,
}

/// Reads a variable.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A model that cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It is not a model's name.
    #[error(transparent)]
    Name(#[from] InvalidModelId),
    /// The provider is unknown.
    #[error(
        "there is no provider `{name}`; the known ones are {}; others need `api` and `base_url` \
         under [providers.llm.{name}]",
        .known.join(", ")
    )]
    Unknown {
        /// The requested name.
        name: String,
        /// The known names.
        known: Vec<String>,
    },
    /// The key is missing.
    #[error(
        "`{provider}` needs a key: set {}; these providers need none: {}",
        quoted_or(.variables), .without.join(", ")
    )]
    NoKey {
        provider: String,
        /// The variables that may hold it.
        variables: Vec<String>,
        /// The providers that need none.
        without: Vec<String>,
    },
    /// The command that should print the key does not.
    #[error("the command for the key of `{provider}` failed: {why}")]
    KeyCommand {
        provider: String,
        /// The reason.
        why: KeyCommandError,
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
    /// The known providers, with the configuration merged in.
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

    /// Sets the runner for commands that print keys.
    pub fn with_key_command(mut self, command: KeyCommand) -> Self {
        self.key_command = Some(command);
        self
    }

    /// Sets the retry policy.
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

    /// The endpoint of a provider.
    pub async fn endpoint(&self, provider: &str) -> Result<Endpoint, OpenError> {
        let known = KnownProvider::named(provider);
        let settings = self.settings.get(provider).cloned().unwrap_or_default();
        let unknown = || OpenError::Unknown {
            name: provider.to_owned(),
            known: self.names(),
        };
        let api = settings.api.or(known.map(|known| known.api));
        let api = api.ok_or_else(unknown)?;
        let base_url = settings.base_url.clone().or_else(|| {
            let known = known?;
            let told = self.variable(known.base_url_variable);
            Some(address_of(known, told.as_deref()))
        });
        let (key, key_source) = self.key(provider, known, &settings).await?;
        Ok(Endpoint {
            api,
            dialect: known
                .filter(|known| known.api == api)
                .map_or(api.dialect(), KnownProvider::dialect),
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
            let failed = |why| OpenError::KeyCommand {
                provider: provider.to_owned(),
                why,
            };
            let key = command(provider.to_owned()).await.map_err(failed)?;
            if key.is_empty() {
                return Err(failed(KeyCommandError::Empty));
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

/// The address of a known provider, considering the variable that overrides it.
pub fn address_of(provider: &KnownProvider, told: Option<&str>) -> String {
    match told {
        None => provider.base_url.to_owned(),
        Some(host) if provider.api == ProviderApi::Ollama => ollama_url(host),
        Some(url) => url.to_owned(),
    }
}

/// Completes `OLLAMA_HOST`, which may lack a scheme or a port, and is also the
/// address that the server listens on.
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

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
