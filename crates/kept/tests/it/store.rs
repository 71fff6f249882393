use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use windlass_hold_wire::HolderReply;
use windlass_kept::{EndHeldError, KeptStore, NotKept, SurveyedHandle};
use windlass_output::OutputOptions;
use windlass_process::{Command, KeepOptions, Launcher, LauncherOptions, Process};
use windlass_protocol::{
    HandleId, HeldStanding, JobDescription, KeptExit, KeptHandle, KeptProgramKey,
    KeptReceiptReason, LossReason, Millis, SessionId, Start, ToolDefinition,
};

const LEASE: Duration = Duration::from_mins(5);
const GRACE: Duration = Duration::from_millis(100);

/// A state directory, and a launcher whose programs are kept there.
struct StateFolder {
    dir: tempfile::TempDir,
    launcher: Launcher,
    store: KeptStore,
}

impl StateFolder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self {
            store: KeptStore::new(dir.path()),
            launcher: Launcher::new(LauncherOptions::default()).unwrap(),
            dir,
        }
    }

    /// Keeps a shell script as the handle `dev`.
    async fn keep(&self, script: &str, lease: Duration) -> (Process, KeptHandle) {
        let id = HandleId::new("dev").unwrap();
        let slot = self.store.reserve(64, &id).await.unwrap();
        let request = slot.request(lease.as_secs());
        let output = OutputOptions {
            log: Some(self.dir.path().join("log")),
            ..OutputOptions::default()
        };
        let command = Command::new("/bin/sh")
            .args(["-c", script])
            .grace(GRACE)
            .merge_output()
            .output(output.clone())
            .keep(KeepOptions {
                lease,
                folder: request.folder.local.clone(),
                name: request.name.clone(),
                output,
                registration: request.registration.as_ref().map(|file| file.local.clone()),
            });
        let process = self.launcher.start(command).await.unwrap();
        let nonce = process.held_key().unwrap().nonce;
        let key = KeptProgramKey {
            folder: request.folder.clone(),
            name: request.name.clone(),
            nonce: format!("{:032x}", u128::from_be_bytes(nonce)),
            holder: process.holder(),
            terminal: None,
            remote: None,
        };
        let kept = KeptHandle {
            stamp: KeptStore::stamp(),
            by_rule: false,
            session: SessionId::from_suffix("1"),
            session_name: None,
            project: PathBuf::from("/project"),
            front_end: Some("mcp".to_owned()),
            client: None,
            handle: id,
            number: 1,
            call: "c1".to_owned(),
            tool: "shell".to_owned(),
            title: Some(script.to_owned()),
            lease_secs: lease.as_secs(),
            spawned: Millis::at(SystemTime::now()),
            lock: None,
            job: JobDescription {
                start: Start {
                    session: SessionId::from_suffix("1"),
                    root: PathBuf::from("/project").into(),
                    log: None,
                    handle: None,
                    keep: Some(request),
                    outside: false,
                    widenings: Vec::new(),
                    tool: Arc::new(ToolDefinition::new("shell")),
                    args: windlass_protocol::Arguments::new(),
                },
                key: serde_json::to_value(&key).unwrap(),
                at: 0,
            },
            key,
        };
        self.store.register(&kept).unwrap();
        (process, kept)
    }

    /// Keeps a tree of three running processes.
    async fn keep_tree(&self, lease: Duration) -> (Process, KeptHandle) {
        let up = self.dir.path().join("up");
        let script = format!("sleep 1000 & sleep 1000 & : > {}; wait", up.display());
        let kept = self.keep(&script, lease).await;
        until(async || up.exists()).await;
        kept
    }

    async fn only(&self) -> SurveyedHandle {
        let mut survey = self.store.survey().await;
        assert_eq!(survey.handles.len(), 1, "{survey:?}");
        survey.handles.remove(0)
    }

    fn files(&self) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(self.store.folder()) else {
            return Vec::new();
        };
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.collect()
    }
}

/// Waits until a condition holds.
async fn until(mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..1500 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it never came to be");
}

fn is_alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(") ").next().unwrap_or_default();
    !state.is_empty() && !state.starts_with('Z')
}

fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handle_is_owned_then_held_then_stopped() {
    let place = StateFolder::new();
    let go = place.dir.path().join("go");
    let script = format!(
        "echo begun; while [ ! -e {} ]; do sleep 0.05; done; exit 3",
        go.display()
    );
    let (process, kept) = place.keep(&script, LEASE).await;
    let owner = std::process::id();
    assert_eq!(place.only().await.standing, HeldStanding::Owned { owner });
    process.leave().await;
    until(async || matches!(place.only().await.standing, HeldStanding::Held { left_secs } if left_secs > 200.0)).await;
    let output = place.store.last_output(&kept, 1024).await.unwrap();
    assert_eq!(output, b"begun\n");
    std::fs::write(&go, "").unwrap();
    let exit = KeptExit::Code(3);
    until(async || matches!(place.only().await.standing, HeldStanding::Stopped { exit: it, .. } if it == exit)).await;
    place.store.end(&kept, GRACE).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_lease_is_reported_by_its_receipt_until_it_is_forgotten() {
    let place = StateFolder::new();
    let (process, kept) = place.keep_tree(Duration::from_millis(10)).await;
    process.leave().await;
    until(async || place.only().await.is_over()).await;
    let HeldStanding::Ended { receipt } = place.only().await.standing else {
        panic!("it has no receipt");
    };
    assert_eq!(receipt.reason, KeptReceiptReason::Lease);
    assert_eq!(receipt.ended, 3);
    assert!(receipt.survivors.is_empty());
    place.store.forget(kept.name());
    assert_eq!(place.files(), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_ends_a_held_handle() {
    let place = StateFolder::new();
    let (process, kept) = place.keep_tree(LEASE).await;
    let owned = place.store.end(&kept, GRACE).await;
    assert!(matches!(owned, Err(EndHeldError::Owned { owner }) if owner == std::process::id()));
    let program = process.pid();
    process.leave().await;
    let receipt = place.store.end(&kept, GRACE).await.unwrap();
    assert_eq!(
        (receipt.reason, receipt.ended),
        (KeptReceiptReason::Asked, 3)
    );
    assert!(!is_alive(program));
    // The end is reported to the next session.
    until(async || place.only().await.is_over()).await;
    assert_eq!(place.only().await.standing, HeldStanding::Ended { receipt });
    assert!(matches!(
        place.store.end(&kept, GRACE).await,
        Err(EndHeldError::Gone)
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_holder_is_a_lost_handle() {
    let place = StateFolder::new();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    let program = process.pid();
    process.leave().await;
    kill(kept.key.holder.unwrap().0, rustix::process::Signal::KILL);
    let why = LossReason::HolderDied;
    until(async || place.only().await.standing == HeldStanding::Lost { why }).await;
    until(async || !is_alive(program)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_corrupt_state_file_is_reported_once_and_its_program_ended() {
    let place = StateFolder::new();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    let (program, name) = (process.pid(), kept.name().to_owned());
    process.leave().await;
    until(async || place.only().await.is_held()).await;
    std::fs::write(
        place.store.folder().join(format!("{name}.json")),
        "{\"version\":",
    )
    .unwrap();
    let survey = place.store.survey().await;
    assert_eq!(survey.handles, []);
    assert_eq!(survey.unreadable[0].handle(), "dev");
    until(async || !is_alive(program)).await;
    assert!(place.store.survey().await.unreadable.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_program_ends_when_the_state_folder_goes() {
    let place = StateFolder::new();
    let (process, _) = place.keep("sleep 1000", LEASE).await;
    let program = process.pid();
    process.leave().await;
    until(async || place.only().await.is_held()).await;
    std::fs::remove_dir_all(place.store.folder()).unwrap();
    until(async || !is_alive(program)).await;
    assert!(place.store.survey().await.handles.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_was_never_registered_ends_with_its_runtime() {
    let place = StateFolder::new();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    let program = process.pid();
    std::fs::remove_file(place.store.folder().join(format!("{}.json", kept.name()))).unwrap();
    process.leave().await;
    until(async || !is_alive(program)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replaced_state_file_does_not_end_a_held_program() {
    let place = StateFolder::new();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    process.leave().await;
    until(async || place.only().await.is_held()).await;
    for number in 0..3 {
        let again = KeptHandle {
            number,
            ..kept.clone()
        };
        place.store.register(&again).unwrap();
        assert!(place.only().await.is_held());
        assert_eq!(place.only().await.handle.number, number);
    }
    place.store.end(&kept, GRACE).await.unwrap();
}

#[tokio::test]
async fn after_another_boot_a_handle_is_lost() {
    let place = StateFolder::new();
    let (process, mut kept) = place.keep("sleep 1000", LEASE).await;
    kept.stamp.boot = "0b0c0a10-aaaa-4444-8888-000000000000".to_owned();
    place.store.register(&kept).unwrap();
    let why = LossReason::Rebooted;
    assert_eq!(place.only().await.standing, HeldStanding::Lost { why });
    // The directory may be shared by machines; handles of other machines are left alone.
    kept.stamp.machine = "another".to_owned();
    place.store.register(&kept).unwrap();
    assert_eq!(place.store.survey().await.handles, []);
    assert_eq!(place.store.handles().len(), 1);
    process.end(GRACE).await;
}

/// Sends this reply to every client, or never replies.
fn false_holder(folder: &Path, name: &str, reply: Option<HolderReply>) {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    let address = SocketAddrUnix::new(folder.join(format!("{name}.sock"))).unwrap();
    rustix::net::bind(&socket, &address).unwrap();
    rustix::net::listen(&socket, 8).unwrap();
    std::thread::spawn(move || {
        let mut connections = Vec::new();
        while let Ok(connection) = rustix::net::accept(&socket) {
            if let Some(reply) = &reply {
                let mut buffer = [0; 256];
                let _ = rustix::io::read(&connection, &mut buffer);
                let _ = rustix::io::write(&connection, &reply.write());
            }
            connections.push(connection);
        }
    });
}

impl StateFolder {
    /// A state file that points to a false holder, with this pid and start time.
    fn false_handle(&self, like: &KeptHandle, name: &str, holder: (u32, u64)) -> KeptHandle {
        let mut kept = like.clone();
        name.clone_into(&mut kept.key.name);
        kept.key.holder = Some(holder);
        self.store.register(&kept).unwrap();
        kept
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hung_holder_does_not_keep_others_from_answering() {
    let place = StateFolder::new();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    place.false_handle(&kept, "hung", kept.key.holder.unwrap());
    false_holder(place.store.folder(), "hung", None);
    let survey = place.store.survey().await;
    let standings: Vec<_> = survey.handles.iter().map(|kept| &kept.standing).collect();
    let owner = std::process::id();
    assert_eq!(
        standings,
        [&HeldStanding::Owned { owner }, &HeldStanding::Silent]
    );
    process.end(GRACE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_that_nobody_understands_is_ended_with_a_receipt() {
    let place = StateFolder::new();
    let (process, kept) = place.keep_tree(LEASE).await;
    place.false_handle(&kept, "old", kept.key.holder.unwrap());
    place.store.forget(kept.name());
    false_holder(
        place.store.folder(),
        "old",
        Some(HolderReply::Refused { version: 0 }),
    );
    let program = process.pid();
    let HeldStanding::Ended { receipt } = place.only().await.standing else {
        panic!("it was not ended");
    };
    assert_eq!(
        (receipt.reason, receipt.ended),
        (KeptReceiptReason::Outdated, 3)
    );
    assert!(!is_alive(program));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pid_that_is_another_process_by_now_is_not_ended() {
    let place = StateFolder::new();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    let (holder, start) = kept.key.holder.unwrap();
    place.false_handle(&kept, "old", (holder, start + 1));
    place.store.forget(kept.name());
    false_holder(
        place.store.folder(),
        "old",
        Some(HolderReply::Refused { version: 0 }),
    );
    assert_eq!(place.only().await.standing, HeldStanding::Silent);
    assert!(is_alive(process.pid()) && is_alive(holder));
    process.end(GRACE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_of_a_newer_version_is_left_alone() {
    let place = StateFolder::new();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    place.false_handle(&kept, "new", kept.key.holder.unwrap());
    place.store.forget(kept.name());
    let version = windlass_process::WIRE_VERSION + 1;
    false_holder(
        place.store.folder(),
        "new",
        Some(HolderReply::Refused { version }),
    );
    assert_eq!(place.only().await.standing, HeldStanding::Newer { version });
    assert!(is_alive(process.pid()));
    process.end(GRACE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_are_kept_than_allowed() {
    let place = StateFolder::new();
    let id = HandleId::new("more").unwrap();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    let second = place.store.reserve(2, &id).await.unwrap();
    let third = place.store.reserve(2, &id).await;
    assert!(matches!(third, Err(NotKept::Full { max: 2 })));
    drop(second);
    // An unused slot is free again, and so is that of an ended handle.
    let second = place.store.reserve(2, &id).await.unwrap();
    process.end(GRACE).await;
    until(async || place.only().await.is_over()).await;
    place.store.reserve(2, &id).await.unwrap();
    drop(second);
    assert!(matches!(
        place.store.reserve(0, &id).await,
        Err(NotKept::Full { max: 0 })
    ));
    place.store.forget(kept.name());
}

#[tokio::test]
async fn many_places_are_taken_up_to_the_last_and_no_further() {
    const MAX: usize = 80;
    let place = StateFolder::new();
    // Another process has its own count.
    let other = KeptStore::new(place.dir.path());
    let id = HandleId::new("more").unwrap();
    let mut slots = Vec::new();
    for number in 0..MAX + 10 {
        let store = if number % 2 == 0 {
            &place.store
        } else {
            &other
        };
        match store.reserve(MAX, &id).await {
            Ok(slot) => slots.push(slot),
            Err(NotKept::Full { max: MAX }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(slots.len(), MAX);
}

#[tokio::test]
async fn files_are_the_users_alone() {
    let place = StateFolder::new();
    let (process, kept) = place.keep("sleep 1000", LEASE).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(place.store.folder()), 0o700);
    assert_eq!(
        mode(&place.store.folder().join(format!("{}.json", kept.name()))),
        0o600
    );
    process.end(GRACE).await;
}

#[tokio::test]
async fn a_state_that_cannot_be_written_leaves_nothing() {
    let place = StateFolder::new();
    let id = HandleId::new("dev").unwrap();
    std::fs::write(place.dir.path().join("kept"), "in the way").unwrap();
    assert!(matches!(
        place.store.reserve(8, &id).await,
        Err(NotKept::Unwritable(_))
    ));
}
