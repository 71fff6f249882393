//! `cargo xtask lint`: what the compiler, clippy and rustdoc say, with every warning as an error.
//!
//! Each stage selects the whole workspace, because another selection of packages has other features, and compiles
//! other libraries again.

use std::path::PathBuf;

use anyhow::bail;

use crate::stages::Stages;
use crate::{ci, workspace};

/// The priority of lints beside tests.
const NICE: i32 = 19;

/// Runs the lints; with `--beside FILE` at a low priority, and with a report of the times in that file.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let mut stages = Stages::begin();
    match arguments {
        [] => {
            let result = run_stages(&mut stages);
            print!("\n{stages}");
            result
        }
        [option, file] if option == "--beside" => {
            rustix::process::nice(NICE)?;
            let result = run_stages(&mut stages);
            ci::report(&stages, &PathBuf::from(file))?;
            result
        }
        [other, ..] => bail!("`lint` takes no arguments, but `{other}` was given"),
    }
}

/// Runs all lints up to the first failure.
pub(crate) fn run_stages(stages: &mut Stages) -> anyhow::Result<()> {
    stages.run("clippy", || {
        let lint = ["clippy", "--workspace", "--all-targets"];
        workspace::cargo(lint.into_iter().chain(["--", "-D", "warnings"]))
    })?;
    stages.run("features", check_features)?;
    stages.run("doc", || {
        let strict = ["--config", "build.rustdocflags=['-D','warnings']"];
        workspace::cargo(
            strict
                .into_iter()
                .chain(["doc", "--workspace", "--no-deps"]),
        )
    })
}

/// Checks that the command builds without its optional features, and with each of
/// them alone.
fn check_features() -> anyhow::Result<()> {
    for features in ["", "grpc", "nats", "opencode"] {
        let check = [
            "check",
            "--package",
            "windlass-cli",
            "--no-default-features",
        ];
        workspace::cargo(check.into_iter().chain(["--features", features]))?;
    }
    Ok(())
}
