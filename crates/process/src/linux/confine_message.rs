//! The runtime's order to a shim to confine its next program.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use windlass_sandbox::ResourceLimits;

use super::cgroup;
use super::confine_wire::{ConfineOrder, ConfineParts};
use super::filter::FilterOptions;
use super::ruleset::Ruleset;
use super::sandbox::Prepared;

/// Whether a program may outlive its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outliving {
    /// Its shim becomes a holder, which uses calls that the filter refuses.
    Kept,
    No,
}

/// An order to confine, with its attached descriptors.
pub(crate) struct ConfineMessage {
    pub(super) bytes: Vec<u8>,
    /// The filter of a shim that can execute this.
    pub(super) shim_filter: Option<FilterOptions>,
    prepared: Option<Arc<Prepared>>,
    ruleset: Option<Arc<Ruleset>>,
}

impl ConfineMessage {
    /// The order for a program with these limits, and in this sandbox, if any.
    pub(crate) fn new(
        prepared: Option<&Arc<Prepared>>,
        limits: ResourceLimits,
        outliving: Outliving,
    ) -> Self {
        let ruleset = prepared.and_then(|prepared| prepared.ruleset());
        let namespaces = prepared.and_then(|prepared| prepared.namespaces());
        let filter = prepared.map(|prepared| &prepared.filter);
        let inherited = filter.filter(|it| outliving == Outliving::No && !it.of_shim.is_empty());
        let order = ConfineOrder {
            parts: ConfineParts {
                ruleset: ruleset.is_some(),
                user: namespaces.as_ref().is_some_and(|made| made.user.is_some()),
                network: namespaces
                    .as_ref()
                    .is_some_and(|made| made.network.is_some()),
                ipc: namespaces.is_some(),
                mount: namespaces.is_some(),
                no_new_privileges: prepared.is_some(),
            },
            filter: match (inherited, filter) {
                (Some(filter), _) => filter.of_shim.clone(),
                (None, Some(filter)) => filter.of_program.clone(),
                (None, None) => Vec::new(),
            },
            key: inherited.map(|filter| filter.key),
            group: group_folder(&limits),
            limits,
        };
        Self {
            bytes: order.write(),
            shim_filter: inherited.map(|filter| filter.options),
            prepared: prepared.cloned(),
            ruleset,
        }
    }

    pub(super) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let ruleset = self.ruleset.iter().map(|ruleset| ruleset.fd.as_fd());
        let namespaces = self.prepared.iter().filter_map(|it| it.namespaces());
        let namespaces = namespaces.flat_map(|made| {
            let first = made.user.into_iter().chain(made.network);
            first.chain([made.ipc, made.mount])
        });
        ruleset.chain(namespaces).collect()
    }
}

/// The directory for the control group of a program with these limits; empty if there is none.
fn group_folder(limits: &ResourceLimits) -> Vec<u8> {
    if limits.is_empty() {
        return Vec::new();
    }
    let folder = cgroup::delegated_folder();
    folder.map_or_else(Vec::new, |it| it.as_os_str().as_bytes().to_vec())
}
