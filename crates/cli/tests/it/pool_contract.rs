//! The contract of a job, with programs that run on a pool of workers.

use std::sync::Arc;
use std::time::Duration;

use windlass::pool::{BrokerOptions, Pool, PoolOptions};
use windlass_testing::contract::check_contract;
use windlass_testing::needs;

use crate::hosts_contract::{HostPrograms, SHELL, Starting, TERMINAL, TEXT};
use crate::pool_support::{Broker, WorkerProcess};
use crate::support::Project;

async fn check(start: Starting) {
    let broker = Broker::start();
    let project = Project::new();
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::new(PoolOptions {
        stored_output: 1024 * 1024,
        host: "fleet".to_owned(),
        broker: BrokerOptions::new(&broker.url()),
        pool: "ci".to_owned(),
        labels: Vec::new(),
        root: None,
        project: folder.path().to_owned(),
        lease: Duration::from_secs(30),
    });
    check_contract(&HostPrograms::on(folder, Arc::new(pool), start)).await;
}

#[tokio::test]
async fn text_programs_on_a_pool_keep_the_contract() {
    needs!("nats-server");
    check(TEXT).await;
}

#[tokio::test]
async fn shell_lines_on_a_pool_keep_the_contract() {
    needs!("nats-server");
    check(SHELL).await;
}

#[tokio::test]
async fn terminals_on_a_pool_keep_the_contract() {
    needs!("nats-server");
    check(TERMINAL).await;
}
