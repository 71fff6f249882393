//! The contract of a job, with programs that run on a pool of workers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use windlass::executors::{Launcher, LauncherOptions};
use windlass::pool::{BrokerOptions, Pool, PoolOptions};
use windlass_outside::needs;
use windlass_process::{Command, RemoteHost};
use windlass_testing::contract::check_contract;

use crate::hosts_contract::{
    EXEC_TERMINAL, EXEC_TEXT, HostPrograms, Kind, SHELL, STATE, TERMINAL, TEXT,
};
use crate::pool_support::{Broker, WorkerProcess};
use crate::support::Project;

fn pool(broker: &Broker, project: &Path) -> Arc<Pool> {
    Arc::new(Pool::new(PoolOptions {
        host: "fleet".to_owned(),
        broker: BrokerOptions::new(&broker.url()),
        pool: "ci".to_owned(),
        labels: Vec::new(),
        root: None,
        project: project.to_owned(),
        lease: Duration::from_secs(30),
        stored_output: 1024 * 1024,
    }))
}

async fn check(kind: Kind) {
    let broker = Broker::start();
    let project = Project::new();
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let folder = tempfile::tempdir().unwrap();
    let hosts = [(); 2].map(|()| pool(&broker, folder.path()) as Arc<dyn RemoteHost>);
    check_contract(&HostPrograms::on(folder, hosts, kind)).await;
}

#[tokio::test]
async fn sessions_of_one_runtime_stay_on_workers_of_their_own() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::new();
    let workers = ["w1", "w2"].map(|name| WorkerProcess::start(&project, &broker, name, &[]));
    let folder = tempfile::tempdir().unwrap();
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    let launcher = launcher.on_host(pool(&broker, folder.path()));
    let [one, two] = ["one", "two"].map(|session| launcher.grouped(session));
    let mut programs = Vec::new();
    let mut places = Vec::new();
    // The folder of all is the same. Without sessions, the third would be placed like the first, as both workers have
    // one program then.
    for session in [&one, &two, &two, &one, &one, &two] {
        let command = Command::new("sh").args(["-c", "echo $XDG_STATE_HOME; exec sleep 100"]);
        let program = session.start(command.cwd(folder.path())).await.unwrap();
        program.settle(Duration::from_secs(10)).await;
        places.push(program.output().read_all(1024).text);
        programs.push(program);
    }
    assert_ne!(places[0], places[1], "{places:?}");
    let expected = [0, 1, 1, 0, 0, 1].map(|place| places[place].clone());
    assert_eq!(places, expected);
    drop((programs, workers));
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

#[tokio::test]
async fn state_programs_on_a_pool_keep_the_contract() {
    needs!("nats-server");
    check(STATE).await;
}

#[tokio::test]
async fn tools_that_answer_exec_with_a_terminal_on_a_pool_keep_the_contract() {
    needs!("nats-server");
    check(EXEC_TERMINAL).await;
}

#[tokio::test]
async fn tools_that_answer_exec_with_pipes_on_a_pool_keep_the_contract() {
    needs!("nats-server");
    check(EXEC_TEXT).await;
}
