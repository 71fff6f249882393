//! `cargo xtask sdks`: the tests and type checks of the Python and TypeScript packages.
//!
//! [`check`] is the part that `cargo xtask test` runs: everything with the machine's own Python and Node, and the tests
//! of tools with the other Pythons. [`run`] runs everything with every Python. Missing Pythons are reported.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::{packages, workspace};

/// The type checkers of the Python package, and `uv` to find other Pythons.
const CHECKERS: &[&str] = &["mypy==2.4.1", "pyright==1.1.414", "uv==0.13.7"];
/// The supported Pythons.
const PYTHONS: [&str; 4] = ["3.10", "3.11", "3.12", "3.13"];
/// The tests that every Python runs in `cargo xtask test`.
const BRIEF: &str = "tests.test_tools";

/// Results of the tests of one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackageTests {
    pub(crate) title: String,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl PackageTests {
    /// A suite that cannot run on this machine.
    fn skipped(title: &str, why: &anyhow::Error) -> Self {
        println!("skipped: the tests of the package for {title}: {why:#}");
        Self {
            title: title.to_owned(),
            passed: 0,
            failed: 0,
            skipped: 1,
        }
    }
}

/// Runs every test with every Python, and with Node.
pub(crate) fn run() -> anyhow::Result<()> {
    let windlass = workspace::build_windlass()?;
    tell(&suites(&windlass, &[])?)
}

/// The tests for `cargo xtask test`. Tests of missing programs are skipped and reported.
pub(crate) fn check() -> anyhow::Result<Vec<PackageTests>> {
    let windlass = workspace::built("windlass")?;
    suites(&windlass, &[BRIEF])
}

fn tell(suites: &[PackageTests]) -> anyhow::Result<()> {
    for suite in suites {
        println!(
            "{}: {} passed, {} failed",
            suite.title, suite.passed, suite.failed
        );
    }
    let well = suites.iter().all(|suite| suite.failed == 0);
    ensure!(well, "not all tests of the packages passed");
    Ok(())
}

/// Runs the tests. `brief` lists the modules for Pythons other than the machine's own; empty: all.
fn suites(windlass: &Path, brief: &[&str]) -> anyhow::Result<Vec<PackageTests>> {
    if let Err(why) = Command::new("python3").arg("--version").output() {
        return Ok(vec![
            PackageTests::skipped("Python", &why.into()),
            typescript_or_skipped(windlass)?,
        ]);
    }
    let mut suites = vec![python("python3", "Python", windlass, &[])?];
    match packages::pypi(&packages::folder("windlass-checkers")?, CHECKERS) {
        Err(why) => suites.push(PackageTests::skipped(
            "Python, its types and other versions",
            &why,
        )),
        Ok(checkers) => {
            suites.push(types(&checkers)?);
            let own = Command::new("python3").arg("--version").output()?;
            let own = String::from_utf8_lossy(&own.stdout).into_owned();
            let is_own = |version: &str| own.starts_with(&format!("Python {version}."));
            for version in PYTHONS.into_iter().filter(|version| !is_own(version)) {
                match other_python(&checkers, version) {
                    None => println!("not run with Python {version}: it is not there"),
                    Some(other) => {
                        let title = format!("Python {version}");
                        suites.push(python(&other, &title, windlass, brief)?);
                    }
                }
            }
        }
    }
    suites.push(typescript_or_skipped(windlass)?);
    Ok(suites)
}

fn typescript_or_skipped(windlass: &Path) -> anyhow::Result<PackageTests> {
    let npm = Command::new("npm").arg("--version").output();
    let npm = npm.context("cannot run `npm`");
    match npm.and_then(|_| install_typescript()) {
        Ok(folder) => typescript(&folder, windlass),
        Err(why) => Ok(PackageTests::skipped("TypeScript", &why)),
    }
}

fn python_folder() -> PathBuf {
    workspace::root().join("python")
}

/// Runs the tests of these modules; default: all.
fn python(
    python: &str,
    title: &str,
    windlass: &Path,
    modules: &[&str],
) -> anyhow::Result<PackageTests> {
    let mut command = Command::new(python);
    command.args(["-W", "error", "-m", "unittest"]);
    match modules {
        [] => command.args(["discover", "-s", ".", "-t", "."]),
        modules => command.args(modules),
    };
    command
        .current_dir(python_folder())
        .env("PYTHONPATH", python_folder().join("src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("WINDLASS_BIN", windlass);
    println!("$ {python} -m unittest {}", modules.join(" "));
    let output = command
        .output()
        .with_context(|| format!("cannot run `{python}`"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let suite = read_unittest(&said).with_context(|| format!("`{python}` ran no tests: {said}"))?;
    if suite.1 > 0 || !output.status.success() {
        println!("{said}");
    }
    let failed = suite.1.max(usize::from(!output.status.success()));
    Ok(PackageTests {
        title: title.to_owned(),
        passed: suite.0 - suite.1,
        failed,
        skipped: 0,
    })
}

/// The number of tests that ran, and of those that failed.
fn read_unittest(said: &str) -> Option<(usize, usize)> {
    let number = |text: &str| -> Option<usize> { text.split_whitespace().next()?.parse().ok() };
    let ran = said
        .lines()
        .rev()
        .find_map(|line| number(line.strip_prefix("Ran ")?))?;
    let last = said.lines().rev().find(|line| !line.trim().is_empty())?;
    let count = |kind: &str| -> usize {
        let after = last.split_once(kind).map(|(_, after)| after);
        let digits = after.map(|after| {
            after
                .chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        });
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    Some((ran, count("failures=") + count("errors=")))
}

/// Runs mypy in strict mode, and pyright.
fn types(checkers: &Path) -> anyhow::Result<PackageTests> {
    let mut failed = 0;
    for arguments in [["-m", "mypy"], ["-m", "pyright"]] {
        println!("$ python {}", arguments.join(" "));
        let output = Command::new(checkers)
            .args(arguments)
            .current_dir(python_folder())
            .output()
            .context("cannot run the checkers")?;
        if !output.status.success() {
            println!("{}", String::from_utf8_lossy(&output.stdout));
            failed += 1;
        }
    }
    Ok(PackageTests {
        title: "Python's types (mypy --strict, pyright)".to_owned(),
        passed: 2 - failed,
        failed,
        skipped: 0,
    })
}

/// A Python of that version.
fn other_python(checkers: &Path, version: &str) -> Option<String> {
    let uv = checkers.with_file_name("uv");
    let pyenv = std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv/versions"));
    let pyenv = pyenv.and_then(|folder| std::fs::read_dir(folder).ok());
    let named = pyenv
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut named = named.filter(|path| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        name.starts_with(&format!("{version}."))
    });
    if let Some(folder) = named.next() {
        return Some(folder.join("bin/python3").display().to_string());
    }
    let found = Command::new(uv).args(["python", "find", version]).output();
    let found = found.ok().filter(|found| found.status.success());
    found.map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned())
}

/// Compiles the TypeScript package and runs its tests.
fn typescript(folder: &Path, windlass: &Path) -> anyhow::Result<PackageTests> {
    println!("$ npm test");
    let output = node_command("npm")?
        .args(["test"])
        .current_dir(folder)
        .env("WINDLASS_BIN", windlass)
        .output()
        .context("cannot run `npm test`")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let count = |kind: &str| -> Option<usize> {
        let mut lines = said.lines().rev();
        lines.find_map(|line| {
            line.strip_prefix(&format!("# {kind} "))?
                .trim()
                .parse()
                .ok()
        })
    };
    let passed = count("pass").with_context(|| format!("`npm test` ran no tests: {said}"))?;
    let failed = count("fail")
        .unwrap_or(0)
        .max(usize::from(!output.status.success()));
    if failed > 0 {
        println!("{said}");
    }
    Ok(PackageTests {
        title: "TypeScript".to_owned(),
        passed,
        failed,
        skipped: 0,
    })
}

/// Installs the compiler of the TypeScript package if it is missing; returns the package's directory.
pub(crate) fn install_typescript() -> anyhow::Result<PathBuf> {
    let folder = workspace::root().join("typescript");
    let lock = std::fs::read_to_string(folder.join("package-lock.json"))?;
    // Written last: it marks the installation as complete.
    let list = folder.join("node_modules/.windlass-installed");
    if std::fs::read_to_string(&list).is_ok_and(|there| there == lock) {
        return Ok(folder);
    }
    println!("$ npm ci");
    let output = node_command("npm")?
        .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&folder)
        .output()
        .context("cannot run `npm ci`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`npm ci` failed: {said}");
    std::fs::write(list, lock)?;
    Ok(folder)
}

/// Compiles the TypeScript package; returns its directory.
pub(crate) fn build_typescript() -> anyhow::Result<PathBuf> {
    let folder = install_typescript()?;
    let built = node_command("npm")?
        .args(["run", "build"])
        .current_dir(&folder)
        .output()
        .context("cannot run `npm run build`")?;
    let said = String::from_utf8_lossy(&built.stdout);
    ensure!(
        built.status.success(),
        "the package cannot be built: {said}"
    );
    Ok(folder)
}

/// A program of Node 20 or later: the machine's own, or one from npm.
pub(crate) fn node_command(program: &str) -> anyhow::Result<Command> {
    let mut command = Command::new(program);
    let version = Command::new("node").arg("--version").output().ok();
    let version = version.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
    let major = version
        .as_deref()
        .and_then(|version| version.trim_start_matches('v').split('.').next());
    let major = major.and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 20) {
        command.env("PATH", packages::path_with(&packages::node()?)?);
    }
    Ok(command)
}

#[cfg(test)]
#[path = "sdks_tests.rs"]
mod tests;
