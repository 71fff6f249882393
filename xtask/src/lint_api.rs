//! `cargo xtask lint-api`: runs third-party linters and generators on
//! `openapi.json`, `schemas/`, `proto/` and the tools' schemas.
//!
//! Start at [`run`]. A finding is a fault, unless [`ACCEPTED`] has a reason to
//! accept it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::{packages, workspace};

const NPM: &[&str] = &[
    "@redocly/cli@latest",
    "@stoplight/spectral-cli@latest",
    "ajv@latest",
    "ajv-formats@latest",
    "@bufbuild/buf@latest",
];
const PYPI: &[&str] = &["openapi-python-client", "ruff"];

/// Accepted findings: the linter, a part of its message, and the reason.
const ACCEPTED: &[(&str, &str, &str)] = &[
    (
        "spectral",
        "info-contact",
        "there is nobody to name but the project itself",
    ),
    (
        "ajv",
        "llama-cpp.json",
        "its grammars need every type of `input` in a list",
    ),
    (
        "buf",
        "PACKAGE_",
        "the package is called as the clients of opencode know it",
    ),
    (
        "buf",
        "RPC_",
        "messages are called as the clients of opencode know them",
    ),
];

/// A tool with the kinds of parameters that schemas differ in.
const CONFIG: &str = r#"
[conversation.tools.sample]
source = "local"
summary = "A tool with many kinds of parameters."
command = { program = "true", args = ["{{tool.arguments.name}}"] }
spawn.actions = ["spawn", "fetch", "apply", "abort"]
parameters.name = { type = "string", required = true }
parameters.mode = { type = "string", enum = ["fast", "slow"], default = "fast" }
parameters.count = { type = "integer" }
parameters.ratio = { type = "number" }
parameters.deep = { type = "boolean" }
parameters.files = { type = "array", items = { type = "string" } }
"#;

const DIALECTS: [&str; 9] = [
    "json-schema",
    "anthropic",
    "openai",
    "openai-strict",
    "gemini",
    "gemini-legacy",
    "mcp",
    "ollama",
    "llama-cpp",
];

/// Runs all of them; fails if there are faults.
pub(crate) fn run() -> anyhow::Result<()> {
    let linters = Linters::provide()?;
    let windlass = workspace::build_windlass()?;
    let folder = std::env::temp_dir().join(format!("windlass-lint-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let findings = linters.all(&windlass, &folder);
    // A private directory in the temporary directory: it does no harm if it
    // stays.
    let _ = std::fs::remove_dir_all(&folder);
    let mut faults = 0;
    for finding in findings? {
        let reason = finding.reason();
        faults += usize::from(reason.is_none());
        let verdict = reason.map_or("FAULT".to_owned(), |reason| format!("stands: {reason}"));
        println!("{}: {} ({verdict})", finding.linter, finding.text);
    }
    ensure!(faults == 0, "{faults} findings have no reason to stand");
    println!("lint-api: nothing to mend");
    Ok(())
}

/// A message of a linter.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    linter: &'static str,
    text: String,
}

impl Finding {
    /// The reason why it is accepted.
    fn reason(&self) -> Option<&'static str> {
        let mut accepted = ACCEPTED.iter();
        let found =
            accepted.find(|(linter, part, _)| *linter == self.linter && self.text.contains(part));
        found.map(|(.., reason)| *reason)
    }
}

/// The installed linters.
struct Linters {
    /// The directory of npm packages.
    npm: PathBuf,
    /// The directory of Node.
    node: PathBuf,
    /// A Python with the installed packages.
    python: PathBuf,
}

impl Linters {
    fn provide() -> anyhow::Result<Self> {
        let folder = packages::folder("windlass-linters")?;
        Ok(Self {
            npm: packages::npm(&folder.join("npm"), NPM)?,
            node: packages::node()?,
            python: packages::pypi(&folder.join("python"), PYPI)?,
        })
    }

    fn all(&self, windlass: &Path, folder: &Path) -> anyhow::Result<Vec<Finding>> {
        let mut findings = self.redocly()?;
        findings.extend(self.spectral(folder)?);
        findings.extend(self.generator(folder)?);
        findings.extend(self.schemas(windlass, folder)?);
        findings.extend(self.buf(folder)?);
        Ok(findings)
    }

    fn redocly(&self) -> anyhow::Result<Vec<Finding>> {
        let output = self.linked("redocly", |command| {
            command
                .arg("lint")
                .arg(openapi())
                .args(["--format", "json", "--max-problems", "1000"])
                .env("REDOCLY_TELEMETRY", "off")
                .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
        })?;
        let said = json(&output, "redocly")?;
        let problems = said["problems"].as_array().cloned().unwrap_or_default();
        let finding = |problem: &Value| Finding {
            linter: "redocly",
            text: format!(
                "{}: {} at {}",
                words(&problem["ruleId"]),
                words(&problem["message"]),
                words(&problem["location"][0]["pointer"])
            ),
        };
        Ok(problems.iter().map(finding).collect())
    }

    fn spectral(&self, folder: &Path) -> anyhow::Result<Vec<Finding>> {
        let rules = folder.join("spectral.yaml");
        std::fs::write(&rules, "extends: [\"spectral:oas\"]\n")?;
        let output = self.linked("spectral", |command| {
            command
                .args(["lint", "--quiet", "--format", "json", "--ruleset"])
                .arg(&rules)
                .arg(openapi());
        })?;
        let said = json(&output, "spectral")?;
        let problems = said.as_array().cloned().unwrap_or_default();
        let finding = |problem: &Value| Finding {
            linter: "spectral",
            text: format!(
                "{}: {} at {}",
                words(&problem["code"]),
                words(&problem["message"]),
                problem["path"]
            ),
        };
        Ok(problems.iter().map(finding).collect())
    }

    /// Generates a Python client from the description, and imports all of it.
    fn generator(&self, folder: &Path) -> anyhow::Result<Vec<Finding>> {
        let client = folder.join("generated_client");
        let programs = self.python.parent().context("a program lies in a folder")?;
        let output = Command::new(programs.join("openapi-python-client"))
            .args(["generate", "--meta", "none", "--path"])
            .arg(openapi())
            .arg("--output-path")
            .arg(&client)
            .env("PATH", packages::path_with(programs)?)
            .output()
            .context("cannot run openapi-python-client")?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let finding = |text: String| Finding {
            linter: "openapi-python-client",
            text,
        };
        if !output.status.success() || said.contains("Warning(s)") || said.contains("Error(s)") {
            return Ok(vec![finding(
                said.split_whitespace().collect::<Vec<_>>().join(" "),
            )]);
        }
        let import = "import importlib, pkgutil, generated_client as client\n\
                      for module in pkgutil.walk_packages(client.__path__, 'generated_client.'):\n    \
                      importlib.import_module(module.name)";
        let output = Command::new(&self.python)
            .args(["-c", import])
            .current_dir(folder)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let fault = (!output.status.success()).then(|| finding(said.trim().to_owned()));
        Ok(fault.into_iter().collect())
    }

    /// The schema files, and the tools' schemas in every dialect.
    fn schemas(&self, windlass: &Path, folder: &Path) -> anyhow::Result<Vec<Finding>> {
        let script = self.npm.join("schemas.mjs");
        std::fs::copy(workspace::root().join("xtask/lint/schemas.mjs"), &script)?;
        let config = folder.join("sample.toml");
        std::fs::write(&config, CONFIG)?;
        let mut command = Command::new(self.node.join("node"));
        command.arg(script);
        for file in std::fs::read_dir(workspace::root().join("schemas"))? {
            command.arg(file?.path());
        }
        for dialect in DIALECTS {
            let output = Command::new(windlass)
                .args(["tools", "--dialect", dialect, "--config"])
                .arg(&config)
                .current_dir(folder)
                .env("HOME", folder)
                .output()
                .context("cannot run `windlass tools`")?;
            ensure!(
                output.status.success(),
                "`windlass tools` failed: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            let file = folder.join(format!("{dialect}.json"));
            std::fs::write(&file, output.stdout)?;
            command.arg(file);
        }
        let output = command.output().context("cannot run ajv")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<Value> = said
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let count = lines.iter().find_map(|line| line["count"].as_u64());
        let wanted = DIALECTS.len() * 4;
        ensure!(
            count.is_some_and(|count| count > wanted as u64),
            "ajv compiled {count:?} schemas: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let faults = lines.iter().filter(|line| line["message"].is_string());
        let finding = |line: &Value| Finding {
            linter: "ajv",
            text: format!(
                "{} of {}: {}",
                words(&line["name"]),
                Path::new(words(&line["file"]))
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy(),
                words(&line["message"])
            ),
        };
        Ok(faults.map(finding).collect())
    }

    fn buf(&self, folder: &Path) -> anyhow::Result<Vec<Finding>> {
        let proto = folder.join("proto");
        std::fs::create_dir_all(&proto)?;
        std::fs::write(
            proto.join("buf.yaml"),
            "version: v2\nlint:\n  use: [STANDARD]\n",
        )?;
        let file = "tool.proto";
        std::fs::copy(workspace::root().join("proto").join(file), proto.join(file))?;
        let output = self.linked("buf", |command| {
            command
                .args(["lint", "--error-format", "json"])
                .current_dir(&proto)
                .env("HOME", folder);
        })?;
        let said = String::from_utf8_lossy(&output.stdout);
        let problems = said
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let finding = |problem: Value| Finding {
            linter: "buf",
            text: format!(
                "{}: {}",
                words(&problem["type"]),
                words(&problem["message"])
            ),
        };
        let findings: Vec<Finding> = problems.map(finding).collect();
        ensure!(
            output.status.success() || !findings.is_empty(),
            "buf failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(findings)
    }

    /// Runs a program of an npm package.
    fn linked(&self, name: &str, set_up: impl FnOnce(&mut Command)) -> anyhow::Result<Output> {
        let mut command = Command::new(self.npm.join("node_modules/.bin").join(name));
        command.env("PATH", packages::path_with(&self.node)?);
        set_up(&mut command);
        command
            .output()
            .with_context(|| format!("cannot run `{name}`"))
    }
}

fn openapi() -> PathBuf {
    workspace::root().join("openapi.json")
}

/// The JSON output of a linter, which may follow other text.
fn json(output: &Output, linter: &str) -> anyhow::Result<Value> {
    let said = String::from_utf8_lossy(&output.stdout);
    let start = said.find(['{', '[']).unwrap_or(said.len());
    let mut values = serde_json::Deserializer::from_str(&said[start..]).into_iter();
    let value = values.next().and_then(Result::ok);
    value.with_context(|| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        format!("{linter} said nothing that can be read: {said}{complaint}")
    })
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
#[path = "lint_api_tests.rs"]
mod tests;
