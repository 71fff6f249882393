//! A Rust compiler of Debian with the sources of its standard library, and a C compiler for every platform from `PyPI`,
//! in a cache directory. Nothing is installed.
//!
//! The standard library of each platform is compiled from source, so no toolchain of that platform is needed. Cargo is
//! that of this workspace; `RUSTC_BOOTSTRAP` lets it do so though it is a stable one.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::apt::Apt;
use crate::clients;

use super::CheckedPlatform;

/// The repository with a current compiler, and that with its libraries.
const SUITES: [(&str, &str); 2] = [
    ("debian-security", "bookworm-security"),
    ("debian", "bookworm"),
];
/// The compiler, and the sources of the standard library.
const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];
/// The libraries that the compiler needs beside those of any system.
const LIBRARIES: [&str; 2] = ["libstd-rust-web", "libllvm"];
/// Where its packages have libraries.
const LIBRARY_FOLDER: &str = "usr/lib/x86_64-linux-gnu";
/// The wheel of the C compiler.
const WHEEL: &str = "ziglang==0.17.0";

/// Where the tools are.
pub(super) struct Tools {
    folder: PathBuf,
    zig: PathBuf,
}

/// Gets what is missing into a folder, and returns it.
pub(super) fn provide(folder: &Path) -> anyhow::Result<Tools> {
    // Written last: it marks the tools as complete.
    let list = folder.join("installed");
    let wanted = format!("{SUITES:?} {PACKAGES:?} {WHEEL}");
    let python = folder.join("python");
    if std::fs::read_to_string(&list).ok().as_ref() != Some(&wanted) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        unpack_compiler(&folder.join("debian"))?;
        clients::run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
        let pip = python.join("bin/python3");
        clients::run(Command::new(pip).args(["-m", "pip", "install", "--quiet", WHEEL]))?;
        std::fs::write(&list, wanted)?;
    }
    Ok(Tools {
        folder: folder.to_owned(),
        zig: zig(&python)?,
    })
}

/// Downloads the compiler and unpacks it into `folder/root`.
fn unpack_compiler(folder: &Path) -> anyhow::Result<()> {
    let apt = Apt::new(folder, &SUITES)?;
    println!("$ apt-get update …");
    apt.run("apt-get", &["update"])?;
    let mut names: Vec<String> = PACKAGES.map(str::to_owned).into();
    let mut next = 0;
    while next < names.len() {
        let uses = apt.run("apt-cache", &["depends", &names[next]])?;
        for library in libraries(&uses) {
            if names.iter().all(|name| name != library) {
                names.push(library.to_owned());
            }
        }
        next += 1;
    }
    println!("$ apt-get download {}", names.join(" "));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    apt.run("apt-get", &[&["download"][..], &names].concat())?;
    for entry in folder.read_dir()?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "deb") {
            let mut unpack = Command::new("dpkg-deb");
            clients::run(unpack.arg("-x").arg(&path).arg(folder.join("root")))?;
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The packages to unpack too, in the answer of `apt-cache depends`.
fn libraries(depends: &str) -> impl Iterator<Item = &str> {
    let names = depends
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "));
    names.filter(|name| LIBRARIES.iter().any(|library| name.starts_with(library)))
}

/// The C compiler in a Python environment.
fn zig(python: &Path) -> anyhow::Result<PathBuf> {
    let libraries = python.join("lib");
    let entries = libraries
        .read_dir()
        .with_context(|| format!("cannot list `{}`", libraries.display()))?;
    let mut programs = entries
        .flatten()
        .map(|entry| entry.path().join("site-packages/ziglang/zig"));
    let zig = programs.find(|path| path.is_file());
    zig.with_context(|| format!("`{WHEEL}` has not brought `zig`"))
}

impl Tools {
    /// Makes cargo compile for a platform, into a folder of its own.
    pub(super) fn configure(
        &self,
        command: &mut Command,
        platform: &CheckedPlatform,
    ) -> anyhow::Result<()> {
        let target = platform.triple.replace('-', "_");
        // Build scripts ask for the folder of Apple's headers, which no check reads.
        let headers = self.folder.join("no-sdk");
        std::fs::create_dir_all(&headers)?;
        command
            .env("RUSTC", self.rustc()?)
            .env("LD_LIBRARY_PATH", self.root().join(LIBRARY_FOLDER))
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", self.folder.join("build"))
            .env("CARGO_INCREMENTAL", "0")
            .env(format!("CC_{target}"), self.c_compiler(platform)?)
            .env(format!("AR_{target}"), self.archiver()?)
            .env("SDKROOT", headers)
            .env("ZIG_GLOBAL_CACHE_DIR", self.folder.join("zig"))
            .env("ZIG_LOCAL_CACHE_DIR", self.folder.join("zig"));
        Ok(())
    }

    /// Where the compiler's packages are unpacked.
    fn root(&self) -> PathBuf {
        self.folder.join("debian/root")
    }

    fn rustc(&self) -> anyhow::Result<PathBuf> {
        let rustc = self.root().join("usr/bin/rustc");
        ensure!(
            rustc.is_file(),
            "the packages have not brought `{}`",
            rustc.display()
        );
        Ok(rustc)
    }

    /// A compiler for C. Build scripts name the platform as clang does, and zig has names of its own.
    fn c_compiler(&self, platform: &CheckedPlatform) -> anyhow::Result<PathBuf> {
        let script = format!(
            r#"skips=
for word; do
    shift
    if [ -n "$skips" ]; then skips=; continue; fi
    case "$word" in
        --target=* | -mmacosx-version-min=*) continue ;;
        -arch | -isysroot | -target) skips=1; continue ;;
    esac
    set -- "$@" "$word"
done
exec '{}' cc -target {} "$@""#,
            self.zig.display(),
            platform.zig
        );
        self.script(&format!("cc-{}", platform.triple), &script)
    }

    fn archiver(&self) -> anyhow::Result<PathBuf> {
        self.script("ar", &format!("exec '{}' ar \"$@\"", self.zig.display()))
    }

    /// Writes a shell script, unless it is there: cargo compiles everything again for a newer compiler.
    fn script(&self, name: &str, commands: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join("bin");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        let text = format!("#!/bin/sh\n{commands}\n");
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            std::fs::write(&path, text)?;
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755))?;
        }
        Ok(path)
    }
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
