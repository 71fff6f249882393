//! Nothing piles up.

use windlass_process::{Command, Exit, Launcher};

use crate::support::{eventually, launcher, parent, run_alone};

#[test]
fn two_thousand_programs_leave_no_zombie_and_no_descriptor() {
    run_alone("limits::two_thousand_programs");
}

#[ignore = "counts the descriptors of its process"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_programs() {
    let launcher = launcher();
    let anchor = launcher
        .start(Command::new("sleep").arg("1000"))
        .await
        .unwrap();
    let zygote = parent(parent(anchor.pid()));
    spawn_many(&launcher, 5).await;
    let before = open_files();
    spawn_many(&launcher, 100).await;
    // The last descriptors go when the tasks have seen the last shims go; up to four idle ones are kept.
    eventually("no descriptor is left", || open_files() <= before + 4);
    // The anchor's shim and those in reserve.
    eventually("no shim is left", || children(zygote) <= 1 + 4);
    // The zygote itself.
    assert_eq!(children(std::process::id()), 1);
}

/// Twenty at a time.
async fn spawn_many(launcher: &Launcher, rounds: usize) {
    for _ in 0..rounds {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let launcher = launcher.clone();
            tasks.spawn(async move {
                let process = launcher.start(Command::new("/bin/true")).await.unwrap();
                assert_eq!(process.wait().await, Exit::Code(0));
            });
        }
        tasks.join_all().await;
    }
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// All children, dead ones too.
fn children(pid: u32) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .map(|list| list.split_ascii_whitespace().count())
        .sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_get_the_limit_of_open_files_that_there_was() {
    let shell = crate::support::shell;
    let launcher = launcher();
    let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    assert_eq!(limits.current, limits.maximum, "ours was raised");
    // A runtime that has less to begin with, and raises it.
    let exe = std::env::current_exe().unwrap();
    let script = format!(
        "ulimit -S -n 77; exec {} --exact limits::tell_the_limit --ignored --nocapture",
        exe.display()
    );
    let process = launcher.start(shell(&script)).await.unwrap();
    process.wait().await;
    let text = crate::support::text(&process);
    assert!(text.contains("limit=77\n"), "{text}");
}

#[ignore = "a runtime with a limit of its own"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tell_the_limit() {
    let process = launcher()
        .start(crate::support::shell("ulimit -S -n"))
        .await
        .unwrap();
    process.wait().await;
    print!("limit={}", crate::support::text(&process));
}
