//! The programs that tests run, and their installation.
//!
//! Start at [`provide`]. A program that a new test needs is a line in
//! [`NEEDED`].

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};

/// Names the variable with the comma-separated list of missing programs.
pub(super) const SKIP: &str = "WINDLASS_SKIP";

/// A program and its Debian package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Needed {
    program: &'static str,
    package: &'static str,
}

const NEEDED: &[Needed] = &[
    Needed {
        program: "sh",
        package: "dash",
    },
    Needed {
        program: "bash",
        package: "bash",
    },
    Needed {
        program: "git",
        package: "git",
    },
    Needed {
        program: "python3",
        package: "python3",
    },
    Needed {
        program: "curl",
        package: "curl",
    },
    Needed {
        program: "setsid",
        package: "util-linux",
    },
    Needed {
        program: "nohup",
        package: "coreutils",
    },
    Needed {
        program: "vim",
        package: "vim",
    },
    Needed {
        program: "less",
        package: "less",
    },
    Needed {
        program: "gdb",
        package: "gdb",
    },
    Needed {
        program: "gcc",
        package: "gcc",
    },
    Needed {
        program: "pytest",
        package: "python3-pytest",
    },
    Needed {
        program: "top",
        package: "procps",
    },
    Needed {
        program: "whiptail",
        package: "whiptail",
    },
    Needed {
        program: "ssh-keygen",
        package: "openssh-client",
    },
    Needed {
        program: "ssh",
        package: "openssh-client",
    },
    Needed {
        program: "sshd",
        package: "openssh-server",
    },
    Needed {
        program: "ip",
        package: "iproute2",
    },
    Needed {
        program: "nsenter",
        package: "util-linux",
    },
    Needed {
        program: "sudo",
        package: "sudo",
    },
    Needed {
        program: "setpriv",
        package: "util-linux",
    },
    Needed {
        program: "useradd",
        package: "passwd",
    },
    Needed {
        program: "chromium",
        package: "chromium",
    },
];

/// Installs missing programs if possible, and returns those that are still
/// missing. Prints both.
pub(super) fn provide() -> Vec<&'static str> {
    let Shortage { missing, why } = install_missing(|_| true);
    for needed in &missing {
        println!("{}", skip_line(needed, &why));
    }
    missing.iter().map(|needed| needed.program).collect()
}

/// Installs those of these programs that are missing.
pub(crate) fn require(programs: &[&str]) -> anyhow::Result<()> {
    let Shortage { missing, why } = install_missing(|needed| programs.contains(&needed.program));
    if let Some(Needed { program, package }) = missing.first() {
        bail!("`{program}` is missing and {why} (Debian package `{package}`)");
    }
    Ok(())
}

/// The programs that are missing after an attempt to install them, and the
/// reason.
struct Shortage {
    missing: Vec<Needed>,
    why: String,
}

/// Installs the programs that are missing and match `is_wanted`.
fn install_missing(is_wanted: impl Fn(&Needed) -> bool) -> Shortage {
    let path = env::var_os("PATH").unwrap_or_default();
    let still_missing = || -> Vec<Needed> {
        let missing = missing(&path).into_iter();
        missing.filter(&is_wanted).collect()
    };
    let missing = still_missing();
    if missing.is_empty() {
        let why = String::new();
        return Shortage { missing, why };
    }
    let why = match obstacle(rustix::process::geteuid().is_root(), &path) {
        Some(why) => why.to_owned(),
        None => match install(&packages(&missing)) {
            Ok(()) => "installing its package did not bring it".to_owned(),
            Err(error) => format!("{error:#}"),
        },
    };
    Shortage {
        missing: still_missing(),
        why,
    }
}

/// The needed programs that are not in `path`.
fn missing(path: &OsStr) -> Vec<Needed> {
    NEEDED
        .iter()
        .filter(|needed| !is_in(path, needed.program))
        .copied()
        .collect()
}

fn is_in(path: &OsStr, program: &str) -> bool {
    env::split_paths(path).any(|folder| is_executable(&folder.join(program)))
}

fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The reason why nothing can be installed, if any.
fn obstacle(root: bool, path: &OsStr) -> Option<&'static str> {
    if !root {
        Some("only root can install it")
    } else if !is_in(path, "apt-get") {
        Some("`apt-get` is not installed")
    } else {
        None
    }
}

/// The packages to install, without duplicates.
fn packages(missing: &[Needed]) -> Vec<&'static str> {
    let mut packages: Vec<_> = missing.iter().map(|needed| needed.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn install(packages: &[&str]) -> anyhow::Result<()> {
    apt_get(&["update"])?;
    let arguments = ["install", "--yes", "--no-install-recommends"];
    apt_get(&[&arguments, packages].concat())
}

fn apt_get(arguments: &[&str]) -> anyhow::Result<()> {
    let said = format!("apt-get {}", arguments.join(" "));
    println!("$ {said}");
    let status = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .with_context(|| format!("`{said}` could not be run"))?;
    ensure!(status.success(), "`{said}` failed");
    Ok(())
}

fn skip_line(needed: &Needed, why: &str) -> String {
    let Needed { program, package } = needed;
    format!(
        "skipping the tests that need `{program}`: it is missing and {why} (Debian package `{package}`)"
    )
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
