//! The words of a configuration, as they were written.

use crate::HostPattern;

/// The kind of sandbox. The order is by strictness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SandboxMode {
    /// Programs run as the user, without a sandbox.
    #[default]
    Off,
    /// Programs write the project, a private temporary folder and package caches.
    Workspace,
    /// Programs write a private temporary folder and package caches.
    ReadOnly,
}

impl SandboxMode {
    /// The word of the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
        }
    }

    /// The kind of a word; `None` if there is none.
    pub fn of_word(word: &str) -> Option<Self> {
        let all = [Self::Off, Self::Workspace, Self::ReadOnly];
        all.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// The `sandbox` key: a word, or a table that changes what the word `workspace` means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SandboxSettings {
    /// The word; a table is a `workspace`.
    pub mode: SandboxMode,
    /// Folders and files that can be read, beside those that every program needs. Everything but secrets where it is
    /// left out.
    pub read: Option<Vec<String>>,
    /// Folders and files that can be written, instead of the project and the package caches.
    pub write: Option<Vec<String>>,
    /// Folders and files that can be neither read nor written, beside the secrets that are known.
    pub deny: Vec<String>,
    /// The network; none where it is left out.
    pub network: NetworkRule,
    /// The choice where this system cannot enforce all of it.
    pub unavailable: OnUnavailable,
}

impl SandboxSettings {
    /// The settings that a single word stands for.
    pub fn of_mode(mode: SandboxMode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }
}

/// How much of the network a program has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum NetworkRule {
    /// Nothing.
    #[default]
    None,
    /// A loopback interface that the programs of one sandbox share, and nothing of the machine's own.
    Loopback,
    /// The loopback interface, and these hosts through a proxy.
    Allow(Vec<HostPattern>),
    /// Everything that the user has.
    Full,
}

impl NetworkRule {
    /// This rule, but nowhere laxer than that one. Of two lists of hosts, patterns of this one count if a pattern of the
    /// other covers them.
    pub(crate) fn within(self, other: &Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::Loopback, _) | (_, Self::Loopback) => Self::Loopback,
            (rule, Self::Full) => rule,
            (Self::Full, rule) => rule.clone(),
            (Self::Allow(hosts), Self::Allow(bound)) => Self::Allow(
                hosts
                    .into_iter()
                    .filter(|host| bound.iter().any(|bound| bound.covers(host)))
                    .collect(),
            ),
        }
    }
}

/// The choice where this system cannot enforce all of a sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OnUnavailable {
    /// Programs run with as much of it as there is, and the person is told what is missing.
    Warn,
    /// Programs do not start, and the error names what would be unprotected.
    #[default]
    Refuse,
}
