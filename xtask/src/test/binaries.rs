//! Builds the tests, and lists them.
//!
//! A whole workspace is always built with the same selection of packages: another selection has other features, and
//! compiles other libraries again.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use cargo_metadata::Message;

use crate::test::groups;
use crate::workspace;

/// A program that contains tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestBinary {
    /// Its package and its target, such as `windlass-process it`; a library's target is `lib`.
    pub(super) name: String,
    pub(super) package: String,
    pub(super) program: PathBuf,
    /// The folder of its package, in which its tests run.
    pub(super) folder: PathBuf,
}

/// One test, to be run in a process of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Test {
    /// The binary's name and the test's path, such as `windlass-process it sweep::nothing_is_left`.
    pub(super) name: String,
    /// The path alone.
    pub(super) path: String,
    /// The index of its binary.
    pub(super) binary: usize,
    /// The index of its group, if it has one.
    pub(super) group: Option<usize>,
}

/// Everything that the tests need, built.
#[derive(Debug)]
pub(super) struct BuiltTests {
    pub(super) binaries: Vec<TestBinary>,
}

/// Builds the tests and the programs of these packages; default: of all.
pub(super) fn build(packages: &[String]) -> anyhow::Result<BuiltTests> {
    let mut command = workspace::cargo_command();
    command.args(["test", "--no-run"]).args(selection(packages));
    println!("$ {}", workspace::shown(&command));
    let mut child = command
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo")?;
    let stdout = child.stdout.take().context("cargo has no stdout")?;
    let mut binaries = Vec::new();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        if let Message::CompilerArtifact(artifact) = message.context("cargo's report")?
            && artifact.profile.test
            && let Some(program) = artifact.executable
        {
            let folder = artifact.manifest_path.parent();
            let folder = folder.context("a manifest without a folder")?;
            let package = artifact.package_id.to_string();
            let target = if artifact.target.is_lib() {
                "lib"
            } else {
                &artifact.target.name
            };
            binaries.push((package, target.to_owned(), program, folder.to_owned()));
        }
    }
    let status = child.wait().context("cannot wait for cargo")?;
    ensure!(status.success(), "the tests cannot be built");
    let packages = package_names()?;
    let mut binaries = binaries
        .into_iter()
        .map(|(package, target, program, folder)| {
            let package = packages.get(&package).cloned();
            let package = package.context("cargo built a package that it does not know")?;
            Ok(TestBinary {
                name: format!("{package} {target}"),
                package,
                program: program.into_std_path_buf(),
                folder: folder.into_std_path_buf(),
            })
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    binaries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(BuiltTests { binaries })
}

/// The arguments that select these packages; default: all.
pub(super) fn selection(packages: &[String]) -> Vec<&str> {
    if packages.is_empty() {
        return vec!["--workspace"];
    }
    packages
        .iter()
        .flat_map(|package| ["--package", package])
        .collect()
}

/// The names of the workspace's packages by their ids.
fn package_names() -> anyhow::Result<BTreeMap<String, String>> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(workspace::root())
        .no_deps()
        .exec()
        .context("cannot ask cargo for the packages")?;
    let packages = metadata.packages.into_iter();
    Ok(packages
        .map(|package| (package.id.to_string(), package.name.to_string()))
        .collect())
}

impl BuiltTests {
    /// The tests of all binaries. Those marked `#[ignore]` are left out: other tests or chores run them.
    pub(super) fn list(&self) -> anyhow::Result<Vec<Test>> {
        let mut tests = Vec::new();
        for (index, binary) in self.binaries.iter().enumerate() {
            let ignored = binary.list(&["--ignored"])?;
            let all = binary.list(&[])?.into_iter();
            tests.extend(all.filter(|path| !ignored.contains(path)).map(|path| {
                let name = format!("{} {path}", binary.name);
                Test {
                    group: groups::of(&name),
                    name,
                    path,
                    binary: index,
                }
            }));
        }
        Ok(tests)
    }

    /// The command that runs a test.
    pub(super) fn command(&self, test: &Test) -> Command {
        let mut command = self.binaries[test.binary].command();
        // Uncaptured: a test that is killed has no chance to print what was captured.
        command.args([test.path.as_str(), "--exact", "--nocapture"]);
        command
    }
}

impl TestBinary {
    fn list(&self, arguments: &[&str]) -> anyhow::Result<Vec<String>> {
        let mut command = self.command();
        command
            .args(["--list", "--format", "terse"])
            .args(arguments);
        let output = command
            .output()
            .with_context(|| format!("cannot run `{}`", self.program.display()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "`{}` lists no tests", self.name);
        let tests = said.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(tests.map(str::to_owned).collect())
    }

    /// A command for the program, in the environment that cargo gives to tests.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        workspace::forget_own_package(&mut command);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_PKG_NAME", &self.package);
        command
    }
}
