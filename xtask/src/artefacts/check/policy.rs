//! Checks the dependencies against `deny.toml`.
//!
//! `cargo deny` is better at this, but npm and `PyPI` have no current build of
//! it. So the important rules are checked here too: licences, banned packages,
//! and sources.

use std::process::Command;

use anyhow::{Context, ensure};
use toml::{Table, Value};

use super::{Artefacts, Checked};
use crate::artefacts::dependencies::{Dependencies, Dependency};
use crate::artefacts::{archive, platform};
use crate::workspace;

/// Checks the program's dependencies with our own code.
pub(super) fn check(_: &Artefacts) -> anyhow::Result<Checked> {
    let policy = Policy::read()?;
    let dependencies = Dependencies::read(platform::here()?.triple)?;
    let faults: Vec<String> = dependencies
        .packages
        .iter()
        .flat_map(|package| policy.faults(package))
        .collect();
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    let count = dependencies.packages.len();
    Ok(Checked::Well(format!(
        "{count} packages are as `deny.toml` wants them"
    )))
}

/// Runs `cargo deny`, if it is installed.
pub(super) fn cargo_deny(_: &Artefacts) -> anyhow::Result<Checked> {
    if archive::run(Command::new("cargo-deny").arg("--version")).is_err() {
        return Ok(Checked::Skipped("`cargo-deny` is not installed".to_owned()));
    }
    let mut deny = Command::new("cargo-deny");
    deny.args(["check", "licenses", "bans", "sources"]);
    archive::run(deny.current_dir(workspace::root()))?;
    Ok(Checked::Well("licences, bans and sources".to_owned()))
}

/// The rules of `deny.toml` that are checked here.
struct Policy {
    licences: Vec<String>,
    banned: Vec<String>,
}

impl Policy {
    fn read() -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(workspace::root().join("deny.toml"))?;
        Self::parse(&text).context("cannot read `deny.toml`")
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let table: Table = text.parse()?;
        let list = |section: &str, key: &str| {
            let list = table.get(section).and_then(|section| section.get(key));
            list.and_then(Value::as_array)
                .with_context(|| format!("there is no list `{section}.{key}`"))
        };
        let licences = list("licenses", "allow")?.iter().filter_map(Value::as_str);
        let banned = list("bans", "deny")?.iter();
        let banned = banned.filter_map(|entry| entry.get("crate").and_then(Value::as_str));
        Ok(Self {
            licences: licences.map(str::to_owned).collect(),
            banned: banned.map(str::to_owned).collect(),
        })
    }

    fn faults(&self, package: &Dependency) -> Vec<String> {
        let name = format!("`{} {}`", package.name, package.version);
        let mut faults = Vec::new();
        if self.banned.contains(&package.name) {
            faults.push(format!("{name} is banned"));
        }
        // A Git checkout or another registry has a different name.
        if package.registry.as_deref() == Some("registry") {
            faults.push(format!("{name} comes from an unknown source"));
        }
        match &package.licence {
            None => faults.push(format!("{name} names no licence")),
            Some(licence) if !self.permits(licence) => {
                faults.push(format!("{name} is under `{licence}`, which is not allowed"));
            }
            Some(_) => {}
        }
        faults
    }

    /// Whether allowed licences satisfy an SPDX expression.
    fn permits(&self, expression: &str) -> bool {
        let spaced = expression
            .replace('/', " OR ")
            .replace('(', " ( ")
            .replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut reader = Expression {
            words: &words,
            policy: self,
        };
        reader.any() && reader.words.is_empty()
    }
}

/// The unparsed rest of an expression. `AND` binds closer than `OR`.
struct Expression<'a> {
    words: &'a [&'a str],
    policy: &'a Policy,
}

impl Expression<'_> {
    fn any(&mut self) -> bool {
        let mut permitted = self.all();
        while self.take("OR") {
            permitted |= self.all();
        }
        permitted
    }

    fn all(&mut self) -> bool {
        let mut permitted = self.one();
        while self.take("AND") {
            permitted &= self.one();
        }
        permitted
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let permitted = self.any();
            return self.take(")") && permitted;
        }
        let Some((licence, rest)) = self.words.split_first() else {
            return false;
        };
        self.words = rest;
        let mut name = (*licence).to_owned();
        if self.take("WITH")
            && let Some((exception, rest)) = self.words.split_first()
        {
            name = format!("{name} WITH {exception}");
            self.words = rest;
        }
        self.policy.licences.contains(&name)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
