//! The checks before a merge, with the time of each.

use std::time::{Duration, Instant};

use crate::sandboxed::ToolSandbox;
use crate::{artefacts, conformance, test, tidy, workspace};

/// A finished stage, and its duration.
struct StageTime {
    stage: &'static str,
    taken: Duration,
}

/// Runs all stages up to the first failure; prints the minutes of those that ran.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut times = Vec::new();
    let result = run_stages(&mut times);
    print!("{}", table(&times));
    result
}

fn run_stages(times: &mut Vec<StageTime>) -> anyhow::Result<()> {
    let mut stage = |stage, check: &dyn Fn() -> anyhow::Result<()>| {
        let begun = Instant::now();
        let result = check();
        let taken = begun.elapsed();
        times.push(StageTime { stage, taken });
        result
    };
    stage("format", &|| workspace::cargo(["fmt", "--all", "--check"]))?;
    stage("clippy", &|| {
        let lint = ["clippy", "--workspace", "--all-targets"];
        workspace::cargo(lint.into_iter().chain(["--", "-D", "warnings"]))
    })?;
    stage("features", &check_features)?;
    stage("doc", &|| {
        let strict = ["--config", "build.rustdocflags=['-D','warnings']"];
        workspace::cargo(
            strict
                .into_iter()
                .chain(["doc", "--workspace", "--no-deps"]),
        )
    })?;
    stage("tidy", &tidy::check)?;
    stage("test", &|| test::run(&[]))?;
    stage("sandbox", &|| {
        let terminals = ["--sandbox", "workspace", "--test", "it", "term_"];
        test::run(&terminals.map(str::to_owned))
    })?;
    stage("conformance", &|| conformance::run(ToolSandbox::Off))?;
    stage("package", &|| {
        artefacts::run(&["--profile".to_owned(), "release".to_owned()])
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

fn table(times: &[StageTime]) -> String {
    let line = |stage: &str, taken: Duration| {
        let minutes = taken.as_secs_f64() / 60.0;
        format!("{stage:<12} {minutes:>5.1}\n")
    };
    let mut table = "\nminutes per stage\n".to_owned();
    for time in times {
        table += &line(time.stage, time.taken);
    }
    table += &line("all", times.iter().map(|time| time.taken).sum());
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_per_stage_and_their_sum() {
        let times = [("format", 3), ("test", 600)].map(|(stage, seconds)| StageTime {
            stage,
            taken: Duration::from_secs(seconds),
        });
        let lines = [
            "",
            "minutes per stage",
            "format         0.1",
            "test          10.0",
            "all           10.1",
            "",
        ];
        assert_eq!(table(&times), lines.join("\n"));
    }
}
