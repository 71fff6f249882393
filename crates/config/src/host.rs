//! Hosts: machines that tools run on.

use std::time::Duration;

use crate::command::CommandConfig;
use crate::expected::ExpectedValue;
use crate::keys;
use crate::place::{Place, Span};
use crate::read::{self, Reader, Table};
use crate::units;

/// One host of `[hosts]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostConfig {
    /// Its name, as tools refer to it.
    pub name: String,
    /// The command that gives a pipe to `windlass host` there.
    pub via: Vec<String>,
    /// The project's folder there; that of this machine where it is not said.
    pub root: Option<String>,
    /// Words for assistants that choose among hosts.
    pub labels: Vec<String>,
    /// The time that tools run there without a link.
    pub lease: Duration,
    /// The time between heartbeats; three that do not come are a lost link.
    pub heartbeat: Duration,
    /// Where its table stands.
    pub place: Place,
}

impl HostConfig {
    const LEASE: Duration = Duration::from_mins(1);
    const HEARTBEAT: Duration = Duration::from_secs(15);

    /// The command as a project's programs are looked for in it.
    pub(crate) fn command(&self) -> CommandConfig {
        let mut words = self.via.iter().cloned();
        CommandConfig {
            program: words.next().unwrap_or_default(),
            args: words.collect(),
            shell: false,
        }
    }

    /// Reads a host's table; `None` if it says no command.
    pub(crate) fn read(
        reader: &mut Reader,
        table: &Table<'_>,
        name: &str,
        key: &Span,
    ) -> Option<Self> {
        reader.check_keys(table, keys::HOST);
        let via = reader.get(table, "via", |node| {
            let words = read::strings(node).map_err(|_| ExpectedValue::Via)?;
            let is_command = words.first().is_some_and(|word| !word.is_empty());
            is_command.then_some(words).ok_or(ExpectedValue::Via)
        });
        if table.node("via").is_none() {
            let kind = crate::error::ProblemKind::NoVia {
                host: name.to_owned(),
            };
            reader.problem(key, kind);
        }
        let root = reader.get(table, "root", |node| {
            let root = read::string(node)?;
            let is_absolute = root.starts_with('/');
            is_absolute.then_some(root).ok_or(ExpectedValue::FarRoot)
        });
        let labels = reader.get(table, "labels", read::strings);
        let lease = reader.get(table, "lease_secs", units::lease);
        let heartbeat = reader.get(table, "heartbeat_secs", units::heartbeat);
        Some(Self {
            name: name.to_owned(),
            via: via?,
            root,
            labels: labels.unwrap_or_default(),
            lease: lease.filter(|it| !it.is_zero()).unwrap_or(Self::LEASE),
            heartbeat: heartbeat.unwrap_or(Self::HEARTBEAT),
            place: key.place(),
        })
    }
}
