//! Detects which parts of a sandbox this kernel enforces, by trying them.

use std::sync::Arc;

use super::confine_wire::{MountStep, OwnNetwork, PrepareOrder};
use super::ruleset::Ruleset;
use super::sandbox::make_namespaces;
use super::zygotes::Zygotes;
use crate::SandboxSupport;

/// Tests all parts. Without zygotes nothing can be tested.
pub(crate) async fn sandbox_support(zygotes: Option<&Arc<Zygotes>>) -> SandboxSupport {
    let mut support = SandboxSupport {
        landlock: Ruleset::version(),
        seccomp: std::fs::exists("/proc/sys/kernel/seccomp").unwrap_or(false),
        control_groups: super::cgroup::delegated_folder().is_some(),
        ..SandboxSupport::default()
    };
    let Some(zygotes) = zygotes else {
        let why = Box::from("trees of processes are not held together here");
        (support.mounts, support.network) = (Err(why), Err(Box::from("the same")));
        return support;
    };
    // A read-only mount needs more of the kernel than a namespace: Linux 5.12.
    let step = MountStep {
        source: c"/proc".to_owned(),
        target: c"/proc".to_owned(),
        read_only: true,
        may_vanish: false,
    };
    let mut order = PrepareOrder {
        user: true,
        mounts: vec![step],
        ..PrepareOrder::default()
    };
    let mut mounts = make_namespaces(&order, None, zygotes).await.map(drop);
    support.user_namespaces = mounts.is_ok();
    if mounts.is_err() && rustix::process::geteuid().is_root() {
        order.user = false;
        mounts = make_namespaces(&order, None, zygotes).await.map(drop);
    }
    order.network = Some(OwnNetwork::Loopback);
    let network = make_namespaces(&order, None, zygotes).await.map(drop);
    let text = |error: std::io::Error| error.to_string().into_boxed_str();
    support.mounts = mounts.map_err(text);
    support.network = network.map_err(text);
    support
}
