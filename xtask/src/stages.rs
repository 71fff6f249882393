//! The stages of a run, with the minutes and CPU seconds of each.
//!
//! The last runs are stored below `target`, and shown beside the new one.

use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::{cpu, workspace};

/// The number of runs that are stored.
const STORED: usize = 5;

/// The time of one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StageTime {
    stage: String,
    seconds: f64,
    /// The CPU time of everything that it ran, if the system tells.
    cpu_seconds: Option<f64>,
    /// Whether it ran beside other stages.
    #[serde(default)]
    beside: bool,
}

impl StageTime {
    /// Reads what [`Stages::report`] wrote.
    pub(crate) fn read_all(report: &str) -> anyhow::Result<Vec<Self>> {
        if report.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(report).context("the times of stages cannot be read")
    }
}

/// The stages of a run so far.
#[derive(Debug)]
pub(crate) struct Stages {
    begun: Instant,
    times: Vec<StageTime>,
    previous: Vec<StoredRun>,
}

/// A run of all stages of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredRun {
    /// The job, or `all`.
    job: String,
    seconds: f64,
    stages: Vec<StageTime>,
}

impl Stages {
    /// Begins a run without stages.
    pub(crate) fn begin() -> Self {
        Self {
            begun: Instant::now(),
            times: Vec::new(),
            previous: Vec::new(),
        }
    }

    /// Runs a stage and records its time, also if it fails.
    pub(crate) fn run<T>(
        &mut self,
        stage: &str,
        act: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        println!("\n== {stage}");
        let (begun, cpu) = (Instant::now(), cpu::used());
        let result = act();
        let cpu = cpu
            .zip(cpu::used())
            .map(|(before, after)| after.saturating_sub(before));
        self.times.push(StageTime {
            stage: stage.to_owned(),
            seconds: begun.elapsed().as_secs_f64(),
            cpu_seconds: cpu.map(|cpu| cpu.as_secs_f64()),
            beside: false,
        });
        result.with_context(|| format!("`{stage}` failed"))
    }

    /// Adds a stage that ran beside the others.
    pub(crate) fn add_beside(&mut self, time: StageTime) {
        self.times.push(StageTime {
            beside: true,
            ..time
        });
    }

    /// The times so far, for another process.
    pub(crate) fn report(&self) -> String {
        serde_json::to_string(&self.times).expect("names and numbers can be written")
    }

    /// Prints the table, beside the last runs of the same job, and stores the run.
    pub(crate) fn finish(mut self, job: &str) -> anyhow::Result<()> {
        let file = file()?;
        let stored = std::fs::read_to_string(&file).ok();
        // A file of an earlier version is replaced.
        let mut runs: Vec<StoredRun> = stored
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        self.previous = runs.iter().filter(|run| run.job == job).cloned().collect();
        print!("\n{self}");
        let others = runs.iter().filter(|run| run.job != job).cloned();
        let mut same = self.previous.clone();
        same.push(StoredRun {
            job: job.to_owned(),
            seconds: self.begun.elapsed().as_secs_f64(),
            stages: self.times,
        });
        let surplus = same.len().saturating_sub(STORED);
        runs = others.chain(same.into_iter().skip(surplus)).collect();
        std::fs::write(&file, serde_json::to_string_pretty(&runs)? + "\n")
            .with_context(|| format!("cannot write `{}`", file.display()))
    }

    /// The CPU time of all stages.
    fn cpu(&self) -> Option<f64> {
        self.times.iter().map(|time| time.cpu_seconds).sum()
    }
}

/// `target/ci-times.json`.
fn file() -> anyhow::Result<PathBuf> {
    Ok(workspace::target_folder()?.join("ci-times.json"))
}

impl fmt::Display for Stages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_table(self.begun.elapsed().as_secs_f64(), formatter)
    }
}

impl Stages {
    /// Writes the table; the run has taken `seconds`.
    fn write_table(&self, seconds: f64, formatter: &mut impl fmt::Write) -> fmt::Result {
        let line = |stage: &str, seconds: f64, cpu: Option<f64>, earlier: Vec<Option<f64>>| {
            let minutes = |seconds: f64| format!("{:>7.1}", seconds / 60.0);
            let cpu = cpu.map_or("?".to_owned(), |cpu| format!("{cpu:.0}"));
            let mut line = format!("{stage:<13}{}{cpu:>9}", minutes(seconds));
            for seconds in earlier {
                let _ = write!(line, " {}", seconds.map_or("      -".to_owned(), minutes));
            }
            line
        };
        write!(formatter, "stage        minutes    CPU s")?;
        if !self.previous.is_empty() {
            write!(
                formatter,
                "   minutes of earlier runs, the last one at the right"
            )?;
        }
        writeln!(formatter)?;
        for time in &self.times {
            let earlier = self.previous.iter().map(|run| {
                let stage = run.stages.iter().find(|stage| stage.stage == time.stage);
                stage.map(|stage| stage.seconds)
            });
            let mark = if time.beside { " *" } else { "" };
            let stage = format!("{}{mark}", time.stage);
            let line = line(&stage, time.seconds, time.cpu_seconds, earlier.collect());
            writeln!(formatter, "{line}")?;
        }
        let earlier = self.previous.iter().map(|run| Some(run.seconds)).collect();
        writeln!(formatter, "{}", line("all", seconds, self.cpu(), earlier))?;
        if self.times.iter().any(|time| time.beside) {
            writeln!(formatter, "* at a low priority beside the tests")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(stage: &str, seconds: f64, cpu_seconds: Option<f64>) -> StageTime {
        StageTime {
            stage: stage.to_owned(),
            seconds,
            cpu_seconds,
            beside: false,
        }
    }

    #[test]
    fn the_table_has_a_line_per_stage_and_a_column_per_earlier_run() {
        let mut stages = Stages::begin();
        stages.times.push(time("format", 3.0, Some(2.4)));
        stages.times.push(time("test", 600.0, Some(720.0)));
        stages.add_beside(time("clippy", 240.0, Some(200.0)));
        stages.previous.push(StoredRun {
            job: "all".to_owned(),
            seconds: 900.0,
            stages: vec![time("test", 660.0, None)],
        });
        let mut table = String::new();
        stages.write_table(840.0, &mut table).unwrap();
        insta::assert_snapshot!(table, @"
        stage        minutes    CPU s   minutes of earlier runs, the last one at the right
        format           0.1        2       -
        test            10.0      720    11.0
        clippy *         4.0      200       -
        all             14.0      922    15.0
        * at a low priority beside the tests
        ");
    }

    #[test]
    fn a_time_that_is_not_known_is_not_added_as_nothing() {
        let mut stages = Stages::begin();
        stages.times.push(time("format", 3.0, Some(2.4)));
        stages.times.push(time("test", 600.0, None));
        assert_eq!(stages.cpu(), None);
    }

    #[test]
    fn a_stage_that_fails_is_recorded_and_named() {
        let mut stages = Stages::begin();
        let failed = stages.run("tidy", || -> anyhow::Result<()> {
            anyhow::bail!("a fault")
        });
        assert_eq!(
            format!("{:#}", failed.unwrap_err()),
            "`tidy` failed: a fault"
        );
        let read = StageTime::read_all(&stages.report()).unwrap();
        assert_eq!(read, stages.times);
        assert_eq!(read.len(), 1);
    }
}
