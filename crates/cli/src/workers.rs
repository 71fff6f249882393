//! `windlass worker`: joins a pool; `windlass workers`: the workers of the configuration's pools.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::bail;
use serde_json::json;
use windlass::config::{HostConfig, PoolConfig};
use windlass::host::ServeOptions;
use windlass::pool::{
    BrokerOptions, PoolView, WorkerOptions, WorkerPresence, run_worker, worker_name,
};

use crate::args::{BrokerArgs, Global, WorkerArgs, WorkersArgs, WorkersCommand};
use crate::exit;
use crate::setup;
use crate::signals::Signals;
use crate::stdout::outln;

/// The default number of slots per CPU: most programs of an assistant wait.
const SLOTS: u32 = 16;

/// Joins a pool, until it is stopped or has been drained.
pub(crate) async fn work(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let slots = SLOTS.saturating_mul(u32::try_from(cpus).unwrap_or(u32::MAX));
    let options = WorkerOptions {
        broker: broker(args.brokers)?,
        pool: args.pool,
        name: args.name.unwrap_or_else(worker_name),
        labels: args.labels.clone(),
        slots: args.slots.unwrap_or(slots),
        heartbeat: Duration::from_millis(args.heartbeat_ms),
        broker_wait: Duration::from_secs(args.broker_wait_secs.into()),
        stored_total: args.stored_total_mib * 1024 * 1024,
        serve: ServeOptions {
            folder: windlass::state_dir().join("hosts"),
            limits: Ok(crate::host::user_limits()?),
            labels: args.labels,
            places: windlass::project_places,
        },
    };
    let mut signals = Signals::new()?;
    let stopped = async {
        signals.next().await;
    };
    let (name, pool) = (options.name.clone(), options.pool.clone());
    let ready = || {
        // A closed stdout does not matter.
        let _ = outln!("worker `{name}` is in pool `{pool}`");
    };
    Box::pin(run_worker(options, ready, stopped)).await?;
    Ok(ExitCode::SUCCESS)
}

fn broker(args: BrokerArgs) -> anyhow::Result<BrokerOptions> {
    if !matches!(args.replicas, 1 | 3 | 5) {
        bail!("--replicas must be 1, 3 or 5");
    }
    Ok(BrokerOptions {
        credentials: args.credentials,
        ca: args.ca,
        certificate: args.cert.zip(args.key),
        replicas: args.replicas,
        ..BrokerOptions::new(&args.nats)
    })
}

/// Lists the workers of all pools, or drains one.
pub(crate) async fn list(global: &Global, args: WorkersArgs) -> anyhow::Result<ExitCode> {
    let config = setup::config(global)?;
    let pools = config
        .hosts
        .iter()
        .filter_map(|host| Some((host, host.pool.as_ref()?)));
    let pools: Vec<(&HostConfig, &PoolConfig)> = pools.collect();
    if pools.is_empty() {
        bail!("there are no pools; add [hosts.NAME] with `nats` and `pool` to the configuration");
    }
    match args.command {
        None => show(global.json, &pools, &config.root).await,
        Some(WorkersCommand::Drain { name, host }) => {
            let is_meant = |it: &&(&HostConfig, &PoolConfig)| {
                host.as_ref().is_none_or(|host| *host == it.0.name)
            };
            let pools: Vec<_> = pools.iter().filter(is_meant).copied().collect();
            drain(&name, &pools, &config.root).await
        }
    }
}

pub(crate) async fn connect(pool: &PoolConfig, root: &Path) -> anyhow::Result<PoolView> {
    let options = windlass::broker_options(pool, root);
    Ok(PoolView::connect(&options, &pool.pool).await?)
}

async fn show(
    is_json: bool,
    pools: &[(&HostConfig, &PoolConfig)],
    root: &Path,
) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    let mut all = Vec::new();
    for (host, pool) in pools {
        let workers = async { Ok::<_, anyhow::Error>(connect(pool, root).await?.workers().await?) };
        match workers.await {
            Ok(workers) if is_json => {
                all.push(json!({"host": host.name, "pool": pool.pool, "workers": workers}));
            }
            Ok(workers) => show_pool(host, pool, &workers)?,
            Err(error) => {
                code = ExitCode::from(exit::FAILED);
                if is_json {
                    let error = format!("{error:#}");
                    all.push(json!({"host": host.name, "pool": pool.pool, "error": error}));
                } else {
                    outln!("{}  pool {}: {error:#}", host.name, pool.pool)?;
                }
            }
        }
    }
    if is_json {
        outln!("{}", serde_json::to_string(&all)?)?;
    }
    Ok(code)
}

/// Prints the workers of a pool.
pub(crate) fn show_pool(
    host: &HostConfig,
    pool: &PoolConfig,
    workers: &[WorkerPresence],
) -> anyhow::Result<()> {
    if workers.is_empty() {
        outln!("{}  pool {}: no workers", host.name, pool.pool)?;
    } else {
        outln!("{}  pool {}", host.name, pool.pool)?;
    }
    for worker in workers {
        let draining = if worker.is_draining { "  draining" } else { "" };
        let labels = if worker.labels.is_empty() {
            String::new()
        } else {
            format!("  [{}]", worker.labels.join(", "))
        };
        outln!(
            "  {:<16}  {}/{} slots  load {}.{:02} of {}  {}{labels}{draining}",
            worker.name,
            worker.running,
            worker.slots,
            worker.load / 1000,
            worker.load % 1000 / 10,
            worker.cpus,
            worker.machine,
        )?;
        for program in &worker.programs {
            let age = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH + Duration::from_secs(program.since))
                .unwrap_or_default();
            outln!(
                "    {:<14}  {} s  for {}",
                program.program,
                age.as_secs(),
                program.runtime
            )?;
        }
    }
    Ok(())
}

async fn drain(
    name: &str,
    pools: &[(&HostConfig, &PoolConfig)],
    root: &Path,
) -> anyhow::Result<ExitCode> {
    let mut having = Vec::new();
    let mut problem = None;
    for (host, pool) in pools {
        // Two hosts may use one pool, with different labels.
        let is_same =
            |it: &&(&PoolConfig, PoolView)| it.0.nats == pool.nats && it.0.pool == pool.pool;
        if having.iter().any(|it| is_same(&it)) {
            continue;
        }
        let found = async {
            let view = connect(pool, root).await?;
            let workers = view.workers().await?;
            let has_it = workers.iter().any(|worker| worker.name == name);
            Ok::<_, anyhow::Error>(has_it.then_some(view))
        };
        match found.await {
            Ok(view) => having.extend(view.map(|view| (*pool, view))),
            // The worker may be in another pool.
            Err(error) => problem = Some(error.context(format!("host `{}`", host.name))),
        }
    }
    match (having.as_slice(), problem) {
        ([(pool, view)], _) => {
            let running = view.drain(name).await?;
            outln!(
                "worker `{name}` of pool `{}` is draining; it still runs {running} programs",
                pool.pool
            )?;
            Ok(ExitCode::SUCCESS)
        }
        ([], Some(problem)) => Err(problem),
        ([], None) => bail!("no pool has a worker `{name}`; `windlass workers` lists them"),
        _ => bail!("several pools have a worker `{name}`; choose one with --host"),
    }
}
