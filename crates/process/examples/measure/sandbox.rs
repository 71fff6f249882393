//! A start in a sandbox against one without.
//!
//! Where namespaces cannot be made (`unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv
//! --bounding-set -all …'`), this measures Landlock and seccomp alone.

use std::time::Instant;

use windlass_process::{Command, Launcher, sandbox_support};
use windlass_sandbox::{
    OnUnavailable, ProjectPlaces, ResourceLimits, SandboxMode, SandboxSettings, resolve,
};

use crate::linux::{median, micros};

const ROUNDS: usize = 40;
const PER_ROUND: usize = 25;

pub(crate) async fn run(launcher: &Launcher) {
    let root = std::env::current_dir().expect("a folder");
    let home = std::env::var_os("HOME").unwrap_or_default().into();
    let places = ProjectPlaces {
        root,
        home,
        ..ProjectPlaces::default()
    };
    let settings = SandboxSettings {
        unavailable: OnUnavailable::Warn,
        ..SandboxSettings::of_mode(SandboxMode::Workspace)
    };
    let confinement = resolve(&settings, None, &places)
        .confinement
        .expect("a sandbox");
    let launchers = [
        launcher.clone(),
        launcher.confined(confinement),
        launcher.limited(ResourceLimits {
            memory: Some(1 << 30),
            processes: Some(512),
            ..ResourceLimits::default()
        }),
    ];
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (launcher, times) in launchers.iter().zip(&mut times) {
            let start = Instant::now();
            for _ in 0..PER_ROUND {
                let command = Command::new("/bin/true").merge_output();
                let process = launcher.start(command).await.expect("it starts");
                process.wait().await;
            }
            #[expect(clippy::cast_precision_loss, reason = "a small count")]
            times.push(micros(start.elapsed()) / PER_ROUND as f64);
        }
    }
    let support = sandbox_support(launcher).await;
    let how = if support.mounts.is_ok() {
        "Landlock, seccomp, namespaces"
    } else {
        "Landlock, seccomp"
    };
    println!(
        "start + wait of /bin/true: median of {ROUNDS} rounds of {PER_ROUND}, and the fastest tenth of the rounds"
    );
    let names = ["without a sandbox", how, "limits"];
    let fastest = |times: &mut Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 10]
    };
    let plain = (median(&times[0]), fastest(&mut times[0].clone()));
    for (name, times) in names.iter().zip(&mut times) {
        let (usual, fast) = (median(times), fastest(times));
        println!(
            "  {name:30} {usual:8.0} µs   {:.2} x {fast:8.0} µs   {:.2} x",
            usual / plain.0,
            fast / plain.1
        );
    }
}
