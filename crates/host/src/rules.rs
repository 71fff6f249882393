//! Converts sandboxes and limits to and from frames.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_hold_wire::{LinkLimits, LinkNetwork, LinkSandbox, SandboxRules};
use windlass_sandbox::{
    HostPattern, NetworkRule, OnUnavailable, ResourceLimits, SandboxMode, SandboxSettings,
    UnresolvedSandbox,
};

/// Encodes a sandbox for a project at `root` on the far side.
pub(crate) fn sandbox_frame(sandbox: &UnresolvedSandbox, root: &Path) -> LinkSandbox {
    LinkSandbox {
        root: root.as_os_str().as_bytes().to_vec(),
        rules: words(&sandbox.settings),
        floor: sandbox.bound.as_ref().map(words),
    }
}

fn words(settings: &SandboxSettings) -> SandboxRules {
    SandboxRules {
        mode: settings.mode.as_str().to_owned(),
        read: settings.read.clone(),
        write: settings.write.clone(),
        deny: settings.deny.clone(),
        network: match &settings.network {
            NetworkRule::None => LinkNetwork::None,
            NetworkRule::Loopback => LinkNetwork::Loopback,
            NetworkRule::Full => LinkNetwork::Full,
            NetworkRule::Allow(hosts) => {
                LinkNetwork::Allow(hosts.iter().map(ToString::to_string).collect())
            }
        },
        refuses: settings.unavailable == OnUnavailable::Refuse,
    }
}

/// Decodes a sandbox and the project's directory; `None` if a word is unknown.
pub(crate) fn read_sandbox(frame: &LinkSandbox) -> Option<(PathBuf, UnresolvedSandbox)> {
    let root = PathBuf::from(OsStr::from_bytes(&frame.root));
    let bound = frame.floor.as_ref();
    let sandbox = UnresolvedSandbox {
        settings: settings(&frame.rules)?,
        bound: match bound {
            Some(rules) => Some(settings(rules)?),
            None => None,
        },
    };
    Some((root, sandbox))
}

fn settings(rules: &SandboxRules) -> Option<SandboxSettings> {
    let hosts = |hosts: &[String]| -> Option<Vec<HostPattern>> {
        hosts.iter().map(|it| HostPattern::parse(it)).collect()
    };
    Some(SandboxSettings {
        mode: SandboxMode::of_word(&rules.mode)?,
        read: rules.read.clone(),
        write: rules.write.clone(),
        deny: rules.deny.clone(),
        network: match &rules.network {
            LinkNetwork::None => NetworkRule::None,
            LinkNetwork::Loopback => NetworkRule::Loopback,
            LinkNetwork::Full => NetworkRule::Full,
            LinkNetwork::Allow(patterns) => NetworkRule::Allow(hosts(patterns)?),
        },
        unavailable: if rules.refuses {
            OnUnavailable::Refuse
        } else {
            OnUnavailable::Warn
        },
    })
}

/// Encodes limits.
pub(crate) fn limit_numbers(limits: &ResourceLimits) -> LinkLimits {
    let millis = |limit: Option<Duration>| {
        limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
    };
    [
        limits.memory,
        limits.processes.map(u64::from),
        millis(limits.cpu),
        limits.open_files,
        limits.file_size,
        millis(limits.wall),
        limits.disk,
    ]
}

/// Decodes limits.
pub(crate) fn read_limits(numbers: &LinkLimits) -> ResourceLimits {
    let [memory, processes, cpu, open_files, file_size, wall, disk] = *numbers;
    ResourceLimits {
        memory,
        processes: processes.map(|it| u32::try_from(it).unwrap_or(u32::MAX)),
        cpu: cpu.map(Duration::from_millis),
        open_files,
        file_size,
        wall: wall.map(Duration::from_millis),
        disk,
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
