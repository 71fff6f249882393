//! `windlass hosts check` for a pool: connects to the broker and reports what works.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};
use windlass::config::{HostConfig, PoolConfig};
use windlass::pool::{Durability, StoredLimits, WorkerPresence};

use crate::exit;
use crate::host_check::unreached;
use crate::stdout::outln;
use crate::workers::{connect, show_pool};

/// Connects to a pool, and reports what works there.
pub(crate) async fn check(
    host: &HostConfig,
    pool: &PoolConfig,
    root: &Path,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let looked = async {
        let view = connect(pool, root).await?;
        let durability = view.durability().await?;
        Ok::<_, anyhow::Error>((durability, view.workers().await?))
    };
    let (durability, workers) = match looked.await {
        Ok(looked) => looked,
        Err(error) => return unreached(host, &format!("{error:#}"), is_json),
    };
    let report = PoolReport {
        host,
        pool,
        replied: begun.elapsed(),
        durability,
        workers,
    };
    if is_json {
        outln!("{}", report.json())?;
    } else {
        report.print()?;
    }
    Ok(match report.problem() {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::from(exit::FAILED),
    })
}

/// The result of a check.
struct PoolReport<'a> {
    host: &'a HostConfig,
    pool: &'a PoolConfig,
    /// The time until the broker replied.
    replied: Duration,
    durability: Durability,
    workers: Vec<WorkerPresence>,
}

impl PoolReport<'_> {
    /// The workers that have all labels of the host.
    fn fitting(&self) -> impl Iterator<Item = &WorkerPresence> {
        let has_labels = |it: &&WorkerPresence| {
            let mut labels = self.host.labels.iter();
            labels.all(|label| it.labels.contains(label))
        };
        self.workers.iter().filter(has_labels)
    }

    /// Why no program can run there.
    fn problem(&self) -> Option<String> {
        if self.fitting().next().is_some() {
            return None;
        }
        if self.workers.is_empty() {
            return Some(String::from(
                "the pool has no worker; start one with `windlass worker`",
            ));
        }
        Some(format!(
            "no worker of the pool has all labels of the host; start one with `windlass worker --labels {}`",
            self.host.labels.join(",")
        ))
    }

    fn json(&self) -> Value {
        let durability = &self.durability;
        let problem = self.problem();
        json!({
            "host": self.host.name,
            "works": problem.is_none(),
            "error": problem,
            "replied_ms": u64::try_from(self.replied.as_millis()).unwrap_or(u64::MAX),
            "pool": self.pool.pool,
            "labels": self.host.labels,
            "root": self.host.root,
            "lease_secs": self.host.lease.as_secs(),
            "broker": {
                "version": durability.version,
                "cluster": durability.cluster,
                "replicas": durability.replicas,
                "survives_a_broker": durability.survives_a_broker(),
            },
            "stored_output": self.pool.stored_output,
            "stored": durability.output.as_ref().map(|limits| {
                json!({"total": limits.total, "secs": limits.age.as_secs(), "bytes": limits.bytes})
            }),
            "fitting": self.fitting().map(|worker| &worker.name).collect::<Vec<_>>(),
            "workers": self.workers,
        })
    }

    fn print(&self) -> anyhow::Result<()> {
        let durability = &self.durability;
        let replied = self.replied.as_millis();
        outln!("host `{}` replied after {replied} ms", self.host.name)?;
        let cluster = durability.cluster.as_deref();
        let cluster = cluster.map_or_else(|| String::from("alone"), |it| format!("cluster {it}"));
        outln!("broker    NATS {}, {cluster}", durability.version)?;
        outln!(
            "replicas  {}: {}",
            durability.replicas,
            if durability.survives_a_broker() {
                "a broker that dies loses nothing and stops nothing"
            } else {
                "while the broker is down, handles wait; they continue when it is back (a worker waits an hour unless told otherwise)"
            }
        )?;
        let stored = stored(self.pool, durability.output.as_ref());
        outln!("output    {stored}")?;
        outln!("lease     {} s", self.host.lease.as_secs())?;
        let slots: u32 = self.fitting().map(|worker| worker.slots).sum();
        let running: u32 = self.fitting().map(|worker| worker.running).sum();
        outln!(
            "workers   {} of {}, {running} of {slots} slots in use",
            self.fitting().count(),
            self.workers.len()
        )?;
        show_pool(self.host, self.pool, &self.workers).context("the list cannot be written")?;
        if let Some(problem) = self.problem() {
            outln!("{problem}")?;
        }
        Ok(())
    }
}

/// The output that outlives a worker, as text.
fn stored(pool: &PoolConfig, limits: Option<&StoredLimits>) -> String {
    if pool.stored_output == 0 {
        return String::from("none is stored: a worker that dies takes its unread output with it");
    }
    let Some(limits) = limits else {
        return String::from("none is stored yet: the first worker creates the store");
    };
    let kib = |bytes: u64| format!("{} KiB", bytes.div_ceil(1024));
    let total = limits.total.map_or_else(
        || String::from("no limit for all"),
        |total| format!("{} for all", kib(total)),
    );
    format!(
        "{} of each program is stored for {} h, {total}, {} now",
        kib(pool.stored_output),
        limits.age.as_secs() / 3600,
        kib(limits.bytes)
    )
}
