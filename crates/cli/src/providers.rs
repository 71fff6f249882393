//! From the configuration to the providers of models.

use std::sync::Arc;

use windlass::Windlass;
use windlass::executors::Launcher;
use windlass_assistant::{KeyCommandError, ProviderSettings, Providers, Secret};
use windlass_config::CommandConfig;
use windlass_process::Command;

/// Every provider, known and configured.
pub(crate) fn providers(windlass: &Windlass) -> Providers {
    let config = &windlass.config().assistant;
    let settings = config
        .providers
        .iter()
        .map(|(name, provider)| {
            let settings = ProviderSettings {
                api: provider.api,
                base_url: provider.base_url.clone(),
                key_variable: provider.api_key_env.clone(),
                has_key_command: provider.api_key_command.is_some(),
                headers: provider
                    .headers
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect(),
            };
            (name.clone(), settings)
        })
        .collect();
    let variables = |name: &str| std::env::var(name).ok();
    let launcher = windlass.launcher().clone();
    let commands: Vec<(String, CommandConfig)> = config
        .providers
        .iter()
        .filter_map(|(name, provider)| Some((name.clone(), provider.api_key_command.clone()?)))
        .collect();
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

/// What a command prints.
async fn printed(launcher: &Launcher, command: &CommandConfig) -> Result<String, KeyCommandError> {
    let command = if command.shell {
        Command::new("sh").args(["-c", command.program.as_str()])
    } else {
        Command::new(&command.program).args(&command.args)
    };
    let process = launcher
        .start(command)
        .await
        .map_err(|error| KeyCommandError::Start(error.to_string()))?;
    let exit = process.wait().await;
    let text = process.output().read_all(1 << 16).text;
    if exit.success() {
        Ok(text)
    } else {
        // What it printed may hold the key.
        Err(KeyCommandError::Failed(format!("{exit:?}")))
    }
}
