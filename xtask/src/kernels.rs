//! `cargo xtask kernels [--tests] [SUITE…]`: tries limits and sandboxes on Debian's stock kernels.
//!
//! Each kernel boots in an emulated machine without hardware support, with cgroup v2 and a delegated subtree, so this
//! runs everywhere and shows what depends on the kernel. Start at [`run`]. `kernels/init.sh` is the first process of the
//! machine, `kernels/try.py` has the checks. Nothing is installed; kernels stay in `target/kernels`.

#[path = "kernels/image.rs"]
mod image;
#[path = "kernels/package.rs"]
mod package;
#[path = "kernels/report.rs"]
mod report;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::workspace;
use report::MachineReport;

/// Suites of Debian with different kernels: 5.10, 6.1, 6.12, and the newest.
const SUITES: &[&str] = &["bullseye", "bookworm", "trixie", "trixie-backports"];

const EMULATOR: &str = "qemu-system-x86_64";

/// Programs that this needs, with their Debian packages.
const NEEDED: &[(&str, &str)] = &[
    (EMULATOR, "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("cpio", "cpio"),
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("python3", "python3"),
    ("setpriv", "util-linux"),
];

/// Emulation is slow, and the machine may be busy.
const LIMIT_SECONDS: &str = "1800";

/// Also runs the tests of limits in the machine, which take long there.
const TESTS: &str = "--tests";

/// Tries the kernels of these suites; of all if there are none.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    for (program, package) in NEEDED {
        if find(program).is_none() {
            println!(
                "skipped: there is no `{program}` here; install the Debian package `{package}`"
            );
            return Ok(());
        }
    }
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: the kernels are for x86-64");
        return Ok(());
    }
    let has_tests = arguments.iter().any(|it| it == TESTS);
    let named = arguments.iter().map(String::as_str);
    let mut suites: Vec<&str> = named.filter(|it| *it != TESTS).collect();
    if suites.is_empty() {
        suites.extend(SUITES);
    }
    let folder = workspace::root().join("target/kernels");
    std::fs::create_dir_all(&folder)?;
    let mut kernels = Vec::new();
    for suite in suites {
        let kernel = package::kernel(&folder, suite)
            .with_context(|| format!("cannot get the kernel of `{suite}`"))?;
        println!("{suite}: {}", kernel.display());
        kernels.push((suite, kernel));
    }
    let image = image::make(&folder)?;
    let mut failures = 0;
    for (suite, kernel) in kernels {
        println!("== {suite}");
        let report = boot(&kernel, &image, has_tests)?;
        print!("{report}");
        failures += report.failures();
    }
    ensure!(failures == 0, "{failures} checks failed");
    Ok(())
}

/// Boots a kernel with the image, and waits until the machine is switched off.
fn boot(kernel: &Path, image: &Path, has_tests: bool) -> anyhow::Result<MachineReport> {
    // The timer of an emulated processor on a busy machine fails the kernel's check.
    let mut options = String::from("console=ttyS0 quiet panic=-1 no_timer_check");
    if has_tests {
        options.push_str(" windlass.tests");
    }
    let output = Command::new("timeout")
        .args(["--kill-after=5", LIMIT_SECONDS, EMULATOR])
        // Some emulators corrupt flags in `cmpxchg16b`, which kernels use only if the processor has it.
        .args([
            "-accel",
            "tcg,thread=multi",
            "-cpu",
            "max,-cx16",
            "-smp",
            "2",
        ])
        .args(["-m", "3072", "-display", "none", "-monitor", "none"])
        .args(["-serial", "stdio", "-nic", "none", "-no-reboot"])
        .arg("-kernel")
        .arg(kernel)
        .arg("-initrd")
        .arg(image)
        .args(["-append", &options])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{EMULATOR}`"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let report = MachineReport::read(&text);
    if report.failures() > 0 {
        let errors = String::from_utf8_lossy(&output.stderr);
        println!("{text}{errors}");
    }
    Ok(report)
}

/// The path of a program of the system. Other folders of `PATH` may contain wrappers.
fn find(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
    let mut paths = folders.iter().map(|folder| Path::new(folder).join(program));
    paths.find(|path| path.is_file())
}
