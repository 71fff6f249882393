//! Programs in Rust that a test has to build first.
//!
//! They are built with the cargo that runs the tests, into its own folder, so
//! that what is there already is not built again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::programs::windlass;

/// The example tools of the workspace.
pub(crate) fn example_tools() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let manifest = workspace().join("examples/tools/Cargo.toml");
        build(&manifest, "example-tools")
    });
    &BUILT
}

/// Builds a package outside the workspace, with the versions of the
/// workspace's own dependencies; returns its program.
pub(crate) fn build_package(folder: &Path, program: &str) -> PathBuf {
    fs::copy(workspace().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    build(&folder.join("Cargo.toml"), program)
}

/// The folder of the SDK.
pub(crate) fn sdk() -> PathBuf {
    workspace().join("crates/sdk")
}

pub(crate) fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

fn build(manifest: &Path, program: &str) -> PathBuf {
    // …/target/debug/windlass
    let profile = Path::new(windlass()).parent().unwrap();
    let target = profile.parent().unwrap();
    let cargo = |more: &[&str]| {
        Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--bin", program, "--manifest-path"])
            .arg(manifest)
            .arg("--target-dir")
            .arg(target)
            .args(more)
            // As the workspace says it, so that its dependencies are used again.
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
            .output()
            .unwrap()
    };
    // What is needed has usually been fetched.
    let mut output = cargo(&["--offline"]);
    if !output.status.success() {
        output = cargo(&[]);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    target.join("debug").join(program)
}
