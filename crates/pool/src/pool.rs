//! The near side of a pool: one host that represents many machines.
//!
//! Start at [`Pool::start_somewhere`]. It chooses a worker and queues the start for it. The program's frames use a
//! separate link. A start that no worker has claimed is withdrawn and placed again; a claimed one is never repeated.

mod known;
mod stored_end;
mod worker_link;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;
use windlass_hold_wire::ProgramOrigin;
use windlass_process::{
    Process, RemoteAdoption, RemoteFuture, RemoteHost, RemotePlace, RemoteStart, StartError,
    TakeOverError,
};

use self::known::KnownWorkers;
use crate::broker::{BrokerOptions, ClaimKind, Claimed, claim};
use crate::error::Trouble;
use crate::placement::PlacementChoice;
use crate::{PoolError, is_name};

/// How long a program waits for a free slot.
const PATIENCE: Duration = Duration::from_mins(1);

/// The configuration of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOptions {
    /// The host's name in the configuration.
    pub host: String,
    /// The brokers.
    pub broker: BrokerOptions,
    /// The pool's name.
    pub pool: String,
    /// Labels that a worker must have.
    pub labels: Vec<String>,
    /// The project's directory on the workers; `None` if it is the same as here.
    pub root: Option<PathBuf>,
    /// The project's directory here.
    pub project: PathBuf,
    /// How long programs are held there without this runtime.
    pub lease: Duration,
    /// How many bytes of each program's output the broker stores, for the time after its worker has died; 0: none.
    pub stored_output: u64,
}

/// A pool of workers. Clones share the connection, which is opened with the first program.
#[derive(Clone)]
pub struct Pool {
    options: Arc<PoolOptions>,
    workers: Arc<OnceCell<Arc<KnownWorkers>>>,
}

impl Pool {
    /// Creates a pool. Does not connect before it is used.
    pub fn new(options: PoolOptions) -> Self {
        Self {
            options: Arc::new(options),
            workers: Arc::default(),
        }
    }

    async fn workers(&self) -> Result<&Arc<KnownWorkers>, PoolError> {
        let connecting = || KnownWorkers::connect(Arc::clone(&self.options));
        self.workers.get_or_try_init(connecting).await
    }

    fn failed(&self, problem: String) -> StartError {
        StartError::Host {
            host: self.options.host.clone(),
            problem,
        }
    }

    /// Starts a program on a worker with a free slot.
    async fn start_somewhere(&self, start: RemoteStart) -> Result<Process, StartError> {
        let workers = self.workers().await;
        let workers = workers.map_err(|error| self.failed(crate::broker::words(&error)))?;
        let deadline = Instant::now() + PATIENCE;
        let mut avoided = HashSet::new();
        let mut last = None;
        loop {
            let group = start.group.as_ref();
            let placing = self.place(workers, group, &mut avoided, deadline);
            let worker = placing.await;
            let worker = match (worker, last.take()) {
                (Ok(worker), _) => worker,
                (Err(_), Some(error)) => return Err(error),
                (Err(Trouble(problem)), None) => return Err(self.failed(problem)),
            };
            let host = workers.host(&worker);
            let host = host.map_err(|error| self.failed(error.to_string()))?;
            let mut number = None;
            let starting = host.start_numbered(start.clone(), |it| {
                workers.note_program(&worker, it, start.group.clone());
                number = Some(it);
            });
            let error = match starting.await {
                Ok(process) => return Ok(process),
                Err(error) => error,
            };
            if let Some(number) = number {
                if workers.is_refused(&worker, number) {
                    return Err(error);
                }
                // A start may be placed again only if no worker has claimed it or will.
                let id = (&host.session(), number);
                let claimed = claim(&workers.broker, &workers.claims, id, ClaimKind::Withdrawn);
                if claimed.await == Claimed::Before(ClaimKind::Started) {
                    return Err(error);
                }
            }
            tracing::debug!(worker, %error, "a program is placed on another worker");
            avoided.insert(worker);
            last = Some(error);
        }
    }

    /// The worker of this pool that runs a kept program.
    fn worker_at<'a>(&self, place: &'a RemotePlace) -> Option<&'a str> {
        let worker = place.host.strip_prefix(&self.options.host)?;
        worker.strip_prefix('/')
    }

    /// Adopts a program that an earlier runtime kept on one of the workers.
    async fn take_over(&self, mut adoption: RemoteAdoption) -> Result<Process, TakeOverError> {
        let name = adoption.key.name.clone();
        let silent = || TakeOverError::Silent { name: name.clone() };
        let place = adoption.key.remote.as_ref();
        let worker = place.and_then(|place| self.worker_at(place));
        let worker = worker.ok_or_else(silent)?.to_owned();
        let origin = ProgramOrigin {
            session: adoption.key.nonce,
            program: place.map_or(0, |place| place.program),
        };
        let workers = self.workers().await.map_err(|_| silent())?;
        if let Some(rebuild) = adoption.rebuild.take() {
            let replays = Arc::clone(&workers.stored.replays);
            // A replay of stored output may lack parts of it, which changes the read position.
            adoption.rebuild = Some(Box::new(move |output, read| {
                let offsets = replays.lock().remove(&origin).unwrap_or_default();
                rebuild(output, offsets.of(read));
            }));
        }
        let known_after = match workers.host(&worker) {
            Ok(_) => Instant::now(),
            Err(_) => workers.dead_after(&worker).await.ok_or_else(silent)?,
        };
        loop {
            let mut changes = workers.changes.subscribe();
            if let Ok(host) = workers.host(&worker) {
                return host.adopt(adoption).await;
            }
            // Its worker may not have announced itself yet.
            let shown = tokio::time::timeout_at(known_after, changes.changed()).await;
            match shown {
                Ok(Ok(())) => {}
                Err(_) if workers.is_dead(&worker).await => {
                    let host = workers.stored_host(&worker).map_err(|_| silent())?;
                    return host.adopt(adoption).await;
                }
                _ => return Err(silent()),
            }
        }
    }

    /// Chooses a worker; waits for a free slot.
    async fn place(
        &self,
        workers: &KnownWorkers,
        group: Option<&Arc<str>>,
        avoided: &mut HashSet<String>,
        deadline: Instant,
    ) -> Result<String, Trouble> {
        let PoolOptions { pool, labels, .. } = &*self.options;
        let mut is_listed = false;
        loop {
            let mut changes = workers.changes.subscribe();
            let why = match workers.choose(labels, group, avoided) {
                Ok(worker) => return Ok(worker),
                Err(why) => why,
            };
            // Workers announce themselves again when a broker comes back.
            let patience = match why {
                PlacementChoice::Full => deadline,
                _ => workers.known_after().min(deadline),
            };
            let waited = tokio::time::timeout_at(patience, changes.changed()).await;
            if waited.is_err() {
                if !is_listed && why != PlacementChoice::Full {
                    // A worker may have joined a moment ago.
                    is_listed = true;
                    workers.list().await;
                    continue;
                }
                let like = labels.join(", ");
                return Err(Trouble(match why {
                    PlacementChoice::Full => format!(
                        "every worker of pool `{pool}` that could run it is full, draining or out of reach; \
                         try again later, or add one with `windlass worker`"
                    ),
                    PlacementChoice::Unlabelled => format!(
                        "pool `{pool}` has no worker with the labels {like}; start one with `windlass worker --labels`"
                    ),
                    _ => format!("pool `{pool}` has no worker; start one with `windlass worker`"),
                }));
            }
            // A worker that announced itself again may have a free slot now.
            avoided.clear();
        }
    }
}

impl RemoteHost for Pool {
    fn name(&self) -> &str {
        &self.options.host
    }

    fn path_there(&self, path: &Path) -> PathBuf {
        let options = &self.options;
        windlass_host::path_there(path, &options.project, options.root.as_deref())
    }

    fn start(&self, start: RemoteStart) -> RemoteFuture<'_, Result<Process, StartError>> {
        Box::pin(self.start_somewhere(start))
    }

    fn has_place(&self, place: &RemotePlace) -> bool {
        self.worker_at(place).is_some()
    }

    fn adopt(&self, adoption: RemoteAdoption) -> RemoteFuture<'_, Result<Process, TakeOverError>> {
        Box::pin(self.take_over(adoption))
    }
}

/// The name of this runtime in a list of workers.
fn runtime_name(machine: &str) -> String {
    let machine: String = machine.chars().take(64).collect();
    let machine = if is_name(&machine) {
        machine
    } else {
        machine.replace(|letter: char| letter.is_control(), "-")
    };
    format!("{machine}:{}", std::process::id())
}
