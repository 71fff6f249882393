//! `windlass doctor`: checks this machine, the configuration, providers, agents
//! and servers, and suggests remedies.

mod machine;

use std::process::ExitCode;

use serde_json::{Value, json};
use windlass::config::ProjectState;

use crate::args::Global;
use crate::mcp::install;
use crate::models;
use crate::print::{Listing, Printer, Tone, cell, column};
use crate::reach;
use crate::setup;
use crate::{exit, person};

/// The result of one check.
pub(crate) struct Checked {
    subject: String,
    health: CheckHealth,
    found: String,
    /// The remedy; empty if none is needed.
    remedy: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckHealth {
    Good,
    /// It works, but could be improved.
    Fair,
    Bad,
    /// For information.
    Told,
}

impl CheckHealth {
    fn as_str(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Fair => "look",
            Self::Bad => "fault",
            Self::Told => "-",
        }
    }
}

impl Checked {
    pub(crate) fn new(
        subject: impl Into<String>,
        health: CheckHealth,
        found: impl Into<String>,
    ) -> Self {
        Self {
            subject: subject.into(),
            health,
            found: found.into(),
            remedy: String::new(),
        }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    fn to_json(&self) -> Value {
        json!({
            "subject": self.subject,
            "state": self.health.as_str(),
            "found": self.found,
            "remedy": self.remedy,
        })
    }
}

pub(crate) async fn run(global: &Global) -> anyhow::Result<ExitCode> {
    let mut checks = machine::checks().await;
    checks.extend(configuration(global));
    checks.extend(providers(global).await);
    checks.extend(agents(global));
    checks.extend(runtimes().await);
    let columns = [
        column("SUBJECT").cut_to(10),
        column("STATE"),
        column("FOUND").cut_to(20),
        column("TO DO").cut_to(16),
    ];
    let mut listing = Listing::new(columns, "Nothing was checked.");
    for check in &checks {
        let tone = match check.health {
            CheckHealth::Good => Tone::Good,
            CheckHealth::Fair => Tone::Waiting,
            CheckHealth::Bad => Tone::Bad,
            CheckHealth::Told => Tone::Faint,
        };
        listing.row([
            cell(&check.subject),
            cell(check.health.as_str()).tone(tone),
            cell(&check.found),
            cell(&check.remedy),
        ]);
    }
    let faults = checks
        .iter()
        .filter(|check| check.health == CheckHealth::Bad);
    let faults: Vec<&Checked> = faults.collect();
    // A list may have truncated them.
    for fault in &faults {
        listing.note(format!("\n{}: {}", fault.subject, fault.found));
        if !fault.remedy.is_empty() {
            listing.note(format!("  {}", fault.remedy));
        }
    }
    if faults.is_empty() {
        listing.note("\nNo problems were found.");
    }
    let values: Vec<Value> = checks.iter().map(Checked::to_json).collect();
    Printer::new(global).list(values, &listing)?;
    Ok(if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::FAILED)
    })
}

fn configuration(global: &Global) -> Vec<Checked> {
    use CheckHealth::{Bad, Fair, Good, Told};
    let config = match setup::load(global) {
        Ok(config) => config,
        Err(error) => {
            return vec![
                Checked::new("configuration", Bad, format!("{error:#}"))
                    .remedy("windlass config edit; windlass config check"),
            ];
        }
    };
    let mut checks = Vec::new();
    if config.files.is_empty() {
        let found = "no files; every value is its default";
        checks.push(Checked::new("configuration", Told, found).remedy("windlass init writes one"));
    }
    for file in &config.files {
        checks.push(Checked::new(
            "configuration",
            Good,
            file.display().to_string(),
        ));
    }
    for warning in &config.warnings {
        checks.push(Checked::new("configuration", Fair, warning));
    }
    let root = config.root.display();
    checks.push(match &config.project {
        ProjectState::Empty => Checked::new("project", Told, format!("{root} has no config files")),
        ProjectState::Trusted(_) => Checked::new("project", Good, format!("{root} is trusted")),
        ProjectState::Untrusted(_) => {
            let found = format!("{root} is not trusted, so its files have no effect");
            Checked::new("project", Fair, found).remedy("windlass trust")
        }
        ProjectState::Refused(why) => Checked::new("project", Bad, format!("{root}: {why}")),
    });
    checks.push(if config.record {
        match windlass::open_record() {
            Ok(_) => Checked::new("record", Good, "sessions are recorded"),
            Err(error) => Checked::new(
                "record",
                Bad,
                format!("the record cannot be opened: {error}"),
            )
            .remedy(format!("check {}", windlass::state_dir().display())),
        }
    } else {
        Checked::new("record", Told, "`conversation.record` turns it off")
    });
    checks
}

async fn providers(global: &Global) -> Vec<Checked> {
    let Ok(found) = models::checked(global).await else {
        // The configuration error is reported above.
        return Vec::new();
    };
    found
}

fn agents(global: &Global) -> Vec<Checked> {
    let Ok(agents) = install::agents(global) else {
        return Vec::new();
    };
    if agents.is_empty() {
        let none = Checked::new("agents", CheckHealth::Told, "no agent is installed");
        return vec![none];
    }
    agents
        .into_iter()
        .map(|(name, is_set_up)| {
            let subject = format!("agent {name}");
            if is_set_up {
                Checked::new(subject, CheckHealth::Good, "has Windlass")
            } else {
                Checked::new(subject, CheckHealth::Told, "does not have Windlass")
                    .remedy(format!("windlass mcp install {name}"))
            }
        })
        .collect()
}

async fn runtimes() -> Vec<Checked> {
    use CheckHealth::{Good, Told};
    if person::is_tool() {
        let found = "not checked: this command was started by a tool";
        return vec![Checked::new("runtimes", Told, found)];
    }
    let runtimes = reach::runtimes().await.unwrap_or_default();
    let serve = runtimes.iter().find(|peer| peer.front_end == "serve");
    let mut checks = vec![match serve {
        Some(peer) => Checked::new(
            "server",
            Good,
            format!("`windlass serve` runs, pid {}", peer.pid),
        ),
        None => Checked::new("server", Told, "none runs").remedy("windlass serve shows a page"),
    }];
    if !runtimes.is_empty() {
        let names = runtimes
            .iter()
            .map(|peer| format!("{} ({})", peer.front_end, peer.pid));
        let names = names.collect::<Vec<_>>().join(", ");
        checks.push(Checked::new("runtimes", Good, names));
    }
    checks
}
