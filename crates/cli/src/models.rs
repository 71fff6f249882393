//! `windlass models`: the providers, and whether each can be asked.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use serde_json::json;
use windlass_assistant::KnownProvider;

use crate::args::Global;
use crate::setup;
use crate::stdout;
use crate::trust;

pub(crate) async fn run(global: &Global) -> anyhow::Result<ExitCode> {
    trust::settle(global).await?;
    let windlass = setup::build(setup::builder(global)?.only(None)).await?;
    let providers = windlass.providers();
    let mut stdout = stdout::lock();
    for name in providers.names() {
        let endpoint = providers.endpoint(&name).await;
        let known = KnownProvider::named(&name);
        let needs = known.and_then(|known| known.key_variables.first());
        let (url, ready, note) = match &endpoint {
            Ok(endpoint) if endpoint.key.is_none() => {
                (endpoint.base_url.as_str(), true, "needs no key".to_owned())
            }
            Ok(endpoint) => (
                endpoint.base_url.as_str(),
                true,
                format!("key from {}", endpoint.key_source),
            ),
            Err(_) if needs.is_some() => {
                let url = known.map_or("", |known| known.base_url);
                (url, false, format!("set {}", needs.unwrap_or(&"")))
            }
            Err(error) => ("", false, error.to_string()),
        };
        if global.json || !std::io::stdout().is_terminal() {
            let line = json!({"provider": name, "base_url": url, "ready": ready, "note": note});
            writeln!(stdout, "{line}")?;
        } else {
            let mark = if ready { "✓" } else { "–" };
            writeln!(
                stdout,
                "{mark} {:12} {:48} {note}",
                format!("{name}/…"),
                url
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
