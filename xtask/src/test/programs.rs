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
        program: "mount",
        package: "mount",
    },
    Needed {
        program: "unshare",
        package: "util-linux",
    },
    Needed {
        program: "script",
        package: "bsdutils",
    },
    Needed {
        program: "prlimit",
        package: "util-linux",
    },
    Needed {
        program: "su",
        package: "util-linux",
    },
    Needed {
        program: "seq",
        package: "coreutils",
    },
    Needed {
        program: "sha256sum",
        package: "coreutils",
    },
    Needed {
        program: "strip",
        package: "binutils",
    },
    Needed {
        program: "tar",
        package: "tar",
    },
    Needed {
        program: "node",
        package: "nodejs",
    },
    Needed {
        program: "npm",
        package: "npm",
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
    let why = match Installer::find(rustix::process::geteuid().is_root(), &path) {
        Err(why) => why.to_owned(),
        Ok(installer) => match installer.install(&packages(&missing)) {
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

/// The packages to install, without duplicates.
fn packages(missing: &[Needed]) -> Vec<&'static str> {
    let mut packages: Vec<_> = missing.iter().map(|needed| needed.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// `apt-get`, as root.
#[derive(Debug, PartialEq, Eq)]
struct Installer {
    /// Whether root is reached by `sudo`.
    sudo: bool,
}

impl Installer {
    /// Finds a way to install packages; the error is the reason why there is none.
    fn find(root: bool, path: &OsStr) -> Result<Self, &'static str> {
        if !is_in(path, "apt-get") {
            return Err("`apt-get` is not installed");
        }
        if root {
            return Ok(Self { sudo: false });
        }
        // Without a password, as on machines that only run checks.
        let sudo = Command::new("sudo").args(["-n", "true"]).output();
        if sudo.is_ok_and(|output| output.status.success()) {
            Ok(Self { sudo: true })
        } else {
            Err("only root can install it")
        }
    }

    fn install(&self, packages: &[&str]) -> anyhow::Result<()> {
        println!("installing Debian packages: {}", packages.join(" "));
        self.apt_get(&["update"])?;
        let arguments = ["install", "--yes", "--no-install-recommends"];
        self.apt_get(&[&arguments, packages].concat())
    }

    fn apt_get(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let said = format!("apt-get {}", arguments.join(" "));
        println!("$ {said}");
        let mut command = if self.sudo {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
            sudo
        } else {
            Command::new("apt-get")
        };
        let status = command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status()
            .with_context(|| format!("`{said}` could not be run"))?;
        ensure!(status.success(), "`{said}` failed");
        Ok(())
    }
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
