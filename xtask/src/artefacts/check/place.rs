//! An empty directory to install into, and commands that can write nowhere
//! else.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use crate::artefacts::archive;

/// Creates a mount namespace for a command, in which its first argument is the
/// only writable directory.
const READ_ONLY: &str = r#"
mount --bind "$1" "$1" || exit 125
for point in / /tmp /root /home /var /usr /opt /etc /srv /dev/shm; do
    if mountpoint -q "$point"; then mount -o remount,bind,ro "$point" || exit 125; fi
done
shift
# The current folder is still the one below the mounts.
cd "$PWD" || exit 125
exec "$@"
"#;

/// Variables that configure how packages are fetched on this machine.
const FETCHING: [&str; 8] = [
    "PIP_",
    "NPM_CONFIG_",
    "npm_config_",
    "UV_",
    "SSL_CERT",
    "NODE_EXTRA_CA",
    "REQUESTS_CA",
    "CURL_CA",
];

/// Files in a home with the same purpose, and the variable that names each.
const SETTINGS: [(&str, &str); 3] = [
    (".npmrc", "NPM_CONFIG_USERCONFIG"),
    (".config/pip/pip.conf", "PIP_CONFIG_FILE"),
    (".config/uv/uv.toml", "UV_CONFIG_FILE"),
];

/// A process that still runs after this time was left behind.
const PATIENCE: Duration = Duration::from_secs(20);

/// An empty directory. Dropping this removes it.
pub(super) struct EmptyPlace {
    folder: TempDir,
}

impl EmptyPlace {
    /// Creates one, with a home and a directory for temporary files.
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("windlass-place-")
            .tempdir()?;
        for name in ["home", "tmp", "cache", "work"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        Ok(Self { folder })
    }

    /// A path inside.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command of a new user: an empty home, an empty working directory, and
    /// only the variables that fetch packages.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match read_only() {
            Ok(()) => {
                let mut command = Command::new("unshare");
                command.args(["--mount", "--", "sh", "-c", READ_ONLY, "sh"]);
                command.arg(self.folder.path()).arg(program);
                command
            }
            Err(_) => Command::new(program),
        };
        command.env_clear().current_dir(self.path("work"));
        let is_for_fetching = |name: &str| {
            FETCHING.iter().any(|start| name.starts_with(start))
                || name.to_lowercase().ends_with("_proxy")
        };
        for (name, value) in std::env::vars_os() {
            if name.to_str().is_some_and(is_for_fetching) {
                command.env(name, value);
            }
        }
        if let Some(home) = std::env::home_dir() {
            for (file, variable) in SETTINGS {
                let file = home.join(file);
                if file.is_file() {
                    command.env(variable, file);
                }
            }
        }
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("LANG", "C.UTF-8")
            // pip runs rustup's compiler for its version, which would write
            // into the new home.
            .env("RUSTUP_HOME", rustup_home())
            .env("PIP_CACHE_DIR", self.path("cache/pip"))
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .env("UV_CACHE_DIR", self.path("cache/uv"))
            .env("npm_config_cache", self.path("cache/npm"))
            .env("npm_config_update_notifier", "false")
            .env("npm_config_audit", "false")
            .env("npm_config_fund", "false");
        command
    }

    /// Fails if there is a file outside the directories that may change, or if
    /// a program from here still runs.
    pub(super) fn is_tidy(&self, changed: &[&str]) -> anyhow::Result<()> {
        // The record of Windlass.
        let always = ["home/.local/state/windlass", "cache"];
        for file in archive::files(self.folder.path())? {
            let inside = file.strip_prefix(self.folder.path()).unwrap_or(&file);
            let meant = changed
                .iter()
                .chain(&always)
                .any(|folder| inside.starts_with(folder));
            if !meant {
                bail!("`{}` was written unexpectedly", inside.display());
            }
        }
        // A helper process of a runtime ends when it detects the end of the
        // runtime.
        let deadline = Instant::now() + PATIENCE;
        while let Some(program) = running_below(self.folder.path())? {
            ensure!(Instant::now() < deadline, "`{program}` still runs");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

fn rustup_home() -> PathBuf {
    let said = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    said.or_else(|| std::env::home_dir().map(|home| home.join(".rustup")))
        .unwrap_or_default()
}

/// A process whose executable is in the directory.
fn running_below(folder: &Path) -> anyhow::Result<Option<String>> {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Ok(None);
    };
    for process in processes {
        // A process that has ended has no executable.
        if let Ok(program) = std::fs::read_link(process?.path().join("exe"))
            && program.starts_with(folder)
        {
            return Ok(Some(program.display().to_string()));
        }
    }
    Ok(None)
}

/// Whether the rest of the machine can be made read-only for a command.
pub(super) fn read_only() -> Result<(), &'static anyhow::Error> {
    static TRIED: OnceLock<anyhow::Result<()>> = OnceLock::new();
    let tried = TRIED.get_or_init(|| {
        let folder = tempfile::tempdir()?;
        let outside = tempfile::tempdir()?;
        let mut command = Command::new("unshare");
        command.args(["--mount", "--", "sh", "-c", READ_ONLY, "sh"]);
        command.arg(folder.path());
        command.args([
            "sh",
            "-c",
            r#"touch "$1/inside" && ! touch "$2/outside" 2>&1"#,
            "sh",
        ]);
        command.args([folder.path(), outside.path()]);
        archive::run(&mut command).context("the system does not permit it")
    });
    tried.as_ref().copied()
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
