//! `windlass models`: the providers, whether they can be reached, and their
//! models.

use std::process::ExitCode;

use anyhow::bail;
use futures_util::future::join_all;
use serde_json::{Value, json};
use windlass::Windlass;
use windlass::config::nearest;
use windlass_assistant::{KnownProvider, ListModelsError, ModelError, OpenError, Providers};

use crate::args::{Global, ModelsArgs};
use crate::doctor::{CheckHealth, Checked};
use crate::exit;
use crate::print::{Listing, Printer, Tone, cell, column};
use crate::setup;
use crate::trust;

/// How many models of a provider the list of providers shows.
const NAMED: usize = 6;
/// The note on a local provider that is not running.
const NOT_RUNNING: &str = "not running";

pub(crate) async fn run(global: &Global, args: ModelsArgs) -> anyhow::Result<ExitCode> {
    trust::ask_if_untrusted(global).await?;
    let windlass = setup::build(setup::builder(global)?.only(None)).await?;
    let providers = windlass.providers();
    let mut names = providers.names();
    if let Some(wanted) = &args.provider {
        let wanted = wanted.trim_end_matches('/');
        if !names.iter().any(|name| name == wanted) {
            bail!("{}", unknown(wanted, &names));
        }
        names.retain(|name| name == wanted);
    }
    let looks = names
        .iter()
        .map(|name| look(&providers, name, args.offline));
    let found = join_all(looks).await;
    let printer = Printer::new(global);
    let values: Vec<Value> = found.iter().map(ProviderLook::to_json).collect();
    if args.provider.is_some() {
        one(printer, values, &found)
    } else {
        printer.list(values, &table(&found))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The checks of providers for `windlass doctor`: the usable ones, and whether
/// there is any.
pub(crate) async fn checked(global: &Global) -> anyhow::Result<Vec<Checked>> {
    let windlass = Windlass::builder(setup::load(global)?)
        .only(None)
        .build()
        .await?;
    let providers = windlass.providers();
    let names = providers.names();
    let looks = names.iter().map(|name| look(&providers, name, false));
    let found = join_all(looks).await;
    let mut checks = Vec::new();
    for look in &found {
        let subject = format!("provider {}", look.name);
        let is_configured = windlass
            .config()
            .assistant
            .providers
            .contains_key(&look.name);
        match look.state {
            ProviderState::Reached | ProviderState::Ready => {
                let found = match look.models.len() {
                    1 => "reached, 1 model".to_owned(),
                    count => format!("reached, {count} models"),
                };
                checks.push(Checked::new(subject, CheckHealth::Good, found));
            }
            // A local provider that is not running is not a problem.
            ProviderState::Failed if look.note == NOT_RUNNING && !is_configured => {}
            ProviderState::Failed => {
                let remedy = format!("windlass models {}", look.name);
                checks.push(Checked::new(subject, CheckHealth::Bad, &look.note).remedy(remedy));
            }
            ProviderState::NotSet if is_configured => {
                checks.push(Checked::new(subject, CheckHealth::Bad, &look.note));
            }
            ProviderState::NotSet => {}
        }
    }
    if checks.is_empty() {
        let found = "no model provider is configured";
        let remedy = "set a key, such as ANTHROPIC_API_KEY, or start ollama; `windlass models` lists the \
             providers";
        checks.push(Checked::new("providers", CheckHealth::Told, found).remedy(remedy));
    }
    if let Some(model) = &windlass.config().assistant.model {
        checks.push(Checked::new("model", CheckHealth::Told, model));
    }
    Ok(checks)
}

/// The error for an unknown provider.
pub(crate) fn unknown(wanted: &str, names: &[String]) -> String {
    match nearest(wanted, names.iter().map(String::as_str)) {
        Some(near) => format!("there is no provider `{wanted}`; did you mean `{near}`?"),
        None => format!(
            "there is no provider `{wanted}`; the known ones are {}; others need `api` and \
             `base_url` under \
             [providers.llm.{wanted}]",
            names.join(", ")
        ),
    }
}

/// The state of a provider.
struct ProviderLook {
    name: String,
    base_url: String,
    state: ProviderState,
    /// The reason, or the source of the key.
    note: String,
    models: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProviderState {
    /// It listed its models.
    Reached,
    /// It is configured but was not asked.
    Ready,
    /// It did not return a list.
    Failed,
    /// It needs a key or more configuration.
    NotSet,
}

impl ProviderState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Ready => "ready",
            Self::Failed => "not reached",
            Self::NotSet => "not set up",
        }
    }
}

impl ProviderLook {
    fn to_json(&self) -> Value {
        json!({
            "provider": self.name,
            "base_url": self.base_url,
            "state": self.state.as_str(),
            "ready": self.state != ProviderState::NotSet,
            "note": self.note,
            "models": self.models,
        })
    }
}

async fn look(providers: &Providers, name: &str, offline: bool) -> ProviderLook {
    let known = KnownProvider::named(name);
    let mut look = ProviderLook {
        name: name.to_owned(),
        base_url: known.map_or("", |known| known.base_url).to_owned(),
        state: ProviderState::NotSet,
        note: String::new(),
        models: Vec::new(),
    };
    match providers.endpoint(name).await {
        Ok(endpoint) => {
            look.base_url = endpoint.base_url;
            look.state = ProviderState::Ready;
            look.note = match endpoint.key {
                Some(_) => format!("key from {}", endpoint.key_source),
                None => "needs no key".to_owned(),
            };
        }
        Err(OpenError::NoKey { variables, .. }) => {
            look.note = format!("set {}", variables.join(" or "));
            return look;
        }
        Err(error) => {
            look.note = error.to_string();
            return look;
        }
    }
    if offline {
        return look;
    }
    match providers.models(name).await {
        Ok(models) => {
            look.state = ProviderState::Reached;
            look.models = models;
        }
        Err(error) => {
            look.state = ProviderState::Failed;
            look.note = match error {
                ListModelsError::Model(ModelError::NotStarted { .. }) => NOT_RUNNING.to_owned(),
                error => error.to_string(),
            };
        }
    }
    look
}

fn table(found: &[ProviderLook]) -> Listing {
    let columns = [
        column("PROVIDER"),
        column("STATE"),
        column("ADDRESS").cut_to(12).spare(1),
        column("NOTE").cut_to(12),
        column("MODELS").cut_to(16),
    ];
    let mut listing = Listing::new(columns, "There are no providers.");
    for look in found {
        let tone = match look.state {
            ProviderState::Reached | ProviderState::Ready => Tone::Good,
            ProviderState::Failed => Tone::Bad,
            ProviderState::NotSet => Tone::Faint,
        };
        let mut models = look.models.iter().take(NAMED).cloned().collect::<Vec<_>>();
        if look.models.len() > NAMED {
            models.push(format!("and {} more", look.models.len() - NAMED));
        }
        listing.row([
            cell(&look.name),
            cell(look.state.as_str()).tone(tone),
            cell(&look.base_url),
            cell(&look.note),
            cell(models.join(", ")),
        ]);
    }
    listing.note("\nChoose a model as provider/name: `windlass chat --model ollama/qwen3`.");
    listing
}

/// Lists the models of one provider, one per line.
fn one(printer: Printer, values: Vec<Value>, found: &[ProviderLook]) -> anyhow::Result<ExitCode> {
    let mut listing = Listing::new(
        [column("MODEL").cut_to(20)],
        "The provider lists no models.",
    );
    let mut code = ExitCode::SUCCESS;
    for look in found {
        if matches!(look.state, ProviderState::Failed | ProviderState::NotSet) {
            code = ExitCode::from(exit::FAILED);
            let state = look.state.as_str();
            listing = Listing::new(
                [column("MODEL")],
                format!("{} is {state}: {}", look.name, look.note),
            );
        }
        for model in &look.models {
            listing.row([cell(format!("{}/{model}", look.name))]);
        }
    }
    printer.list(values, &listing)?;
    Ok(code)
}
