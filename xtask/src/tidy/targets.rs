//! Checks that a manifest says which of its libraries and programs have no
//! tests and no examples in their documentation, and says it of no other.
//!
//! Cargo links and runs a test program for each, even if nothing is in it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use cargo_metadata::{Metadata, Package, Target};

use crate::workspace;

/// What a manifest says of a target, and whether it is so.
#[derive(Debug, Clone, Copy)]
struct Claim {
    key: &'static str,
    says: bool,
    has: bool,
}

/// Every target whose manifest is wrong.
pub(super) fn check(metadata: &Metadata) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for package in metadata.workspace_packages() {
        for target in &package.targets {
            let is_library = target.is_lib();
            if !(is_library || target.is_bin()) {
                continue;
            }
            let files = files(package, target)?;
            let tests = Claim {
                key: "test",
                says: target.test,
                has: files.iter().any(|text| has_test(text)),
            };
            let examples = Claim {
                key: "doctest",
                says: target.doctest,
                has: files.iter().any(|text| has_example(text)),
            };
            let claims = [Some(tests), is_library.then_some(examples)];
            let wrong = claims.into_iter().flatten().filter_map(Claim::fault);
            faults.extend(
                wrong.map(|fault| format!("`{}` of `{}` {fault}", target.name, package.name)),
            );
        }
    }
    Ok(faults)
}

impl Claim {
    fn fault(self) -> Option<String> {
        let key = self.key;
        match (self.says, self.has) {
            (true, false) => Some(format!(
                "has no {key}; say `{key} = false` in its manifest, so that none is built"
            )),
            (false, true) => Some(format!(
                "says `{key} = false`, but has a {key}, which is never run"
            )),
            (true, true) | (false, false) => None,
        }
    }
}

/// The texts of a target's files: of its folder `src`, or of its file alone if
/// others are beside it.
fn files(package: &Package, target: &Target) -> anyhow::Result<Vec<String>> {
    let root = target.src_path.as_std_path();
    let folder = root.parent().context("a file is in a folder")?;
    let mut others = package.targets.iter().map(|other| &other.src_path);
    let is_alone = others.all(|other| other == &target.src_path || !other.starts_with(folder));
    let paths: Vec<PathBuf> = if is_alone {
        workspace::rust_files(folder)?
    } else {
        vec![root.to_owned()]
    };
    paths.iter().map(|path| read(path)).collect()
}

fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", super::shown(file)))
}

fn has_test(text: &str) -> bool {
    let opens = ["#[test]", "#[tokio::test"];
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| opens.iter().any(|open| line.starts_with(open)))
}

/// Whether a block of code in the documentation is Rust, which rustdoc runs or
/// at least compiles.
fn has_example(text: &str) -> bool {
    let mut is_inside = false;
    let fences = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))?;
        line.trim_start().strip_prefix("```")
    });
    for words in fences {
        is_inside = !is_inside;
        if is_inside && is_rust(words) {
            return true;
        }
    }
    false
}

/// The words after a fence, as rustdoc reads them.
fn is_rust(words: &str) -> bool {
    let known = ["rust", "no_run", "should_panic", "compile_fail", "ignore"];
    let mut words = words.split([',', ' ']).filter(|word| !word.is_empty());
    words.all(|word| known.contains(&word) || word.starts_with("edition"))
}

#[cfg(test)]
#[path = "targets_tests.rs"]
mod tests;
