//! The programs under test, which were built before the tests.
//!
//! Start at [`program`]. Tests do not build anything: a build beside them takes
//! the time that they wait for.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// How programs are built before the tests.
const REMEDY: &str = "run `cargo xtask test`, or `cargo build --workspace` before the tests";

/// The path of `windlass`; see [`program`].
pub fn windlass() -> &'static str {
    program("windlass")
}

/// The path of a program that was built before the tests: in the folder that
/// `WINDLASS_PROGRAMS` names, or the one that cargo has just built for the tests
/// of its package, or else the one where cargo puts programs. Panics if it is
/// missing or, in the last case, older than one of its source files.
pub fn program(name: &str) -> &'static str {
    static CHECKED: Mutex<BTreeMap<String, &'static str>> = Mutex::new(BTreeMap::new());
    let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = checked.get(name) {
        return path;
    }
    let (path, fault) = if let Some(path) = given(name) {
        let fault = missing(&path);
        (path, fault)
    } else {
        let path = beside_tests().join(name);
        let fault = fault(&path);
        (path, fault)
    };
    if let Some(fault) = fault {
        panic!("{fault}; {REMEDY}");
    }
    let path: &'static str = path.into_os_string().into_string().unwrap().leak();
    checked.insert(name.to_owned(), path);
    path
}

/// A program that whoever runs the tests has built for them.
fn given(name: &str) -> Option<PathBuf> {
    let folder = env::var_os("WINDLASS_PROGRAMS").map(PathBuf::from);
    let by_cargo = || env::var_os(format!("CARGO_BIN_EXE_{name}")).map(PathBuf::from);
    folder.map(|folder| folder.join(name)).or_else(by_cargo)
}

/// `target/debug` of `target/debug/deps/it-…`.
fn beside_tests() -> PathBuf {
    let tests = env::current_exe().expect("a process knows its program");
    let folder = tests.ancestors().nth(2);
    folder.expect("cargo puts tests into a folder").to_owned()
}

fn missing(program: &Path) -> Option<String> {
    (!program.is_file()).then(|| format!("there is no `{}`", program.display()))
}

/// Why a program must not be used: it is missing, or older than one of its
/// sources, which `cargo build` lists in a file beside it.
fn fault(program: &Path) -> Option<String> {
    let shown = program.display();
    let Some(built) = written(program) else {
        return missing(program);
    };
    let Ok(list) = fs::read_to_string(program.with_extension("d")) else {
        return Some(format!("the sources of `{shown}` are not known"));
    };
    // A source that is gone was named by another one, which was changed.
    let newer = sources(&list)
        .into_iter()
        .find(|source| written(source).is_some_and(|written| written > built))?;
    let newer = newer.display();
    Some(format!("`{shown}` is older than its source `{newer}`"))
}

fn written(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

/// The files after the first colon of a rule as `make` reads it, in which
/// spaces are escaped.
fn sources(list: &str) -> Vec<PathBuf> {
    let Some((_, files)) = list.split_once(": ") else {
        return Vec::new();
    };
    let files = files.lines().next().unwrap_or_default();
    let files = files.replace("\\ ", "\0");
    files
        .split_whitespace()
        .map(|file| PathBuf::from(file.replace('\0', " ")))
        .collect()
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
