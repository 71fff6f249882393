//! Limits of a program and everything that it starts, as the user that runs the tests and as an ordinary user.

use std::time::Duration;

use windlass_process::{Exit, Launcher, Process};
use windlass_sandbox::{LimitKind, ResourceLimits};

use crate::support::{alive, eventually, launcher, run_as_ordinary_user, shell, text, token};

async fn start(launcher: &Launcher, script: &str) -> Process {
    launcher.start(shell(script).merge_output()).await.unwrap()
}

fn limited(limits: ResourceLimits) -> Launcher {
    launcher().limited(limits)
}

async fn a_memory_hog_is_stopped() {
    let launcher = limited(ResourceLimits {
        memory: Some(200 << 20),
        ..ResourceLimits::default()
    });
    let hog = start(
        &launcher,
        "python3 -c 'bytearray(600 << 20); print(\"held\")'",
    )
    .await;
    assert!(!hog.wait().await.success(), "{}", text(&hog));
    assert!(!text(&hog).contains("held"));
    // Spread over processes, none of which has too much.
    let one = "python3 -c \"import time; b = bytearray(90 << 20); time.sleep(1000)\"";
    let spread = start(&launcher, &format!("{one} & {one} & {one} & {one} & wait")).await;
    spread.wait().await;
    assert_eq!(spread.exceeded(), Some(LimitKind::Memory));
    eventually("nothing is left", || spread.usage().processes == 0);
    // In shared memory, which no limit of a single process covers.
    let shared = "exec python3 -c 'import mmap, time; m = mmap.mmap(-1, 600 << 20); m.write(b\"x\" * (600 << 20)); time.sleep(1000)'";
    let shared = start(&launcher, shared).await;
    shared.wait().await;
    assert!(!text(&shared).contains("held"));
    // In a file in memory that is not mapped.
    let unmapped = "exec python3 -c 'import os, time\nf = os.memfd_create(\"x\")\nfor _ in range(600): os.write(f, b\"x\" * (1 << 20))\ntime.sleep(1000)'";
    let unmapped = start(&launcher, unmapped).await;
    unmapped.wait().await;
    assert_eq!(unmapped.exceeded(), Some(LimitKind::Memory));
    // Pages that are shared after a fork count once.
    let forks = "python3 -c 'import os, time\nb = bytearray(80 << 20)\nfor _ in range(4):\n  if os.fork() == 0:\n    time.sleep(0.4); os._exit(0)\nfor _ in range(4): os.wait()\nprint(\"fine\")'";
    let forks = start(&launcher, forks).await;
    assert!(
        forks.wait().await.success(),
        "{}: {:?}",
        text(&forks),
        forks.exceeded()
    );
}

async fn a_fork_bomb_leaves_nothing() {
    let token = token();
    let launcher = limited(ResourceLimits {
        processes: Some(64),
        ..ResourceLimits::default()
    });
    let other = start(&launcher, "exec sleep 1000").await;
    // It stops on its own far above the limit, so that a failure does not exhaust the machine.
    let bomb = format!(
        "f() {{ setsid sleep {token} & [ $1 -eq 0 ] || f $(($1 - 1)) | f $(($1 - 1)) & }}; f 8; wait; exec sleep {token}"
    );
    let bomb = start(&launcher, &bomb).await;
    bomb.wait().await;
    eventually("it was stopped", || {
        bomb.exceeded() == Some(LimitKind::Processes)
    });
    bomb.end(Duration::ZERO).await;
    assert_eq!(alive(&token), [] as [u32; 0]);
    assert!(other.exit().is_none());
}

async fn time_is_limited() {
    let launcher = limited(ResourceLimits {
        wall: Some(Duration::from_millis(300)),
        ..ResourceLimits::default()
    });
    let sleeper = start(&launcher, "sleep 1000 & sleep 1000").await;
    sleeper.wait().await;
    assert_eq!(sleeper.exceeded(), Some(LimitKind::Wall));
    let launcher = limited(ResourceLimits {
        cpu: Some(Duration::from_millis(500)),
        ..ResourceLimits::default()
    });
    let spin = "while :; do :; done";
    let spinner = start(
        &launcher,
        &format!("sh -c '{spin}' & sh -c '{spin}' & wait"),
    )
    .await;
    spinner.wait().await;
    assert_eq!(spinner.exceeded(), Some(LimitKind::Cpu));
}

async fn files_are_limited() {
    let launcher = limited(ResourceLimits {
        file_size: Some(1 << 20),
        open_files: Some(32),
        ..ResourceLimits::default()
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big");
    let filler = format!(
        "exec dd if=/dev/zero of={} bs=64k count=100",
        path.display()
    );
    let filler = start(&launcher, &filler).await;
    assert_eq!(filler.wait().await, Exit::Signal(25));
    assert_eq!(path.metadata().unwrap().len(), 1 << 20);
    let opener = start(&launcher, "ulimit -n; ulimit -Hn").await;
    opener.wait().await;
    assert_eq!(text(&opener), "32\n32\n");
}

/// Each file is small.
async fn a_disk_filler_is_stopped() {
    let launcher = limited(ResourceLimits {
        disk: Some(8 << 20),
        ..ResourceLimits::default()
    });
    let script = |folder: &std::path::Path| {
        let folder = folder.display();
        // Most of it is written by processes that have gone. On a busy machine all of it may be there before it is stopped.
        format!(
            "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); head -c 65536 /dev/zero > {folder}/$i || exit 9; done; sleep 1000"
        )
    };
    for base in ["/var/tmp", "/dev/shm"] {
        let folder = tempfile::tempdir_in(base).unwrap();
        let filler = start(&launcher, &script(folder.path())).await;
        filler.wait().await;
        assert_eq!(filler.exceeded(), Some(LimitKind::Disk), "{base}");
        assert_eq!(text(&filler), "");
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert!(files >= 100, "{files}");
    }
    // The next program of the same shim starts from zero.
    let next = start(&launcher, "sleep 0.3").await;
    assert!(next.wait().await.success(), "{:?}", next.exceeded());
    // Pipes are no disk. Only a neighbour that fills the folders in memory with a gigabyte meanwhile would count.
    let launcher = limited(ResourceLimits {
        disk: Some(1 << 30),
        ..ResourceLimits::default()
    });
    let talker = start(&launcher, "head -c 1200000000 /dev/zero | cat > /dev/null").await;
    assert!(talker.wait().await.success(), "{:?}", talker.exceeded());
}

async fn use_is_told() {
    let launcher = limited(ResourceLimits::default());
    let script = "python3 -c 'import time; b = bytearray(50 << 20); print(\"up\", flush=True); time.sleep(1000)' & wait";
    let process = start(&launcher, script).await;
    eventually("it is up", || text(&process).contains("up"));
    let usage = process.usage();
    assert_eq!(usage.processes, 2);
    assert!(usage.memory > 50 << 20, "{usage:?}");
}

macro_rules! as_both_users {
    ($($name:ident),* $(,)?) => {
        mod as_this_user {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    super::$name().await;
                }
            )*
        }

        mod as_ordinary_user {
            use super::run_as_ordinary_user;

            $(
                #[test]
                fn $name() {
                    run_as_ordinary_user(concat!("resources::as_this_user::", stringify!($name)));
                }
            )*
        }
    };
}

as_both_users!(
    a_memory_hog_is_stopped,
    a_fork_bomb_leaves_nothing,
    time_is_limited,
    files_are_limited,
    a_disk_filler_is_stopped,
    use_is_told,
);
