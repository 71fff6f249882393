//! `cargo xtask platforms`: checks on Linux that everything compiles for the platforms that CI does not run on.
//!
//! Start at [`run`]. Every crate and every test of the workspace is type-checked for each of [`PLATFORMS`]; nothing is
//! linked or run. [`tools`] gets a compiler with the sources of its standard library, and a C compiler for the two
//! dependencies in C.

mod tools;

use std::collections::BTreeSet;
use std::fmt;
use std::io::BufReader;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{Message, MetadataCommand, Package, Target, TargetKind};

use crate::workspace;

use tools::Tools;

/// A platform that is checked.
#[derive(Debug)]
struct CheckedPlatform {
    /// The Rust target.
    triple: &'static str,
    /// The name that the C compiler has for it.
    zig: &'static str,
}

const PLATFORMS: &[CheckedPlatform] = &[
    CheckedPlatform {
        triple: "aarch64-apple-darwin",
        zig: "aarch64-macos",
    },
    CheckedPlatform {
        triple: "x86_64-apple-darwin",
        zig: "x86_64-macos",
    },
    CheckedPlatform {
        triple: "aarch64-unknown-linux-gnu",
        zig: "aarch64-linux-gnu.2.28",
    },
];

/// Runs the chore; arguments name some of the platforms.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "the compiler for this chore runs on Linux on x86_64 only"
    );
    let platforms = chosen(arguments)?;
    let tools = tools::provide(&workspace::root().join("target/platforms"))?;
    let metadata = MetadataCommand::new()
        .current_dir(workspace::root())
        .no_deps()
        .exec()
        .context("cannot ask cargo for the workspace's metadata")?;
    let units: BTreeSet<Unit> = metadata
        .workspace_packages()
        .into_iter()
        .flat_map(units_of)
        .collect();
    let mut faults = Vec::new();
    for platform in platforms {
        let outcome = check(platform, &tools)?;
        let compiled = units.intersection(&outcome.compiled).count();
        println!(
            "{}: {compiled} of {} targets compile",
            platform.triple,
            units.len()
        );
        faults.extend(faults_of(platform, &units, &outcome));
    }
    for fault in &faults {
        println!("error: {fault}");
    }
    ensure!(
        faults.is_empty(),
        "not everything compiles for every platform"
    );
    Ok(())
}

fn chosen(arguments: &[String]) -> anyhow::Result<Vec<&'static CheckedPlatform>> {
    if arguments.is_empty() {
        return Ok(PLATFORMS.iter().collect());
    }
    let find = |argument: &String| {
        let mut platforms = PLATFORMS.iter();
        let found = platforms.find(|platform| platform.triple == argument);
        found.with_context(|| {
            let known: Vec<_> = PLATFORMS.iter().map(|platform| platform.triple).collect();
            format!(
                "`{argument}` is not a checked platform; these are: {}",
                known.join(", ")
            )
        })
    };
    arguments.iter().map(find).collect()
}

/// A library, program or test of the workspace, or the unit tests of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Unit {
    package: String,
    kind: String,
    name: String,
    has_unit_tests: bool,
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            package,
            kind,
            name,
            has_unit_tests,
        } = self;
        let tests = if *has_unit_tests {
            " with its unit tests"
        } else {
            ""
        };
        write!(formatter, "{kind} `{name}` of `{package}`{tests}")
    }
}

impl Unit {
    fn new(package: &str, target: &Target, has_unit_tests: bool) -> Self {
        let kinds: Vec<String> = target.kind.iter().map(ToString::to_string).collect();
        Self {
            package: package.to_owned(),
            kind: kinds.join(","),
            name: target.name.clone(),
            has_unit_tests,
        }
    }
}

/// The units that `cargo check --all-targets` must compile for a platform. Build scripts and procedural macros run here.
fn units_of(package: &Package) -> Vec<Unit> {
    let is_elsewhere = |target: &&Target| {
        let here = [TargetKind::CustomBuild, TargetKind::ProcMacro];
        !target.kind.iter().any(|kind| here.contains(kind))
    };
    let mut units = Vec::new();
    for target in package.targets.iter().filter(is_elsewhere) {
        let is_test = target.is_test() || target.is_bench();
        if !is_test {
            units.push(Unit::new(&package.name, target, false));
        }
        if is_test || target.test {
            units.push(Unit::new(&package.name, target, true));
        }
    }
    units
}

/// The result for one platform.
#[derive(Debug, Default)]
struct CheckOutcome {
    compiled: BTreeSet<Unit>,
    /// The packages and targets with errors, as cargo names them.
    broken: BTreeSet<(String, String)>,
    succeeded: bool,
}

fn check(platform: &CheckedPlatform, tools: &Tools) -> anyhow::Result<CheckOutcome> {
    let mut command = workspace::cargo_command();
    command
        .args(["check", "-Z", "build-std=std,panic_abort,test"])
        .args(["--target", platform.triple])
        .args(["--workspace", "--all-targets", "--keep-going"])
        .arg("--message-format=json")
        .stdout(Stdio::piped());
    tools.configure(&mut command, platform)?;
    read(command)
}

/// Runs cargo, and reads its messages.
fn read(mut command: Command) -> anyhow::Result<CheckOutcome> {
    let said = workspace::shown(&command);
    println!("$ {said}");
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run `{said}`"))?;
    let Some(stdout) = child.stdout.take() else {
        bail!("`{said}` has no stdout");
    };
    let mut outcome = CheckOutcome::default();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        match message? {
            Message::CompilerArtifact(artifact) => {
                let package = package_name(&artifact.package_id.repr);
                let unit = Unit::new(package, &artifact.target, artifact.profile.test);
                outcome.compiled.insert(unit);
            }
            Message::CompilerMessage(message) => {
                eprint!(
                    "{}",
                    message.message.rendered.as_deref().unwrap_or_default()
                );
                if message.message.level == DiagnosticLevel::Error {
                    let package = package_name(&message.package_id.repr).to_owned();
                    outcome.broken.insert((package, message.target.name));
                }
            }
            _ => {}
        }
    }
    outcome.succeeded = child.wait()?.success();
    Ok(outcome)
}

/// The name in an id such as `path+file:///folder/name#0.1.0` or `path+file:///folder#name@0.1.0`.
fn package_name(id: &str) -> &str {
    let (place, rest) = id.rsplit_once('#').unwrap_or(("", id));
    match rest.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

/// Everything that was not compiled for a platform, by name.
fn faults_of(
    platform: &CheckedPlatform,
    units: &BTreeSet<Unit>,
    outcome: &CheckOutcome,
) -> Vec<String> {
    let triple = platform.triple;
    let broken = &outcome.broken;
    let mut faults: Vec<String> = broken
        .iter()
        .map(|(package, name)| format!("{triple}: `{name}` of `{package}` does not compile"))
        .collect();
    let is_named = |unit: &Unit| broken.contains(&(unit.package.clone(), unit.name.clone()));
    let missing = units.difference(&outcome.compiled);
    faults.extend(missing.filter(|unit| !is_named(unit)).map(|unit| {
        format!("{triple}: {unit} was not checked, for something that it uses does not compile")
    }));
    if faults.is_empty() && !outcome.succeeded {
        faults.push(format!("{triple}: cargo failed"));
    }
    faults
}

#[cfg(test)]
#[path = "platforms_tests.rs"]
mod tests;
