//! `cargo xtask test`: installs the required programs, runs all tests and prints the counts.
//!
//! It needs a Rust toolchain and a C compiler. [`programs`] installs the programs that the tests need, or reports those
//! that it cannot install. [`binaries`] builds and lists the tests; [`pool`] runs each in a process of its own, under a
//! [`guard`] that ends whatever the test leaves.
//!
//! A test that needs a program checks the variable [`programs::SKIP`] first. If the program is listed there, the test
//! writes its name to the file [`SKIP_LOG`], returns, and is counted as skipped. Without these variables, a test whose
//! program is missing fails.

mod binaries;
mod doctests;
mod groups;
pub(crate) mod guard;
mod options;
mod pool;
pub(crate) mod programs;
mod skips;
pub(crate) mod stress;
mod times;
mod tree;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::ensure;

use crate::adapters;
use crate::clients;
use crate::nats;
use crate::sandboxed::ToolSandbox;
use crate::sdks;
use crate::workspace;
use binaries::{BuiltTests, Test};
use pool::{PoolOptions, TestResult, Verdict};

pub(crate) use options::TestOptions;
pub(crate) use skips::AllowedSkips;

/// Names the file to which a skipped test writes its name and the reason.
const SKIP_LOG: &str = "WINDLASS_SKIP_LOG";

/// The variable that names the folder of the programs under test.
const PROGRAMS: &str = "WINDLASS_PROGRAMS";

/// The variable that puts the tools of all tests of the command into a sandbox.
const SANDBOX: &str = "WINDLASS_TEST_SANDBOX";

/// Runs the selected tests and prints the counts as the last line.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    if arguments == ["--help"] {
        println!("{}", options::USAGE);
        return Ok(());
    }
    let options = TestOptions::read(arguments)?;
    PreparedTests::prepare(options.packages())?.run(&options)
}

/// Built tests, on a machine that has what they need as far as possible.
pub(crate) struct PreparedTests {
    built: BuiltTests,
    all: Vec<Test>,
    provided: ProvidedPrograms,
    /// The folder of the programs that were built with the tests.
    programs: PathBuf,
}

/// The programs around the tests.
struct ProvidedPrograms {
    /// The names of those that could not be provided.
    missing: Vec<&'static str>,
    path: OsString,
}

impl PreparedTests {
    /// Installs what is missing, and builds the tests of these packages; default: of all.
    pub(crate) fn prepare(packages: &[String]) -> anyhow::Result<Self> {
        let provided = ProvidedPrograms::provide()?;
        let built = binaries::build(packages)?;
        let all = built.list()?;
        Ok(Self {
            built,
            all,
            provided,
            programs: workspace::target_folder()?.join("debug"),
        })
    }

    /// Runs the selected tests and prints the counts as the last line.
    pub(crate) fn run(&self, options: &TestOptions) -> anyhow::Result<()> {
        let allowed = AllowedSkips::read()?;
        let is_fault =
            |test: &str, reason: &str| options.strict && !allowed.allow_test(test, reason);
        let results = self.run_rust_tests(options, &[])?;
        times::write(&results, options.jobs)?;
        print!("{}", times::table(&results));
        let mut tally = Tally::default();
        for result in &results {
            match &result.verdict {
                Verdict::Skipped(reason) if is_fault(&result.test, reason) => {
                    tally.fail_skip(&result.test);
                }
                _ => tally.add(result),
            }
        }
        let mut succeeded = true;
        if options.include_doctests() {
            succeeded &= self.run_doctests(options, &mut tally)?;
        }
        if options.include_packages()
            && tally.ran()
            && let Err(why) = test_packages(&mut tally, &is_fault)
        {
            println!("failed: the tests of the packages: {why:#}");
            tally.failed += 1;
        }
        println!("{tally}");
        ensure!(succeeded && tally.failed == 0, "not all tests passed");
        ensure!(tally.ran(), "no test was run");
        Ok(())
    }

    /// Runs the selected tests so that a snapshot that differs leaves a record below `pending`, and does not fail its test.
    /// Returns whether all passed.
    pub(crate) fn record_snapshots(
        &self,
        options: &TestOptions,
        pending: &Path,
    ) -> anyhow::Result<bool> {
        let variables = [
            ("INSTA_UPDATE", "new".into()),
            ("INSTA_FORCE_PASS", "1".into()),
            ("INSTA_PENDING_DIR", pending.into()),
        ];
        let results = self.run_rust_tests(options, &variables)?;
        let failed = |result: &TestResult| matches!(result.verdict, Verdict::Failed(_));
        Ok(!results.iter().any(failed))
    }

    /// Runs the selected tests of the workspace's binaries, and prints those that did not simply pass.
    /// `variables` are set for each test in addition.
    fn run_rust_tests(
        &self,
        options: &TestOptions,
        variables: &[(&'static str, OsString)],
    ) -> anyhow::Result<Vec<TestResult>> {
        let mut tests: Vec<Test> = self.all.clone();
        tests.retain(|test| options.select(test));
        in_good_order(&mut tests);
        println!("running {} tests, {} at once", tests.len(), options.jobs);
        let pool = PoolOptions {
            jobs: options.jobs,
            environment: [self.environment(options.sandbox), variables.to_vec()].concat(),
        };
        let results = pool::run(&self.built, &tests, &pool, &report)?;
        for result in &results {
            if let Verdict::Failed(_) = result.verdict {
                println!("failed: {}", result.test);
            }
        }
        Ok(results)
    }

    /// The variables of the tests.
    fn environment(&self, sandbox: ToolSandbox) -> Vec<(&'static str, OsString)> {
        let mut environment = vec![
            ("PATH", self.provided.path.clone()),
            (programs::SKIP, self.provided.missing.join(",").into()),
            (PROGRAMS, self.programs.clone().into()),
        ];
        if sandbox == ToolSandbox::Workspace {
            environment.push((SANDBOX, "workspace".into()));
        }
        environment
    }

    fn run_doctests(&self, options: &TestOptions, tally: &mut Tally) -> anyhow::Result<bool> {
        let mut command = workspace::cargo_command();
        command
            .args(["test", "--doc", "--no-fail-fast"])
            .args(binaries::selection(options.packages()))
            .envs(self.environment(options.sandbox));
        doctests::run(command, tally)
    }
}

impl ProvidedPrograms {
    /// Installs what is missing, and prints what cannot be installed.
    fn provide() -> anyhow::Result<Self> {
        let mut missing = programs::provide();
        let clients = clients::provide();
        if let Err(why) = &clients {
            println!("skipping the tests with other people's MCP clients: {why:#}");
            missing.extend(clients::PROGRAMS);
        }
        let nats = nats::provide();
        if let Err(why) = &nats {
            println!("skipping the tests of pools: {why:#}");
            missing.push(nats::PROGRAM);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = nats.into_iter().chain(std::env::split_paths(&path));
        let folders: Vec<PathBuf> = folders.chain(clients.ok()).collect();
        Ok(Self {
            missing,
            path: std::env::join_paths(folders)?,
        })
    }
}

/// The tests of limited groups and the longest tests first, so that none of them is alone at the end.
fn in_good_order(tests: &mut [Test]) {
    let previous = times::previous();
    tests.sort_by_key(|test| {
        let taken = previous.get(&test.name).copied().unwrap_or_default();
        (test.group.is_none(), std::cmp::Reverse(taken))
    });
}

/// Prints the result of a test that did not simply pass.
fn report(result: &TestResult) {
    for process in &result.left {
        println!("left running by {}: {process}", result.test);
    }
    match &result.verdict {
        Verdict::Passed => {}
        Verdict::Skipped(reason) => println!("skipped: {}: {reason}", result.test),
        Verdict::Failed(why) => println!("\nFAILED: {}: {}\n", result.test, why.trim_end()),
    }
}

/// Runs the tests of the packages for other languages and of two adapters, and prints their counts.
fn test_packages(tally: &mut Tally, is_fault: &dyn Fn(&str, &str) -> bool) -> anyhow::Result<()> {
    let mut suites = sdks::check()?;
    suites.push(adapters::check()?);
    for suite in suites {
        println!(
            "{}: {} passed, {} failed, {} skipped",
            suite.title, suite.passed, suite.failed, suite.skipped
        );
        tally.passed += suite.passed;
        tally.failed += suite.failed;
        if suite.skipped > 0 && is_fault(&suite.title, "") {
            tally.fail_skip(&suite.title);
        } else {
            tally.skipped += suite.skipped;
        }
    }
    Ok(())
}

/// The counts of all tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
    /// Tests that did not run, because the machine lacks something.
    skipped: usize,
}

impl Tally {
    /// Whether at least one test ran.
    fn ran(self) -> bool {
        self.passed + self.failed > 0
    }

    fn add(&mut self, result: &TestResult) {
        match result.verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(_) => self.failed += 1,
            Verdict::Skipped(_) => self.skipped += 1,
        }
    }

    /// Counts a skip that is not allowed as a failure, and says so.
    fn fail_skip(&mut self, test: &str) {
        println!("failed: {test}: it was skipped, and `xtask/skips.toml` does not list it");
        self.failed += 1;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(
            formatter,
            "{passed} passed, {failed} failed, {skipped} skipped"
        )
    }
}
