//! `cargo xtask ci`: the checks before a merge, with the time of each.
//!
//! Start at [`run`]. Without an argument all stages run on one machine: lints at a low priority beside the tests, which
//! wait more than they compute. The jobs [`Job`] divide the same stages among several machines.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::sandboxed::ToolSandbox;
use crate::stages::{StageTime, Stages};
use crate::test::{AllowedSkips, PreparedTests, TestOptions};
use crate::{artefacts, conformance, lint, tidy, workspace};

/// A part of the checks, for a machine of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Check,
    Test,
    Package,
}

/// The beginning of the names of the tests of terminals that the command drives.
const TERMINALS: &str = "windlass-command-tests it term_";

/// Runs all stages, or those of one job, up to the first failure; prints the times of those that ran.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let job = match arguments {
        [] => None,
        [job] => Some(Job::named(job)?),
        [_, other, ..] => bail!("`ci` takes one job, but `{other}` was given too"),
    };
    let mut stages = Stages::begin();
    let result = match job {
        None => run_all(&mut stages),
        Some(Job::Check) => check(&mut stages).and_then(|()| lint::run_stages(&mut stages)),
        Some(Job::Test) => build(&mut stages).and_then(|tests| test(&mut stages, &tests)),
        Some(Job::Package) => stages
            .run("build", || {
                workspace::cargo(["build", "--workspace", "--bins"])
            })
            .and_then(|()| package(&mut stages)),
    };
    stages.finish(job.map_or("all", Job::name))?;
    result
}

impl Job {
    const ALL: [Self; 3] = [Self::Check, Self::Test, Self::Package];

    fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Test => "test",
            Self::Package => "package",
        }
    }

    fn named(name: &str) -> anyhow::Result<Self> {
        let job = Self::ALL.into_iter().find(|job| job.name() == name);
        job.with_context(|| format!("`{name}` is not a job; use `check`, `test` or `package`"))
    }
}

fn run_all(stages: &mut Stages) -> anyhow::Result<()> {
    check(stages)?;
    let tests = build(stages)?;
    let lints = LintsBeside::start()?;
    let tested = test(stages, &tests).and_then(|()| package(stages));
    let linted = lints.finish(stages);
    tested.and(linted)
}

/// What needs no build of the workspace.
fn check(stages: &mut Stages) -> anyhow::Result<()> {
    stages.run("format", || workspace::cargo(["fmt", "--all", "--check"]))?;
    stages.run("tidy", tidy::check)
}

/// Builds the tests and every program, and installs what they need.
fn build(stages: &mut Stages) -> anyhow::Result<PreparedTests> {
    stages.run("build", || PreparedTests::prepare(&[]))
}

/// The tests, and the suites that use the programs built for them.
fn test(stages: &mut Stages, tests: &PreparedTests) -> anyhow::Result<()> {
    let run = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        tests.run(&TestOptions::read(&words)?)
    };
    stages.run("test", || run(&["--strict"]))?;
    stages.run("sandbox", || {
        run(&["--strict", "--sandbox", "workspace", TERMINALS])
    })?;
    stages.run("conformance", || {
        conformance::check(&workspace::built("windlass")?, ToolSandbox::Off)
    })
}

/// Packs the tested program, and tries every package.
fn package(stages: &mut Stages) -> anyhow::Result<()> {
    stages.run("package", || {
        artefacts::pack_and_check(&workspace::built("windlass")?, &AllowedSkips::read()?)
    })
}

/// The lints in a process beside the tests. What they print is shown at the end.
struct LintsBeside {
    child: Child,
    folder: tempfile::TempDir,
}

impl LintsBeside {
    fn start() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let output = File::create(folder.path().join("output"))?;
        let child = Command::new(workspace::own_program()?)
            .args(["lint", "--beside"])
            .arg(folder.path().join("stages"))
            .stdin(Stdio::null())
            .stderr(output.try_clone()?)
            .stdout(output)
            .spawn()
            .context("cannot start the lints")?;
        Ok(Self { child, folder })
    }

    fn finish(mut self, stages: &mut Stages) -> anyhow::Result<()> {
        let status = self.child.wait().context("cannot wait for the lints")?;
        let file = |name: &str| std::fs::read_to_string(self.folder.path().join(name));
        print!("{}", file("output")?);
        for time in StageTime::read_all(&file("stages").unwrap_or_default())? {
            stages.add_beside(time);
        }
        ensure!(status.success(), "the lints failed");
        Ok(())
    }
}

impl Drop for LintsBeside {
    fn drop(&mut self) {
        // Needed after an error only.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes the times of the lints for the process that runs the tests.
pub(crate) fn report(stages: &Stages, file: &Path) -> anyhow::Result<()> {
    std::fs::write(file, stages.report())
        .with_context(|| format!("cannot write `{}`", file.display()))
}
