//! Programs that are kept beyond their runtime, against those that are not.

use std::path::Path;
use std::time::{Duration, Instant};

use windlass_output::OutputOptions;
use windlass_process::{AdoptOptions, Command, KeepOptions, Launcher, Process};

use crate::linux::{median, micros, parent, proportional};

const HANDLES: u32 = 1000;
const ADOPTED: usize = 100;

pub(crate) async fn run(launcher: &Launcher) {
    let folder = tempfile::tempdir().expect("a folder");
    print(launcher, folder.path()).await;
    start(launcher, folder.path()).await;
    adopt(launcher, folder.path()).await;
}

fn keep(folder: &Path, name: String, output: OutputOptions) -> KeepOptions {
    KeepOptions {
        lease: Duration::from_mins(1),
        folder: folder.to_owned(),
        name,
        output,
        registration: None,
    }
}

/// 200 MB through a pipe into memory and a log.
async fn print(launcher: &Launcher, folder: &Path) {
    const SIZE: u64 = 200_000_000;
    let mut times: [Vec<f64>; 2] = Default::default();
    for round in 0..7 {
        for (index, times) in times.iter_mut().enumerate() {
            let options = OutputOptions {
                log: Some(folder.join(format!("log{index}-{round}"))),
                ..OutputOptions::default()
            };
            let mut command = Command::new("/usr/bin/head")
                .args(["-c", &SIZE.to_string(), "/dev/zero"])
                .merge_output()
                .output(options.clone());
            if index == 1 {
                command = command.keep(keep(folder, format!("print{round}"), options));
            }
            let start = Instant::now();
            let process = launcher.start(command).await.expect("it starts");
            process.wait().await;
            times.push(micros(start.elapsed()));
            assert_eq!(process.output().written(), SIZE);
        }
    }
    let [plain, kept] = times.each_ref().map(|times| median(times));
    println!("200 MB printed, median of 7");
    println!("  not kept              {:8.0} ms", plain / 1e3);
    println!(
        "  kept                  {:8.0} ms   {:.2} x",
        kept / 1e3,
        kept / plain
    );
}

/// Starts of programs that stay, and the memory of their holders.
async fn start(launcher: &Launcher, folder: &Path) {
    let mut times = [0.0; 2];
    for (index, time) in times.iter_mut().enumerate() {
        let start = Instant::now();
        let mut processes: Vec<Process> = Vec::new();
        for number in 0..HANDLES {
            let mut command = Command::new("/bin/sleep").arg("1000").merge_output();
            if index == 1 {
                let options = OutputOptions::default();
                command = command.keep(keep(folder, format!("start{number}"), options));
            }
            processes.push(launcher.start(command).await.expect("it starts"));
        }
        *time = micros(start.elapsed()) / f64::from(HANDLES);
        if index == 1 {
            let holders = processes.iter().map(|it| proportional(parent(it.pid())));
            let total: u64 = holders.sum();
            println!(
                "PSS of a holder         {:8} KiB",
                total / u64::from(HANDLES)
            );
        }
        for process in &processes {
            process.end(Duration::ZERO).await;
        }
    }
    println!("start of one of {HANDLES} that stay");
    println!("  not kept              {:8.0} µs", times[0]);
    println!(
        "  kept                  {:8.0} µs   {:.2} x",
        times[1],
        times[1] / times[0]
    );
}

/// Adoption of many at once.
async fn adopt(launcher: &Launcher, folder: &Path) {
    let mut keys = Vec::new();
    for number in 0..ADOPTED {
        let script =
            "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo line $i; done; exec sleep 1000";
        let name = format!("adopt{number}");
        let command = Command::new("/bin/sh")
            .args(["-c", script])
            .merge_output()
            .keep(keep(folder, name, OutputOptions::default()));
        let process = launcher.start(command).await.expect("it starts");
        process.settle(Duration::from_secs(5)).await;
        keys.push(process.held_key().expect("it is kept").clone());
        process.leave().await;
    }
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for key in keys {
        let launcher = launcher.clone();
        tasks.spawn(async move {
            let adopted = launcher
                .adopt(&key, AdoptOptions::new(OutputOptions::default()))
                .await;
            adopted.expect("it is held")
        });
    }
    let processes = tasks.join_all().await;
    println!(
        "{ADOPTED} adopted in          {:8.0} ms",
        micros(start.elapsed()) / 1e3
    );
    for process in processes {
        process.end(Duration::ZERO).await;
    }
}
