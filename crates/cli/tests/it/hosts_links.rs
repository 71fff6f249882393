//! Links of this process to hosts: silent carriers, and links that are replaced or shared.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use windlass::executors::{Launcher, LauncherOptions};
use windlass::host::{Host, HostOptions};
use windlass_output::OutputOptions;
use windlass_process::{Command, Exit, KeepOptions, Process, RemoteAdoption, RemoteHost, Stdin};

use crate::processes::has_exited;
use crate::programs::windlass;
use crate::support::eventually;

/// The error of a carrier that says nothing in time.
async fn silent(line: &str) -> String {
    let via = ["sh", "-c", line].map(Into::into).to_vec();
    let options = HostOptions {
        patience: Duration::from_millis(500),
        ..HostOptions::new("there", via, "/")
    };
    let host = Host::new(options, None).unwrap();
    host.connect(Vec::new()).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_carrier_that_is_silent_is_not_waited_for_for_ever() {
    let error = silent("echo 'still connecting' >&2; exec sleep 60").await;
    assert!(error.contains("did not answer"), "{error}");
    assert!(error.contains("it said: still connecting"), "{error}");
    assert!(error.contains("ends with `windlass host`"), "{error}");
}

#[tokio::test]
async fn a_few_letters_of_a_silent_carrier_are_shown() {
    let error = silent("printf 'Name: '; exec sleep 60").await;
    assert!(error.contains("\"Name: \""), "{error}");
}

#[tokio::test]
async fn a_link_that_was_replaced_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let line = "echo $$ >> \"$1\"; exec \"$0\" host";
    let pids_path = pids.to_str().unwrap();
    let via = ["sh", "-c", line, windlass(), pids_path].map(Into::into);
    let environment = [
        ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ("XDG_STATE_HOME".into(), folder.path().join("state").into()),
    ];
    let options = HostOptions::new("there", via.to_vec(), "/");
    let host = Host::new(options, Some(environment.to_vec())).unwrap();
    let carriers = || fs::read_to_string(&pids).unwrap();
    host.connect(Vec::new()).await.unwrap();
    let first: u32 = carriers().trim().parse().unwrap();
    // A question that only a new far end answers: the first one goes.
    let asks = || vec!["sh".to_owned()];
    host.connect(asks()).await.unwrap();
    eventually("the first far end is gone", || has_exited(first));
    for _ in 0..100 {
        host.connect(asks()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(carriers().lines().count(), 2, "{}", carriers());
}

/// A runtime's own link to a host whose state is in this folder.
fn link(folder: &Path) -> Host {
    let via = vec![windlass().into(), "host".into()];
    let environment = [
        ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ("XDG_STATE_HOME".into(), folder.into()),
    ];
    let options = HostOptions::new("there", via, folder);
    Host::new(options, Some(environment.to_vec())).unwrap()
}

/// Types a line to `cat`, and waits until it is printed.
async fn echo(process: &Process, line: &str) {
    process.write(format!("{line}\n").as_bytes()).unwrap();
    let mut changes = process.output().changes();
    let printed = async {
        while !process.output().read_all(1000).text.contains(line) {
            changes.changed().await.unwrap();
        }
    };
    let printed = tokio::time::timeout(Duration::from_secs(30), printed).await;
    printed.unwrap_or_else(|_| panic!("`{line}` is not printed: {:?}", process.exit()));
}

/// The folder of a link's programs on the far side.
fn far_folder(folder: &Path, host: &Host) -> PathBuf {
    let session = format!("{:032x}", u128::from_be_bytes(host.session()));
    folder.join("windlass/hosts").join(session)
}

/// The far end that has the lock of a session.
fn far_end(session: &Path) -> Pid {
    let pid = fs::read_to_string(session.join("lock")).unwrap();
    Pid::from_raw(pid.trim().parse().unwrap()).unwrap()
}

/// Kills the far end that has the lock of a session.
fn kill_far_end(session: &Path) {
    kill_process(far_end(session), Signal::KILL).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_arrives_once_through_deaths_of_the_far_end_that_does_not_log_it() {
    let folder = tempfile::tempdir().unwrap();
    let host = link(folder.path());
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    let launcher = launcher.on_host(Arc::new(host.clone()));
    let flood = Command::new("seq")
        .args(["1", "3000000"])
        .output(OutputOptions {
            log: Some(folder.path().join("near.log")),
            ..OutputOptions::default()
        });
    let process = launcher.start(flood).await.unwrap();
    let session = far_folder(folder.path(), &host);
    let mut changes = process.output().changes();
    for megabytes in [5, 10, 15] {
        while process.output().position() < megabytes * 1_000_000 {
            changes.changed().await.unwrap();
        }
        if megabytes == 5 {
            assert!(!session.join("1.log").exists(), "it is not logged there");
        }
        kill_far_end(&session);
    }
    assert_eq!(process.wait().await, Exit::Code(0));
    let received = process.output().raw(0..process.output().position());
    let received = String::from_utf8(received).unwrap();
    assert!(received.ends_with("\n3000000\n"));
    let numbers = received.lines().map(|line| line.parse::<u32>().unwrap());
    assert!(numbers.eq(1..=3_000_000), "each line, once and in order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runtime_keeps_its_link_while_another_has_the_handle_that_it_left() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (link(folder.path()), link(folder.path()));
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    let launcher = launcher.on_host(Arc::new(first.clone()));
    let cat = || Command::new("cat").stdin(Stdin::Pipe);
    let other = launcher.start(cat()).await.unwrap();
    let keep = KeepOptions {
        lease: Duration::from_mins(1),
        folder: folder.path().to_owned(),
        name: String::from("it"),
        output: OutputOptions::default(),
        registration: None,
    };
    let kept = launcher.start(cat().keep(keep)).await.unwrap();
    echo(&kept, "begun").await;
    let key = kept.held_key().unwrap().clone();
    kept.leave().await;
    drop(kept);
    let left = far_folder(folder.path(), &first);
    let serving = far_end(&left);
    let adoption = RemoteAdoption {
        wants_output: true,
        ..RemoteAdoption::to_end(key)
    };
    let adopted = second.adopt(adoption).await.unwrap();
    assert!(adopted.output().read_all(1000).text.contains("begun"));
    echo(&other, "the link is the same").await;
    assert_eq!(far_end(&left), serving);
    let holding = far_end(&far_folder(folder.path(), &second));
    kill_far_end(&left);
    echo(&other, "a new link resumes it").await;
    let more = launcher.start(Command::new("true")).await.unwrap();
    assert_eq!(more.wait().await, Exit::Code(0));
    echo(&adopted, "nobody took it back").await;
    assert_eq!(far_end(&far_folder(folder.path(), &second)), holding);
    adopted.end(Duration::from_secs(2)).await;
    other.end(Duration::from_secs(2)).await;
}
