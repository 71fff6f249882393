//! Pools of workers on NATS `JetStream`: many machines behind one host.
//!
//! [`Pool`] is the near side. It places each program on a worker and has a link to every worker that it uses, over a
//! pair of subjects. [`run_worker`] is the far side, which `windlass worker` runs: the same far end as `windlass host`,
//! once per runtime. [`PoolView`] lists and drains workers. Frames, offsets, orders and leases are those of
//! `windlass_host`; a pool adds the placement. `docs/design/hosts.md` describes every failure.

mod broker;
mod error;
mod link;
mod lost;
mod names;
mod placement;
mod pool;
mod presence;
mod stored;
#[cfg(test)]
mod test_broker;
mod view;
mod worker;

pub use broker::{BrokerOptions, check_server};
pub use error::PoolError;
pub use names::is_name;
pub use pool::{Pool, PoolOptions};
pub use presence::{PoolProgram, WorkerPresence};
pub use view::{Durability, PoolView, StoredLimits};
pub use worker::{WorkerOptions, run_worker, worker_name};
