//! The rules and limits of a program: what applies, what it has exceeded, and what it was denied.

use std::path::Path;
use std::sync::Arc;

use windlass_sandbox::{Confinement, Denial, LimitKind, ResourceLimits, denials};

use super::{Process, Side};
use crate::{ResourceUse, ThisUser, tree};

/// The number of bytes of output that are searched for denials.
const LOOKED_AT: usize = 16 << 10;

impl Process {
    /// The limit for which the tree was ended, if any.
    pub fn exceeded(&self) -> Option<LimitKind> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.exceeded(),
        };
        shared.state.borrow().exceeded
    }

    /// Its limits.
    pub fn limits(&self) -> ResourceLimits {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.limits(),
        };
        shared.confined.limits
    }

    /// Its sandbox on this machine.
    pub fn confinement(&self) -> Option<&Arc<Confinement>> {
        match self.side() {
            Side::Local(shared) => shared.confined.confinement.as_ref(),
            Side::Remote(_) => None,
        }
    }

    /// A one-line summary of its sandbox, if it has one.
    pub fn allowed(&self) -> Option<String> {
        match self.side() {
            Side::Local(shared) => {
                let confinement = shared.confined.confinement.as_ref();
                confinement.map(|confinement| confinement.summary())
            }
            Side::Remote(remote) => remote.allowed(),
        }
    }

    /// The denials of its sandbox, one phrase each, inferred from its output. Only for a failed program: the output of
    /// a successful one may quote anything.
    pub fn denied(&self) -> Vec<String> {
        match self.side() {
            Side::Local(_) => self.denials().iter().map(ToString::to_string).collect(),
            Side::Remote(remote) => remote.denied(),
        }
    }

    /// Its denials as typed values. Empty for a program on a host.
    pub fn denials(&self) -> Vec<Denial> {
        let Some(confinement) = self.confinement() else {
            return Vec::new();
        };
        let mut text = self.output().read_all(LOOKED_AT).text;
        text.push_str(&self.errors().read_all(LOOKED_AT).text);
        let cwd = self.cwd().unwrap_or(&confinement.root);
        let mut found = denials(&text, cwd, confinement, &ThisUser);
        let hosts = self.refused_hosts();
        if !hosts.is_empty() {
            found.retain(|denial| *denial != Denial::Network);
            found.extend(hosts.into_iter().map(Denial::Host));
        }
        found
    }

    /// The working directory of its command, if set.
    pub fn cwd(&self) -> Option<&Path> {
        let Side::Local(shared) = self.side() else {
            return None;
        };
        shared.confined.cwd.as_deref()
    }

    /// The parts of its confinement that this system does not enforce, one phrase each.
    pub fn unprotected(&self) -> Vec<String> {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.unprotected(),
        };
        #[cfg(target_os = "linux")]
        if let Some(sandbox) = &shared.sandbox {
            return sandbox.missing().to_vec();
        }
        Vec::new()
    }

    /// The hosts that its sandbox has refused since it was started, newest
    /// last.
    pub fn refused_hosts(&self) -> Vec<String> {
        let Side::Local(shared) = self.side() else {
            return Vec::new();
        };
        #[cfg(target_os = "linux")]
        if let Some(proxy) = shared.sandbox.as_ref().and_then(|it| it.proxy()) {
            return proxy.refused_since(shared.launched);
        }
        Vec::new()
    }

    /// The current resource usage of the program and its descendants.
    pub fn usage(&self) -> ResourceUse {
        let shared = match self.side() {
            Side::Local(shared) => shared,
            Side::Remote(remote) => return remote.usage(),
        };
        tree::usage(shared)
    }
}
