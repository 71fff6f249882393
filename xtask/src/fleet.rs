//! The load test of pools: three brokers, five workers, a thousand handles, and crashes of some of them.

use anyhow::ensure;

use crate::{nats, workspace};

/// Runs it in a release build, and prints its results.
pub(crate) fn run() -> anyhow::Result<()> {
    workspace::cargo(["build", "--release", "--package", "windlass-cli"])?;
    let mut command = workspace::cargo_command();
    let status = command
        .env("PATH", nats::path()?)
        .args([
            "test",
            "--release",
            "--package",
            "windlass-command-tests",
            "--test",
            "it",
        ])
        .args(["--", "--ignored", "--exact", "--nocapture"])
        .arg("pool_fleet::a_thousand_handles_survive_deaths_of_all_kinds")
        .status()?;
    ensure!(status.success(), "the fleet failed");
    Ok(())
}
