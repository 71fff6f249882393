//! Starts `/bin/true` in a sandbox, and with limits, compared with starting it without.

use std::time::Instant;

use windlass_process::{Command, Launcher, sandbox_support};
use windlass_sandbox::{
    OnUnavailable, ProjectPlaces, ResourceLimits, SandboxMode, SandboxSettings, resolve,
};

use super::fixture::launcher;
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

/// See `one_shot`.
const PER_ROUND: u32 = 25;

/// Rounds alternate, so that other load on the machine affects all alike. Without namespaces, only Landlock and seccomp
/// are measured.
pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let plain = launcher();
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder can be made");
    let home = folder.path().canonicalize().expect("it is there");
    let root = home.join("project");
    std::fs::create_dir_all(root.join(".git/hooks")).expect("a folder can be made");
    let places = ProjectPlaces {
        root: root.clone(),
        home,
        ..ProjectPlaces::default()
    };
    let settings = SandboxSettings {
        unavailable: OnUnavailable::Warn,
        ..SandboxSettings::of_mode(SandboxMode::Workspace)
    };
    let confinement = resolve(&settings, None, &places).confinement;
    let confined = plain.confined(confinement.expect("a sandbox"));
    let limited = plain.limited(ResourceLimits {
        memory: Some(1 << 30),
        processes: Some(512),
        disk: Some(1 << 30),
        ..ResourceLimits::default()
    });
    let launchers = [&plain, &confined, &limited];
    let mut samples: [Samples; 3] = Default::default();
    for round in 0..=pace.pick(60, 6) {
        for (launcher, samples) in launchers.into_iter().zip(&mut samples) {
            let start = Instant::now();
            for _ in 0..PER_ROUND {
                run(launcher, &root).await;
            }
            // The first round is a warm-up.
            if round > 0 {
                samples.push_time(start.elapsed() / PER_ROUND);
            }
        }
    }
    let has_mounts = sandbox_support(&plain).await.mounts.is_ok();
    let (how, goal) = if has_mounts {
        ("Landlock, seccomp and namespaces", 1.4)
    } else {
        ("Landlock and seccomp", 1.1)
    };
    let [floor, confined, limited] = samples.each_ref().map(|it| Quantity::of(it, Unit::Micros));
    let line = |what: &str, measured, goal| Line {
        what: what.to_owned(),
        measured,
        floor: Some(floor),
        goal: Goal::Times(goal),
    };
    vec![
        line(&format!("sandbox: {how}, against none"), confined, goal),
        line("sandbox: limits alone, against none", limited, 1.1),
    ]
}

async fn run(launcher: &Launcher, root: &std::path::Path) {
    let command = Command::new("/bin/true").cwd(root).merge_output();
    let process = launcher.start(command).await.expect("it starts");
    assert!(process.wait().await.success());
}
