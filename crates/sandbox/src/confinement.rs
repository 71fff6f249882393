//! A sandbox in full: every rule as an absolute path, ready to be enforced.

use std::path::{Path, PathBuf};

use crate::places::TEMPORARY;
use crate::settings::{NetworkRule, OnUnavailable};

/// The files and the network that a program may use. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Confinement {
    /// The project's root folder.
    pub root: PathBuf,
    /// Folders and files that can be read; `None` is everything. What can be written can be read too.
    pub readable: Option<Vec<PathBuf>>,
    /// Folders and files that can be written. Those that do not exist are passed over.
    pub writable: Vec<PathBuf>,
    /// Folders that are created for this user if they do not exist: caches,
    /// which programs could not create, and hidden folders.
    pub made: Vec<PathBuf>,
    /// Folders and files within those that cannot be written, nor made where they do not exist.
    pub write_holes: Vec<PathBuf>,
    /// Every file that is executed later outside of the sandbox, writable or
    /// not: no wider rule may include one.
    pub guarded: Vec<PathBuf>,
    /// Folders and files that can be neither read nor written, and sockets in them not connected to.
    pub hidden: Vec<PathBuf>,
    pub network: NetworkRule,
    /// The behaviour if this system cannot enforce all rules.
    pub unavailable: OnUnavailable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// Its content is read.
    Read,
    /// It is made, changed or removed.
    Write,
}

impl Confinement {
    /// Both confinements at once: whatever either of them denies is denied.
    pub fn within(self, bound: &Self) -> Self {
        let readable = match (self.readable, &bound.readable) {
            (Some(own), Some(bound)) => Some(common(&own, bound)),
            (own, bound) => own.or_else(|| bound.clone()),
        };
        Self {
            root: self.root,
            readable,
            writable: common(&self.writable, &bound.writable),
            made: common(&self.made, &bound.made),
            write_holes: union(self.write_holes, &bound.write_holes),
            guarded: union(self.guarded, &bound.guarded),
            hidden: union(self.hidden, &bound.hidden),
            network: self.network.within(&bound.network),
            unavailable: self.unavailable.max(bound.unavailable),
        }
    }

    /// Whether the rules allow this access to an absolute path without `..` in it. Symbolic links are not followed.
    pub fn allows(&self, path: &Path, access: FileAccess) -> bool {
        let below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        if below(&self.hidden) {
            return false;
        }
        let temporary = TEMPORARY.iter().any(|folder| path.starts_with(folder));
        let hole = below(&self.write_holes);
        match access {
            FileAccess::Write => !hole && (temporary || below(&self.writable)),
            FileAccess::Read => {
                let readable = self.readable.as_deref().is_none_or(below);
                readable || temporary || below(&self.writable)
            }
        }
    }

    /// The rules in a line, for replies and requests.
    pub fn summary(&self) -> String {
        let mut writes: Vec<String> = Vec::new();
        if self.writable.iter().any(|path| self.root.starts_with(path)) {
            writes.push(String::from("the project"));
        }
        let others = self
            .writable
            .iter()
            .filter(|path| !self.root.starts_with(path));
        let others: Vec<_> = others.collect();
        writes.push(String::from("/tmp (private)"));
        if others.len() > 4 {
            writes.push(String::from("package caches"));
        } else {
            writes.extend(others.iter().map(|path| path.display().to_string()));
        }
        let reads = match &self.readable {
            None => String::from("everything but secrets"),
            Some(_) => String::from("system folders and the listed ones"),
        };
        let network = match &self.network {
            NetworkRule::None => String::from("none"),
            NetworkRule::Loopback => String::from("its own loopback"),
            NetworkRule::Full => String::from("full"),
            NetworkRule::Allow(hosts) if hosts.is_empty() => String::from("its own loopback"),
            NetworkRule::Allow(hosts) => {
                let hosts: Vec<_> = hosts.iter().map(ToString::to_string).collect();
                hosts.join(", ")
            }
        };
        format!(
            "writes {}; reads {reads}; network {network}",
            writes.join(", ")
        )
    }
}

/// The paths of either list that lie within a path of the other.
fn common(own: &[PathBuf], bound: &[PathBuf]) -> Vec<PathBuf> {
    let within = |path: &&PathBuf, list: &[PathBuf]| list.iter().any(|it| path.starts_with(it));
    let mut paths: Vec<PathBuf> = own.iter().filter(|it| within(it, bound)).cloned().collect();
    let more = bound.iter().filter(|it| within(it, own));
    for path in more {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

fn union(mut own: Vec<PathBuf>, more: &[PathBuf]) -> Vec<PathBuf> {
    for path in more {
        if !own.contains(path) {
            own.push(path.clone());
        }
    }
    own
}
