//! Gets packages of Debian, with apt's verification and without installing anything.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

const MIRROR: &str = "http://deb.debian.org";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Runs apt with its own lists and cache.
pub(crate) struct Apt {
    folder: PathBuf,
    options: Vec<String>,
}

impl Apt {
    /// With its files in a folder, for these archives of the mirror and their suites.
    pub(crate) fn new(folder: &Path, suites: &[(&str, &str)]) -> anyhow::Result<Self> {
        for part in ["lists/partial", "cache/archives/partial"] {
            std::fs::create_dir_all(folder.join(part))?;
        }
        let source = |(archive, suite): &(&str, &str)| {
            format!("deb [signed-by={KEYS}] {MIRROR}/{archive} {suite} main\n")
        };
        let sources: String = suites.iter().map(source).collect();
        std::fs::write(folder.join("sources.list"), sources)?;
        let path = |name: &str| folder.join(name).display().to_string();
        let options = [
            format!("Dir::State={}", path("")),
            format!("Dir::State::lists={}", path("lists")),
            String::from("Dir::State::status=/dev/null"),
            format!("Dir::Cache={}", path("cache")),
            format!("Dir::Etc::SourceList={}", path("sources.list")),
            String::from("Dir::Etc::SourceParts=/dev/null"),
            String::from("APT::Sandbox::User=root"),
        ];
        Ok(Self {
            folder: folder.to_owned(),
            options: options
                .into_iter()
                .flat_map(|it| [String::from("-o"), it])
                .collect(),
        })
    }

    /// Runs a program of apt in the folder, and returns its output.
    pub(crate) fn run(&self, program: &str, words: &[&str]) -> anyhow::Result<String> {
        let output = Command::new(program)
            .args(&self.options)
            .args(words)
            .current_dir(&self.folder)
            .output()
            .with_context(|| format!("cannot run `{program}`"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{program}` failed: {errors}");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
