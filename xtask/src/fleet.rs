//! The load test of pools: three brokers, five workers, a thousand handles, and crashes of some of them.

use anyhow::ensure;

use crate::{nats, workspace};

/// Runs it in a release build, and prints its results.
pub(crate) fn run() -> anyhow::Result<()> {
    let server = nats::provide()?;
    let mut command = workspace::cargo_command();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [server].into_iter().chain(std::env::split_paths(&path));
    let status = command
        .env("PATH", std::env::join_paths(folders)?)
        .args([
            "test",
            "--release",
            "--package",
            "windlass-cli",
            "--test",
            "it",
        ])
        .args(["--", "--ignored", "--exact", "--nocapture"])
        .arg("pool_fleet::a_thousand_handles_survive_deaths_of_all_kinds")
        .status()?;
    ensure!(status.success(), "the fleet failed");
    Ok(())
}
