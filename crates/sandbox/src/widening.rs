//! A wider rule for one file, folder or host, which a person has allowed.
//!
//! Secrets and files that run later outside are never part of one: a person who wants that changes the configuration.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use crate::{Confinement, HostPattern, NetworkRule};

/// One access that a confinement allows beside everything else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Widening {
    /// Reading a file, or everything in a folder.
    Read(PathBuf),
    /// Writing a file, or everything in a folder.
    Write(PathBuf),
    /// Connecting to a host.
    Connect(HostPattern),
}

/// A text that is no [`Widening`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoWidening;

impl fmt::Display for Widening {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(formatter, "read {}", path.display()),
            Self::Write(path) => write!(formatter, "write {}", path.display()),
            Self::Connect(host) => write!(formatter, "connect {host}"),
        }
    }
}

impl FromStr for Widening {
    type Err = NoWidening;

    fn from_str(text: &str) -> Result<Self, NoWidening> {
        let (word, rest) = text.split_once(' ').ok_or(NoWidening)?;
        match word {
            "read" => Ok(Self::Read(PathBuf::from(rest))),
            "write" => Ok(Self::Write(PathBuf::from(rest))),
            "connect" => HostPattern::parse(rest)
                .map(Self::Connect)
                .ok_or(NoWidening),
            _ => Err(NoWidening),
        }
    }
}

impl Confinement {
    /// This confinement with all of these that it can be widened by.
    pub fn widened(&self, widenings: &[Widening]) -> Self {
        let mut wider = self.clone();
        for widening in widenings.iter().filter(|it| self.can_be_widened(it)) {
            match widening {
                Widening::Read(path) => {
                    if let Some(readable) = &mut wider.readable {
                        readable.push(path.clone());
                    }
                }
                // Programs can replace whatever lies in a folder that they can write, so that is no rule of its own.
                Widening::Write(path) => {
                    let is_within = |folder: &PathBuf| path.starts_with(folder);
                    if !wider.writable.iter().any(is_within) {
                        wider.writable.retain(|known| !known.starts_with(path));
                        wider.writable.push(path.clone());
                    }
                }
                Widening::Connect(host) => {
                    if let NetworkRule::Allow(hosts) = &mut wider.network {
                        hosts.push(host.clone());
                    }
                }
            }
        }
        wider
    }

    /// Whether a person can be asked for it: it touches no secret and no file that runs later outside, and says exactly
    /// what it is about.
    pub fn can_be_widened(&self, widening: &Widening) -> bool {
        match widening {
            Widening::Read(path) => is_plain(path) && is_apart(path, &self.hidden),
            Widening::Write(path) => {
                is_plain(path) && is_apart(path, &self.hidden) && is_apart(path, &self.guarded)
            }
            Widening::Connect(host) => {
                let is_exact = !host.to_string().contains('*');
                is_exact && matches!(self.network, NetworkRule::Allow(_))
            }
        }
    }
}

/// An absolute path without anything that a rule, or a person who reads it, could take for something else.
fn is_plain(path: &Path) -> bool {
    let is_visible = |text: &str| {
        let is_plain = |letter: char| {
            !letter.is_control() && !letter.is_whitespace() && !matches!(letter, '*' | '?')
        };
        text.chars().all(is_plain)
    };
    let mut components = path.components();
    components.next() == Some(Component::RootDir)
        && components
            .clone()
            .all(|it| matches!(it, Component::Normal(_)))
        && components.next().is_some()
        && path.to_str().is_some_and(is_visible)
}

/// None of the others lies in it, and it lies in none of them.
fn is_apart(path: &Path, others: &[PathBuf]) -> bool {
    let mut others = others.iter();
    !others.any(|other| path.starts_with(other) || other.starts_with(path))
}

#[cfg(test)]
#[path = "widening_tests.rs"]
mod tests;
