//! Slots and stored output of programs on a worker, while their runtimes and the worker come and go.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::json;
use windlass::executors::{Launcher, LauncherOptions};
use windlass::pool::{BrokerOptions, Pool, PoolOptions};
use windlass_output::OutputOptions;
use windlass_outside::needs;
use windlass_process::{
    Command, Exit, HeldKey, KeepOptions, Process, RemoteAdoption, RemoteHost, Stdin,
};

use crate::pool_support::{Broker, Relay, WorkerProcess, pooled};
use crate::processes::Victim;
use crate::support::{DEADLINE, Project, eventually};

/// How long the programs of these runtimes are held without a link, unless the test ends their leases.
const LEASE: Duration = Duration::from_mins(10);
/// How long their kept programs are held.
const KEEP: Duration = Duration::from_mins(20);
/// Says something when the test wants it to.
const WAITS: &str = "until test -e go; do sleep 0.05; done; echo late";

/// A runtime in this process. It dies with its tasks and its connection.
struct NearRuntime {
    tokio: tokio::runtime::Runtime,
    pool: Arc<Pool>,
    launcher: Launcher,
    root: PathBuf,
    programs: Vec<Process>,
}

impl NearRuntime {
    fn start(project: &Project, broker: &Broker) -> Self {
        Self::with(project, broker, |_| {})
    }

    /// Starts one with other options.
    fn with(project: &Project, broker: &Broker, change: impl FnOnce(&mut PoolOptions)) -> Self {
        let mut options = PoolOptions {
            host: "fleet".to_owned(),
            broker: BrokerOptions::new(&broker.url()),
            pool: "ci".to_owned(),
            labels: Vec::new(),
            root: None,
            project: project.root().clone(),
            lease: LEASE,
            stored_output: 1024 * 1024,
        };
        change(&mut options);
        let pool = Arc::new(Pool::new(options));
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let launcher = {
            let _entered = tokio.enter();
            let launcher = Launcher::new(LauncherOptions::default()).unwrap();
            launcher.on_host(Arc::clone(&pool) as Arc<dyn RemoteHost>)
        };
        Self {
            tokio,
            pool,
            launcher,
            root: project.root().clone(),
            programs: Vec::new(),
        }
    }

    fn command(&self, script: &str) -> Command {
        let command = Command::new("sh").args(["-c", script]);
        command.stdin(Stdin::Pipe).cwd(&self.root)
    }

    /// Starts a program that ends with this runtime.
    fn run(&mut self, script: &str) -> &Process {
        let started = self.launcher.start(self.command(script));
        let process = self.tokio.block_on(started).unwrap();
        self.programs.push(process);
        self.programs.last().unwrap()
    }

    /// Starts a program that outlives this runtime.
    fn keep(&mut self, script: &str, lease: Duration) -> HeldKey {
        let keep = KeepOptions {
            lease,
            folder: self.root.clone(),
            name: String::from("it"),
            output: OutputOptions::default(),
            registration: None,
        };
        let started = self.launcher.start(self.command(script).keep(keep));
        let process = self.tokio.block_on(started).unwrap();
        let key = process.held_key().unwrap().clone();
        self.programs.push(process);
        key
    }

    /// Takes over a program that a runtime has kept.
    #[track_caller]
    fn adopt(&mut self, key: &HeldKey) -> &Process {
        let mut adopted = None;
        eventually("the program is adopted", || {
            let adopting = self.pool.adopt(RemoteAdoption {
                wants_output: true,
                ..RemoteAdoption::to_end(key.clone())
            });
            adopted = self.tokio.block_on(adopting).ok();
            adopted.is_some()
        });
        self.programs.extend(adopted);
        self.programs.last().unwrap()
    }

    /// Leaves the newest program to others.
    fn leave(&mut self) {
        let process = self.programs.pop().unwrap();
        self.tokio.block_on(process.leave());
        let _entered = self.tokio.enter();
        drop(process);
    }

    fn die(self) {
        let Self {
            tokio, programs, ..
        } = self;
        // Nothing is sent any more when the programs are dropped.
        tokio.shutdown_timeout(DEADLINE);
        drop(programs);
    }
}

fn text_of(process: &Process) -> String {
    process.output().read_all(10_000).text
}

fn wait_for_text(process: &Process, text: &str) {
    eventually(text, || text_of(process).contains(text));
}

/// How many slots of the only worker are taken.
fn taken(project: &Project) -> u64 {
    let listed = project.list(&["workers"]);
    let running = &listed[0]["workers"][0]["running"];
    running.as_u64().unwrap_or(u64::MAX)
}

/// Waits until so many slots are taken.
#[track_caller]
fn wait_for_taken(project: &Project, slots: u64) {
    eventually(&format!("{slots} slots are taken"), || {
        taken(project) == slots
    });
}

/// The output that is stored from now on.
fn stored(broker: &Broker) -> Receiver<Vec<u8>> {
    let mut speaker = broker.speak();
    speaker.subscribe("windlass.ci.output.>");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || while sender.send(speaker.next().1).is_ok() {});
    receiver
}

#[track_caller]
fn wait_for_stored(stored: &Receiver<Vec<u8>>, text: &str) {
    let mut all = Vec::new();
    eventually("the output is stored", || {
        all.extend(stored.try_iter().flatten());
        String::from_utf8_lossy(&all).contains(text)
    });
}

/// A broker, and a project whose commands find its workers.
fn pool() -> (Broker, Project) {
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    (broker, project)
}

/// Waits until the programs of a runtime that is away have lost their leases, and one other is left: a kept one.
#[track_caller]
fn expect_only_kept(project: &Project) {
    project.end_leases_up_to(LEASE.as_secs());
    eventually("the lease is over", || taken(project) < 2);
    assert_eq!(taken(project), 1);
    project.let_leases_run();
}

#[test]
fn a_kept_program_that_ends_without_a_runtime_frees_its_slot() {
    needs!("nats-server");
    for stored_output in [1024 * 1024, 0] {
        let (broker, project) = pool();
        let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
        let start = || NearRuntime::with(&project, &broker, |it| it.stored_output = stored_output);
        let mut first = start();
        let key = first.keep(&format!("{WAITS}; exit 3"), KEEP);
        first.run("cat");
        wait_for_taken(&project, 2);
        first.die();
        expect_only_kept(&project);
        project.write("go", "");
        wait_for_taken(&project, 0);
        let mut second = start();
        let adopted = second.adopt(&key);
        eventually("the exit is known", || {
            adopted.exit() == Some(Exit::Code(3))
        });
        wait_for_text(adopted, "late\n");
    }
}

#[test]
fn a_program_that_was_left_is_stored_and_frees_its_slot_while_its_link_lives() {
    needs!("nats-server");
    let (broker, project) = pool();
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let stored = stored(&broker);
    let mut runtime = NearRuntime::start(&project, &broker);
    runtime.run("cat");
    runtime.keep(WAITS, KEEP);
    wait_for_taken(&project, 2);
    runtime.leave();
    project.write("go", "");
    wait_for_stored(&stored, "late\n");
    wait_for_taken(&project, 1);
}

#[test]
fn a_restarted_worker_counts_the_programs_that_it_resumes() {
    needs!("nats-server");
    let broker = Broker::start();
    let project = Project::with_own_config(&pooled(&broker, 600));
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut drive = project.drive();
    drive.content(
        "shell",
        json!({"action": "spawn", "id": "it", "command": "cat"}),
    );
    worker.kill();
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    wait_for_taken(&project, 1);
    let drained = project.run(&["workers", "drain", "w1"], "").stdout();
    assert!(drained.contains("it still runs 1 programs"), "{drained}");
    let apply = json!({"action": "apply", "id": "it", "input": "still here\n"});
    let said = drive.content("shell", apply);
    assert!(said.to_string().contains("still here"), "{said}");
    drive.content("shell", json!({"action": "abort", "id": "it"}));
    assert_eq!(worker.wait(), Some(0));
}

#[test]
fn a_restarted_worker_keeps_the_stored_output_of_kept_programs() {
    needs!("nats-server");
    let (broker, project) = pool();
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let stored = stored(&broker);
    let mut first = NearRuntime::start(&project, &broker);
    first.run("cat");
    let key = first.keep(&format!("echo first; {WAITS}; cat"), KEEP);
    wait_for_stored(&stored, "first\n");
    worker.kill();
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    wait_for_taken(&project, 2);
    project.write("go", "");
    wait_for_stored(&stored, "late\n");
    first.die();
    // The other program is ended with the lease of the link.
    expect_only_kept(&project);
    worker.kill();
    let mut second = NearRuntime::start(&project, &broker);
    assert_eq!(text_of(second.adopt(&key)), "first\nlate\n");
}

#[test]
fn stored_output_is_removed_with_the_handle_after_a_restart_of_the_worker() {
    needs!("nats-server");
    let (broker, project) = pool();
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let stored = stored(&broker);
    let mut runtime = NearRuntime::start(&project, &broker);
    runtime.keep("echo first; exec sleep 1000", KEEP);
    wait_for_stored(&stored, "first\n");
    worker.kill();
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let process = runtime.programs.pop().unwrap();
    runtime.tokio.block_on(process.end(Duration::from_secs(2)));
    let entered = runtime.tokio.enter();
    drop(process);
    drop(entered);
    let mut asking = broker.speak();
    eventually("nothing is stored", || {
        let info = asking.request("$JS.API.STREAM.INFO.windlass-ci-output");
        String::from_utf8_lossy(&info).contains("\"messages\":0,")
    });
}

#[test]
fn a_kept_program_outlives_the_links_of_two_runtimes() {
    needs!("nats-server");
    let (broker, project) = pool();
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let stored = stored(&broker);
    let mut first = NearRuntime::start(&project, &broker);
    let key = first.keep(&format!("echo first; {WAITS}; cat"), KEEP);
    first.run("cat");
    wait_for_taken(&project, 2);
    first.die();
    expect_only_kept(&project);
    let mut second = NearRuntime::start(&project, &broker);
    wait_for_text(second.adopt(&key), "first\n");
    second.run("cat");
    wait_for_taken(&project, 2);
    second.die();
    expect_only_kept(&project);
    project.write("go", "");
    wait_for_stored(&stored, "late\n");
    worker.kill();
    let mut third = NearRuntime::start(&project, &broker);
    assert_eq!(text_of(third.adopt(&key)), "first\nlate\n");
}

#[test]
fn the_lease_of_an_earlier_runtime_does_not_end_the_storing_of_output() {
    needs!("nats-server");
    let (broker, project) = pool();
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let stored = stored(&broker);
    let mut first = NearRuntime::start(&project, &broker);
    let key = first.keep(&format!("echo first; {WAITS}; cat"), KEEP);
    first.run("cat");
    wait_for_taken(&project, 2);
    first.die();
    let mut second = NearRuntime::start(&project, &broker);
    wait_for_text(second.adopt(&key), "first\n");
    // Every lease that has begun with the death of the first runtime is over.
    project.end_leases();
    eventually("the worker has forgotten the first runtime", || {
        project.lease_events().contains("w1: the lease of")
    });
    project.let_leases_run();
    wait_for_taken(&project, 1);
    project.write("go", "");
    wait_for_stored(&stored, "late\n");
    second.die();
    worker.kill();
    let mut third = NearRuntime::start(&project, &broker);
    assert_eq!(text_of(third.adopt(&key)), "first\nlate\n");
}

#[test]
fn a_program_that_its_runtime_has_left_and_adopted_again_stays_kept() {
    needs!("nats-server");
    let (broker, project) = pool();
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut runtime = NearRuntime::start(&project, &broker);
    runtime.run("cat");
    let key = runtime.keep("cat", KEEP);
    runtime.leave();
    runtime.adopt(&key);
    wait_for_taken(&project, 2);
    runtime.die();
    expect_only_kept(&project);
}

#[test]
fn a_program_stays_kept_when_its_runtime_was_cut_off_for_longer_than_the_lease() {
    needs!("nats-server");
    let (broker, project) = pool();
    let relay = Relay::to(&broker);
    let _worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let mut runtime = NearRuntime::with(&project, &broker, |it| {
        it.broker = BrokerOptions::new(&relay.url());
    });
    runtime.run("cat");
    runtime.keep("cat", KEEP);
    wait_for_taken(&project, 2);
    relay.cut();
    expect_only_kept(&project);
    relay.restore();
    runtime.programs[1].write(b"back\n").unwrap();
    wait_for_text(&runtime.programs[1], "back\n");
    runtime.run("cat");
    wait_for_taken(&project, 2);
    runtime.die();
    expect_only_kept(&project);
}

#[test]
fn the_exit_of_a_program_is_stored_although_its_output_exceeds_the_limit() {
    needs!("nats-server");
    let (broker, project) = pool();
    let mut worker = WorkerProcess::start(&project, &broker, "w1", &[]);
    let start = || NearRuntime::with(&project, &broker, |it| it.stored_output = 256 * 1024);
    let mut first = start();
    let key = first.keep("seq 1 200000; exit 3", KEEP);
    let process = &first.programs[0];
    eventually("all of its output has arrived", || {
        text_of(process).contains("200000\n")
    });
    // A worker that drains leaves when all is stored.
    project.run(&["workers", "drain", "w1"], "");
    assert_eq!(worker.wait(), Some(0));
    first.die();
    let mut second = start();
    let adopted = second.adopt(&key);
    eventually("the exit is known", || adopted.exit().is_some());
    assert_eq!(adopted.exit(), Some(Exit::Code(3)));
    wait_for_text(adopted, "200000\n");
}

#[test]
fn a_worker_that_stays_cut_off_lets_the_leases_run() {
    needs!("nats-server");
    let (broker, project) = pool();
    let relay = Relay::to(&broker);
    let wait = ["--broker-wait-secs", "1"];
    let worker = WorkerProcess::at(&project, &relay.url(), "w1", &wait);
    let (plain, kept) = (Victim::new(), Victim::new());
    let mut runtime = NearRuntime::start(&project, &broker);
    runtime.run(&plain.script());
    runtime.keep(&kept.script(), KEEP);
    plain.wait_until_up();
    kept.wait_until_up();
    relay.cut();
    project.end_leases();
    eventually("nothing is left", || {
        plain.alive().is_empty() && kept.alive().is_empty()
    });
    drop(worker);
}
