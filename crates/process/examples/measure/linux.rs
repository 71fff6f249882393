//! The measurements, in the order in which they are printed.
#![expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]

use std::ffi::CStr;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use windlass_output::OutputOptions;
use windlass_process::{Command, Launcher, LauncherOptions, Process};

pub(crate) fn run() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wants = move |name: &str| wanted.is_empty() || wanted.iter().any(|it| it == name);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.expect("an executor");
    let launcher = Launcher::new(LauncherOptions::default()).expect("a launcher");
    // Within the executor, as everything that uses this crate is.
    let task = async move {
        if wants("spawn") {
            spawn(&launcher).await;
        }
        if wants("sandbox") {
            crate::sandbox::run(&launcher).await;
        }
        if wants("wake") {
            wake(&launcher).await;
        }
        if wants("print") {
            print(&launcher).await;
        }
        if wants("memory") {
            memory(&launcher).await;
        }
        if wants("many") {
            many(&launcher).await;
        }
        if wants("kept") {
            crate::kept::run(&launcher).await;
        }
        if wants("terminal") {
            crate::terminal::run(&launcher).await;
        }
    };
    runtime.block_on(async { tokio::spawn(task).await.expect("no measurement panics") });
}

const ROUNDS: usize = 40;
const PER_ROUND: usize = 25;

/// Start and wait of `/bin/true`; rounds alternate, so that a busy moment of the machine hits all alike.
async fn spawn(launcher: &Launcher) {
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(time(PER_ROUND, || bare_wait(bare_spawn(c"/bin/true", &[]))));
        let commands: [fn() -> Command; 3] = [
            || Command::new("/bin/true").discard_output(),
            || Command::new("/bin/true").merge_output(),
            || Command::new("/bin/true"),
        ];
        for (index, command) in commands.into_iter().enumerate() {
            let start = Instant::now();
            for _ in 0..PER_ROUND {
                launcher
                    .start(command())
                    .await
                    .expect("it starts")
                    .wait()
                    .await;
            }
            times[index + 1].push(micros(start.elapsed()) / PER_ROUND as f64);
        }
    }
    let [bare, discarded, merged, separate] = times.each_ref().map(|times| median(times));
    println!("spawn + wait of /bin/true, median of {ROUNDS} rounds of {PER_ROUND}");
    println!("  posix_spawn + waitpid {bare:8.0} µs");
    for (name, time) in [
        ("output discarded", discarded),
        ("one pipe", merged),
        ("two pipes", separate),
    ] {
        println!("  {name:21} {time:8.0} µs   {:.2} x", time / bare);
    }
}

/// From the kill of a program until its waiter runs.
async fn wake(launcher: &Launcher) {
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..400 {
        let pid = bare_spawn(c"/bin/sleep", &[c"1000"]);
        let pidfd = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())
            .expect("a pidfd");
        let start = Instant::now();
        kill(pid);
        let mut polls = [rustix::event::PollFd::new(
            &pidfd,
            rustix::event::PollFlags::IN,
        )];
        rustix::event::poll(&mut polls, None).expect("it ends");
        times[0].push(micros(start.elapsed()));
        bare_wait(pid);

        for (index, command) in [
            Command::new("/bin/sleep").discard_output(),
            Command::new("/bin/sleep"),
        ]
        .into_iter()
        .enumerate()
        {
            let process = launcher
                .start(command.arg("1000"))
                .await
                .expect("it starts");
            // The reserve is filled by now or soon; let that not be measured.
            process.settle(Duration::from_secs(1)).await;
            let start = Instant::now();
            kill(rustix::process::Pid::from_raw(process.pid().cast_signed()).expect("a pid"));
            process.wait().await;
            times[index + 1].push(micros(start.elapsed()));
        }
    }
    for (name, share) in [("median", 2), ("10th percentile", 10)] {
        let [bare, discarded, piped] = times.each_ref().map(|times| quantile(times, share));
        println!("kill until the waiter runs, {name} of 400");
        println!("  poll of a pidfd       {bare:8.0} µs");
        println!(
            "  Process::wait         {discarded:8.0} µs   {:.2} x",
            discarded / bare
        );
        println!(
            "  … with two pipes      {piped:8.0} µs   {:.2} x",
            piped / bare
        );
    }
}

/// 200 MB of text, through a pipe into memory and a log, against a reader that only counts.
async fn print(launcher: &Launcher) {
    const SIZE: usize = 200_000_000;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("text");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
    let mut written = 0;
    for number in 0.. {
        let line = format!(
            "{number:08} a line of a log that a build writes, of about eighty characters or so\n"
        );
        written += line.len();
        file.write_all(line.as_bytes()).expect("it is written");
        if written >= SIZE {
            break;
        }
    }
    file.flush().expect("it is written");
    let (mut counted, mut kept) = (Vec::new(), Vec::new());
    for round in 0..5 {
        counted.push(count(&path, written));
        let options = OutputOptions {
            log: Some(folder.path().join(format!("log{round}"))),
            ..OutputOptions::default()
        };
        let start = Instant::now();
        let command = Command::new("/bin/cat").arg(&path).output(options);
        let process = launcher.start(command).await.expect("it starts");
        process.wait().await;
        kept.push(micros(start.elapsed()));
        assert_eq!(process.output().written(), written as u64);
        drop(process);
        let _ = std::fs::remove_file(folder.path().join(format!("log{round}")));
    }
    let (counted, kept) = (median(&counted), median(&kept));
    println!("200 MB printed, median of 5");
    println!("  read and counted      {:8.0} ms", counted / 1e3);
    println!(
        "  read and logged       {:8.0} ms   {:.2} x",
        kept / 1e3,
        kept / counted
    );
}

#[expect(clippy::disallowed_methods, reason = "what we are compared with")]
fn count(path: &std::path::Path, expected: usize) -> f64 {
    let start = Instant::now();
    let mut child = std::process::Command::new("/bin/cat")
        .arg(path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut pipe = child.stdout.take().expect("a pipe");
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        match pipe.read(&mut buffer).expect("it is read") {
            0 => break,
            length => total += length,
        }
    }
    child.wait().expect("it ends");
    assert_eq!(total, expected);
    micros(start.elapsed())
}

/// What an idle program costs: its shim, and its share of this process.
async fn memory(launcher: &Launcher) {
    const COUNT: usize = 1000;
    let before = (
        proportional(std::process::id()),
        private_anonymous(std::process::id()),
    );
    let mut processes: Vec<Process> = Vec::new();
    for _ in 0..COUNT {
        let command = Command::new("/bin/sleep")
            .arg("1000")
            .stdin(windlass_process::Stdin::Pipe);
        processes.push(launcher.start(command).await.expect("it starts"));
    }
    let after = (
        proportional(std::process::id()),
        private_anonymous(std::process::id()),
    );
    let shims: Vec<u32> = processes.iter().map(|it| parent(it.pid())).collect();
    let total: u64 = shims.iter().map(|&pid| proportional(pid)).sum();
    println!("{COUNT} idle programs");
    println!("  PSS of a shim         {:8} KiB", total / COUNT as u64);
    let grown = after.1.saturating_sub(before.1);
    println!(
        "  grown in the runtime  {:8.1} KiB each",
        grown as f64 / COUNT as f64
    );
    let start = Instant::now();
    let ends = processes.iter().map(|it| it.end(Duration::from_secs(2)));
    for end in ends {
        assert_eq!(end.await.ended, 1);
    }
    println!(
        "  ended in              {:8.0} ms",
        micros(start.elapsed()) / 1e3
    );
}

/// Ten thousand programs, and what is left of them.
async fn many(launcher: &Launcher) {
    let files = || std::fs::read_dir("/proc/self/fd").expect("`/proc`").count();
    let anchor = launcher
        .start(Command::new("/bin/sleep").arg("1000"))
        .await
        .expect("it starts");
    let zygote = parent(parent(anchor.pid()));
    let before = (files(), private_anonymous(std::process::id()));
    let start = Instant::now();
    for _ in 0..500 {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let launcher = launcher.clone();
            tasks.spawn(async move {
                let process = launcher
                    .start(Command::new("/bin/true"))
                    .await
                    .expect("it starts");
                assert!(process.wait().await.success());
                process.end(Duration::ZERO).await;
            });
        }
        tasks.join_all().await;
    }
    let elapsed = start.elapsed();
    let children = |pid: u32| {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task"))
            .expect("`/proc`")
            .flatten();
        let lists =
            tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        lists
            .map(|list| list.split_ascii_whitespace().count())
            .sum::<usize>()
    };
    let after = (files(), private_anonymous(std::process::id()));
    println!(
        "10,000 programs in {:.1} s, 20 at a time",
        elapsed.as_secs_f64()
    );
    println!(
        "  descriptors           {:8} before, {} after",
        before.0, after.0
    );
    println!(
        "  memory of the runtime {:8} KiB before, {} after",
        before.1, after.1
    );
    println!(
        "  children of the zygote {:7} (up to five are there by right)",
        children(zygote)
    );
    println!(
        "  children of ours      {:8} (one is)",
        children(std::process::id())
    );
}

#[expect(unsafe_code, reason = "the bare call is what we compare with")]
fn bare_spawn(program: &CStr, args: &[&CStr]) -> rustix::process::Pid {
    unsafe extern "C" {
        static environ: *const *mut libc::c_char;
    }
    let mut list = vec![program.as_ptr().cast_mut()];
    list.extend(args.iter().map(|arg| arg.as_ptr().cast_mut()));
    list.push(std::ptr::null_mut());
    let mut pid = 0;
    // SAFETY: program and arguments are C strings that outlive the call, the list ends in null, and no thread changes
    // the environment.
    let result = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            program.as_ptr(),
            std::ptr::null(),
            std::ptr::null(),
            list.as_ptr(),
            environ,
        )
    };
    assert_eq!(result, 0);
    rustix::process::Pid::from_raw(pid).expect("a pid")
}

pub(crate) fn bare_wait(pid: rustix::process::Pid) {
    rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()).expect("it ends");
}

fn kill(pid: rustix::process::Pid) {
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it runs");
}

pub(crate) fn parent(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields = stat.rsplit_once(')').expect("a name").1;
    fields
        .split_ascii_whitespace()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .expect("a parent")
}

pub(crate) fn proportional(pid: u32) -> u64 {
    kibibytes(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

pub(crate) fn private_anonymous(pid: u32) -> u64 {
    kibibytes(&format!("/proc/{pid}/status"), "RssAnon:")
}

fn kibibytes(path: &str, field: &str) -> u64 {
    let text = std::fs::read_to_string(path).expect("it runs");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .expect("the field");
    line.split_ascii_whitespace()
        .next()
        .and_then(|it| it.parse().ok())
        .expect("a number")
}

fn time(count: usize, mut what: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..count).for_each(|_| what());
    micros(start.elapsed()) / count as f64
}

pub(crate) fn median(times: &[f64]) -> f64 {
    quantile(times, 2)
}

/// The time that one in `share` does not exceed.
pub(crate) fn quantile(times: &[f64], share: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / share]
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
