//! The providers of models, from the configuration and the environment.

use std::sync::Arc;

use windlass_assistant::{KeyCommandError, ProviderSettings, Providers, Secret};
use windlass_config::{CommandConfig, ProviderConfig};
use windlass_executors::Launcher;
use windlass_process::Command;

use crate::build::Windlass;

/// The maximum output of a key command.
const KEY_LIMIT: usize = 1 << 16;

impl Windlass {
    /// All providers, known and configured. Keys come from this process's
    /// environment, or from the configured commands.
    pub fn providers(&self) -> Providers {
        let providers = &self.config().assistant.providers;
        let settings = providers
            .iter()
            .map(|(name, provider)| (name.clone(), settings(provider)))
            .collect();
        let commands: Vec<(String, CommandConfig)> = providers
            .iter()
            .filter_map(|(name, provider)| Some((name.clone(), provider.api_key_command.clone()?)))
            .collect();
        let launcher = self.trusted_launcher();
        let variables = |name: &str| crate::environment::variable(name);
        Providers::new(settings, Arc::new(variables)).with_key_command(Arc::new(move |provider| {
            let launcher = launcher.clone();
            let command = commands.iter().find(|(name, _)| *name == provider);
            let command = command.map(|(_, command)| command.clone());
            Box::pin(async move {
                let command = command.ok_or(KeyCommandError::Missing)?;
                printed(&launcher, &command).await.map(Secret::new)
            })
        }))
    }
}

fn settings(provider: &ProviderConfig) -> ProviderSettings {
    let headers = provider.headers.iter();
    ProviderSettings {
        api: provider.api,
        base_url: provider.base_url.clone(),
        key_variable: provider.api_key_env.clone(),
        has_key_command: provider.api_key_command.is_some(),
        headers: headers
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    }
}

/// The output of a command.
async fn printed(launcher: &Launcher, command: &CommandConfig) -> Result<String, KeyCommandError> {
    let command = if command.shell {
        Command::new("sh").args(["-c", command.program.as_str()])
    } else {
        Command::new(&command.program).args(&command.args)
    };
    let started = launcher.start(command).await;
    let process = started.map_err(|error| KeyCommandError::Start(error.to_string()))?;
    let exit = process.wait().await;
    if exit.success() {
        Ok(process.output().read_all(KEY_LIMIT).text)
    } else {
        // The output may hold the key, so it is not told.
        Err(KeyCommandError::Failed(format!("{exit:?}")))
    }
}
