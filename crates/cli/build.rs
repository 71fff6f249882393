//! Tells the program which commit it is built from, with which features, and
//! where the SDK beside it is.
//!
//! Sources that come from a registry have no Git; the package itself says its
//! commit then. Without it, the commit is `unknown`. A program that
//! is built for others (`WINDLASS_PACKAGED`) learns no folder of this machine.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script may ask Git; it is no tool of the runtime"
)]

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=WINDLASS_COMMIT");
    println!("cargo::rerun-if-env-changed=WINDLASS_PACKAGED");
    // With any such line cargo no longer looks at all files of the package.
    println!("cargo::rerun-if-changed=build.rs");
    let commit = env::var("WINDLASS_COMMIT")
        .ok()
        .or_else(packaged)
        .or_else(checked_out)
        .unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=WINDLASS_COMMIT={commit}");
    println!("cargo::rustc-env=WINDLASS_FEATURES={}", features());
    let target = env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=WINDLASS_TARGET={target}");
    if let (Ok(sdk), None) = (fs::canonicalize("../sdk"), env::var_os("WINDLASS_PACKAGED")) {
        println!("cargo::rustc-env=WINDLASS_SDK_FOLDER={}", sdk.display());
    }
}

/// The commit that `cargo package` wrote into the package.
fn packaged() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let hash = rest.split('"').nth(1)?;
    is_hash(hash).then(|| hash[..SHOWN].to_owned())
}

/// The commit of the checkout, and whether it was changed since.
fn checked_out() -> Option<String> {
    // A folder of ours inside of someone else's repository has no commit.
    if !Path::new("../../xtask").is_dir() {
        return None;
    }
    let hash = git(&["rev-parse", "HEAD"]).filter(|hash| is_hash(hash))?;
    // A debug build is not repeated at every commit.
    if env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        for name in ["HEAD", "logs/HEAD"] {
            if let Some(path) = git(&["rev-parse", "--git-path", name]) {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let mark = if changed.is_empty() { "" } else { "-dirty" };
    Some(format!("{}{mark}", &hash[..SHOWN]))
}

/// So many digits of a commit are shown.
const SHOWN: usize = 12;

fn is_hash(text: &str) -> bool {
    text.len() >= SHOWN && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = output.status.success().then_some(output.stdout)?;
    Some(String::from_utf8(text).ok()?.trim().to_owned())
}

/// The features of this package that are on, in a stable order.
fn features() -> String {
    let mut names: Vec<String> = env::vars()
        .filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase))
        .map(|name| name.replace('_', "-"))
        .filter(|name| name != "default")
        .collect();
    names.sort();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(" ")
    }
}
