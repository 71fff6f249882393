//! The status of a project's hosts, for people.
//!
//! Start at [`Windlass::survey_hosts`]. It reads the state of links without connecting. For a pool it connects to the broker.

use windlass_config::PoolConfig;
use windlass_host::{Host, LinkStanding};
use windlass_runtime::protocol::{HostInfo, HostStanding, Millis};

use crate::build::Windlass;
use crate::hosts::ConfiguredHost;

/// How long a pool's broker may take to list the workers.
#[cfg(feature = "nats")]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(4);

impl Windlass {
    /// The hosts of the configuration: the links of this runtime, and the workers of pools. Answers within some seconds; a
    /// pool whose broker is not reached by then says so, and the others are listed all the same.
    pub async fn survey_hosts(&self) -> Vec<HostInfo> {
        let late = self.late_trust.get();
        let counted = late.and_then(|late| late.taken.get());
        let windlass = counted.map_or(self, |windlass| windlass);
        let hosts = windlass.hosts.all().iter();
        futures_util::future::join_all(hosts.map(|host| windlass.survey_host(host))).await
    }

    async fn survey_host(&self, host: &ConfiguredHost) -> HostInfo {
        let standing = match (&host.config.pool, &host.carrier) {
            (Some(pool), _) => self.survey_pool(pool).await,
            (None, Some(carrier)) => link_standing(carrier),
            (None, None) => HostStanding::Unused,
        };
        HostInfo {
            name: host.config.name.clone(),
            way: host.config.way(),
            labels: host.config.labels.clone(),
            standing,
        }
    }

    #[cfg(feature = "nats")]
    async fn survey_pool(&self, pool: &PoolConfig) -> HostStanding {
        use windlass_pool::{PoolError, PoolView};

        let options = crate::broker_options(pool, &self.config().root);
        let listing = async {
            let view = PoolView::connect(&options, &pool.pool).await?;
            view.workers().await
        };
        let listed: Result<Result<_, PoolError>, _> = tokio::time::timeout(PATIENCE, listing).await;
        let error = match listed {
            Ok(Ok(workers)) => {
                return HostStanding::Pool {
                    pool: pool.pool.clone(),
                    workers: workers.into_iter().map(worker_info).collect(),
                };
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!(
                "the broker at {} has not answered within {} s",
                pool.nats,
                PATIENCE.as_secs()
            ),
        };
        HostStanding::Unreached {
            pool: pool.pool.clone(),
            error,
        }
    }

    #[cfg(not(feature = "nats"))]
    #[expect(clippy::unused_async, reason = "a build with NATS asks a broker")]
    async fn survey_pool(&self, pool: &PoolConfig) -> HostStanding {
        HostStanding::Unreached {
            pool: pool.pool.clone(),
            error: String::from("this build has no NATS; build it with the feature `nats`"),
        }
    }
}

fn link_standing(host: &Host) -> HostStanding {
    let count = |programs: usize| u32::try_from(programs).unwrap_or(u32::MAX);
    match host.standing() {
        LinkStanding::Unused => HostStanding::Unused,
        LinkStanding::Connected { machine, programs } => HostStanding::Connected {
            machine: machine.machine,
            cpus: machine.cpus,
            programs: count(programs),
        },
        LinkStanding::Lost { since, programs } => HostStanding::Lost {
            since: Millis::at(since),
            programs: count(programs),
        },
    }
}

#[cfg(feature = "nats")]
fn worker_info(worker: windlass_pool::WorkerPresence) -> windlass_runtime::protocol::WorkerInfo {
    use windlass_runtime::protocol::{WorkerInfo, WorkerProgram};

    let programs = worker.programs.into_iter().map(|program| WorkerProgram {
        program: program.program,
        runtime: program.runtime,
        started: Millis(program.since.saturating_mul(1000)),
    });
    WorkerInfo {
        name: worker.name,
        machine: worker.machine,
        cpus: worker.cpus,
        load: worker.load,
        labels: worker.labels,
        slots: worker.slots,
        running: worker.running,
        is_draining: worker.is_draining,
        programs: programs.collect(),
    }
}
