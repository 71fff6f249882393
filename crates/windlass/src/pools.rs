//! Pools of workers as a configuration names them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use windlass_config::{HostConfig, PoolConfig};
use windlass_process::RemoteHost;

/// The host for a pool.
#[cfg(feature = "nats")]
#[expect(clippy::unnecessary_wraps, reason = "a build without NATS has none")]
pub(crate) fn pool(
    host: &HostConfig,
    pool: &PoolConfig,
    project: &Path,
) -> io::Result<Arc<dyn RemoteHost>> {
    Ok(Arc::new(windlass_pool::Pool::new(
        windlass_pool::PoolOptions {
            host: host.name.clone(),
            broker: broker_options(pool, project),
            pool: pool.pool.clone(),
            labels: host.labels.clone(),
            root: host.root.as_ref().map(Into::into),
            project: project.to_owned(),
            lease: host.lease,
            stored_output: pool.stored_output,
        },
    )))
}

/// A build without NATS has no pools.
#[cfg(not(feature = "nats"))]
pub(crate) fn pool(host: &HostConfig, _: &PoolConfig, _: &Path) -> io::Result<Arc<dyn RemoteHost>> {
    Err(io::Error::other(format!(
        "host `{}` is a pool, and this build has no NATS; build it with the feature `nats`",
        host.name
    )))
}

/// The brokers of a configured pool. Files are absolute, below `~/`, or relative to the project.
#[cfg(feature = "nats")]
pub fn broker_options(pool: &PoolConfig, project: &Path) -> windlass_pool::BrokerOptions {
    let file = |name: &Option<String>| {
        let name = name.as_deref()?;
        let home = std::env::var_os("HOME");
        Some(match (name.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Path::new(&home).join(rest),
            _ => project.join(name),
        })
    };
    windlass_pool::BrokerOptions {
        credentials: file(&pool.credentials),
        ca: file(&pool.ca),
        certificate: file(&pool.cert).zip(file(&pool.key)),
        replicas: pool.replicas,
        ..windlass_pool::BrokerOptions::new(&pool.nats)
    }
}
