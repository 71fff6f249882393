//! What terminals cost: answers, bytes, and a thousand of them.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use windlass_process::{Command, Launcher, Process, TerminalSize};

use crate::linux::{median, micros, private_anonymous, quantile};

const MAX: Duration = Duration::from_secs(20);

pub(crate) async fn run(launcher: &Launcher) {
    round_trips(launcher).await;
    print(launcher).await;
    thousand(launcher).await;
}

fn on_terminal(program: &str, args: &[&str]) -> Command {
    Command::new(program)
        .args(args)
        .terminal(TerminalSize::default())
}

/// From a line typed until the program has answered and is known to wait for the next.
async fn round_trips(launcher: &Launcher) {
    println!("line typed until settled, of 300 (median, 90th percentile)");
    let programs: [(&str, Command, &[u8]); 3] = [
        ("cat", on_terminal("cat", &[]), b"x\n"),
        (
            "bash",
            on_terminal("bash", &["--norc", "--noprofile", "-i"]),
            b"echo x\n",
        ),
        ("python", on_terminal("/usr/bin/python3", &["-q"]), b"1+1\n"),
    ];
    for (name, command, line) in programs {
        let Ok(process) = launcher.start(command).await else {
            println!("  {name:21} is not here");
            continue;
        };
        process.settle(MAX).await;
        let mut times = Vec::new();
        for _ in 0..300 {
            let start = Instant::now();
            process.write(line).expect("it reads");
            process.settle(MAX).await;
            times.push(micros(start.elapsed()));
        }
        times.sort_by(f64::total_cmp);
        let (middle, late) = (median(&times), times[times.len() * 9 / 10]);
        println!("  {name:21} {middle:8.0} µs {late:8.0} µs");
    }
}

/// 100 MB written by a program, against a reader that only counts.
async fn print(launcher: &Launcher) {
    const SIZE: &str = "100000000";
    let mut times: [Vec<f64>; 2] = Default::default();
    for _ in 0..3 {
        times[0].push(counted(launcher, SIZE).await);
        let start = Instant::now();
        let command = on_terminal("head", &["-c", SIZE, "/dev/zero"]);
        let process = launcher.start(command).await.expect("it starts");
        process.wait().await;
        times[1].push(micros(start.elapsed()));
        assert_eq!(process.output().written().to_string(), SIZE);
    }
    let [counted, kept] = times.each_ref().map(|times| quantile(times, 2));
    println!("100 MB through a terminal, median of 3");
    println!("  read and counted      {:8.0} ms", counted / 1e3);
    println!(
        "  read and kept         {:8.0} ms   {:.2} x",
        kept / 1e3,
        kept / counted
    );
}

/// The same program on a terminal of ours, read by a thread that does nothing else.
async fn counted(launcher: &Launcher, size: &str) -> f64 {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
    let master = master.expect("a terminal");
    unlockpt(&master).expect("a terminal");
    let path = ptsname(&master, Vec::new()).expect("a name");
    let path = path.into_string().expect("a path");
    let start = Instant::now();
    let script = format!("exec head -c {size} /dev/zero >{path}");
    let process: Process = launcher
        .start(Command::new("/bin/sh").args(["-c", &script]))
        .await
        .expect("it starts");
    let expected: usize = size.parse().expect("a number");
    let reader = tokio::task::spawn_blocking(move || count(&master, expected));
    process.wait().await;
    reader.await.expect("it is read");
    micros(start.elapsed())
}

fn count(master: &OwnedFd, expected: usize) {
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    while total < expected {
        total += rustix::io::read(master, &mut buffer).expect("it is read");
    }
}

/// A thousand programs that all wait, and all answer.
async fn thousand(launcher: &Launcher) {
    const COUNT: usize = 1000;
    let before = private_anonymous(std::process::id());
    let start = Instant::now();
    let mut processes = Vec::new();
    for _ in 0..COUNT {
        let process = launcher.start(on_terminal("cat", &[])).await;
        processes.push(process.expect("it starts"));
    }
    let started = start.elapsed();
    let grown = private_anonymous(std::process::id()).saturating_sub(before);
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for process in processes.clone() {
        tasks.spawn(async move {
            process.write(b"x\n").expect("it reads");
            process.settle(MAX).await;
            assert_eq!(process.output().written(), 6);
        });
    }
    tasks.join_all().await;
    println!("{COUNT} terminals");
    println!("  started in            {:8.0} ms", micros(started) / 1e3);
    println!(
        "  all answered in       {:8.0} ms",
        micros(start.elapsed()) / 1e3
    );
    println!("  grown in the runtime  {grown:8} KiB");
}
