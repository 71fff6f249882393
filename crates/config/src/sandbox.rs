//! The keys `sandbox` and `limits`.

use windlass_sandbox::{
    HostPattern, NetworkRule, OnUnavailable, ResourceLimits, SandboxMode, SandboxSettings,
};

use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::read::{self, ConfigReader, Table};
use crate::units;

/// Reads `sandbox`: a string, or a table.
pub(crate) fn read_sandbox(
    reader: &mut ConfigReader,
    table: &Table<'_>,
) -> Option<SandboxSettings> {
    let node = table.node("sandbox")?;
    if !matches!(node.value, Value::Table(_)) {
        let mode = reader.get(table, "sandbox", |node| {
            let modes = [
                SandboxMode::Workspace,
                SandboxMode::ReadOnly,
                SandboxMode::Off,
            ];
            read::word(node, &modes.map(|mode| (mode.as_str(), mode))).map_err(
                |wanted| match wanted {
                    ExpectedValue::OneOf(words) => ExpectedValue::Sandboxes(words),
                    other => other,
                },
            )
        })?;
        return Some(SandboxSettings::of_mode(mode));
    }
    let table = reader.table(table, "sandbox")?;
    reader.check_keys(&table, keys::SANDBOX);
    Some(SandboxSettings {
        mode: SandboxMode::Workspace,
        read: reader.get(&table, "read", paths),
        write: reader.get(&table, "write", paths),
        deny: reader.get(&table, "deny", paths).unwrap_or_default(),
        network: read_network(reader, &table),
        unavailable: reader
            .get(&table, "unavailable", |node| {
                let words = [
                    ("refuse", OnUnavailable::Refuse),
                    ("warn", OnUnavailable::Warn),
                ];
                read::word(node, &words)
            })
            .unwrap_or_default(),
    })
}

fn read_network(reader: &mut ConfigReader, table: &Table<'_>) -> NetworkRule {
    if let Some(Value::Table(_)) = table.node("network").map(|node| &node.value) {
        let Some(table) = reader.table(table, "network") else {
            return NetworkRule::None;
        };
        reader.check_keys(&table, keys::SANDBOX_NETWORK);
        let hosts = reader.get(&table, "allow", hosts).unwrap_or_default();
        return NetworkRule::Allow(hosts);
    }
    let word = reader.get(table, "network", |node| {
        let words = [("none", 0), ("loopback", 1), ("full", 2)];
        read::word(node, &words).map_err(|_| ExpectedValue::Network)
    });
    match word {
        Some(1) => NetworkRule::Loopback,
        Some(2) => NetworkRule::Full,
        _ => NetworkRule::None,
    }
}

fn hosts(node: &Node) -> Result<Vec<HostPattern>, ExpectedValue> {
    let texts = read::strings(node).map_err(|_| ExpectedValue::Hosts)?;
    let hosts = texts.iter().map(|text| HostPattern::parse(text));
    hosts.collect::<Option<_>>().ok_or(ExpectedValue::Hosts)
}

/// Paths: absolute ones, ones below `~`, and ones that are relative to the project.
fn paths(node: &Node) -> Result<Vec<String>, ExpectedValue> {
    let paths = read::strings(node).map_err(|_| ExpectedValue::Paths)?;
    let fits = |path: &String| {
        let other_home = path.starts_with('~') && path != "~" && !path.starts_with("~/");
        !path.is_empty() && !path.contains(['\0', '*']) && !other_home
    };
    let fit = paths.iter().all(fits);
    fit.then_some(paths).ok_or(ExpectedValue::Paths)
}

/// Reads `limits`.
pub(crate) fn read_limits(reader: &mut ConfigReader, table: &Table<'_>) -> ResourceLimits {
    read_known_limits(reader, table, keys::LIMITS)
}

fn read_known_limits(
    reader: &mut ConfigReader,
    table: &Table<'_>,
    known: &'static [&'static str],
) -> ResourceLimits {
    let Some(table) = reader.table(table, "limits") else {
        return ResourceLimits::default();
    };
    reader.check_keys(&table, known);
    let count = |node: &Node| match node.value {
        Value::Integer(number) => u32::try_from(number)
            .ok()
            .filter(|number| *number > 0)
            .ok_or(ExpectedValue::SomeCount),
        _ => Err(ExpectedValue::SomeCount),
    };
    ResourceLimits {
        memory: reader.get(&table, "memory", units::size),
        processes: reader.get(&table, "processes", count),
        cpu: reader.get(&table, "cpu_secs", units::some_seconds),
        open_files: reader.get(&table, "open_files", count).map(u64::from),
        file_size: reader.get(&table, "file_size", units::size),
        wall: reader.get(&table, "wall_secs", units::some_seconds),
        disk: reader.get(&table, "disk", units::size),
    }
}

/// Reads `conversation.limits`: limits that can be counted for all tools of a
/// session.
pub(crate) fn read_session_limits(reader: &mut ConfigReader, table: &Table<'_>) -> ResourceLimits {
    let limits = read_known_limits(reader, table, keys::SESSION_LIMITS);
    ResourceLimits {
        memory: limits.memory,
        processes: limits.processes,
        cpu: limits.cpu,
        ..ResourceLimits::default()
    }
}

/// Whether the project's sandbox is less strict than the user's in some
/// respect. That part is then ignored.
pub(crate) fn is_laxer(said: &SandboxSettings, own: &SandboxSettings) -> bool {
    let openness = |network: &NetworkRule| match network {
        NetworkRule::None => 0,
        NetworkRule::Loopback => 1,
        NetworkRule::Allow(_) => 2,
        NetworkRule::Full => 3,
    };
    own.mode != SandboxMode::Off
        && (said.mode < own.mode
            || said.unavailable < own.unavailable
            || openness(&said.network) > openness(&own.network))
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
