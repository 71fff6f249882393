//! The projects that the user has trusted, by path and content.
//!
//! Start at [`TrustStore`]. It has one file per project in the user's state
//! directory, outside every project. The file contains the trusted texts, so
//! that a change can be shown. No environment variable trusts a project: tools
//! and project files could set one for a Windlass that they start.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use similar::TextDiff;
use windlass_config::{ProjectContent, ProjectTrust, TrustDecision};

use crate::place::{state_dir, workspace_id};

/// The user's decisions about projects.
#[derive(Debug, Clone)]
pub struct TrustStore {
    folder: PathBuf,
}

/// A decision about a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRecord {
    /// The project's folder.
    pub root: String,
    /// The content that was decided about.
    pub digest: String,
    /// It was trusted; otherwise the user has declined to.
    pub is_trusted: bool,
    /// The time of the decision, in seconds since 1970.
    pub decided: u64,
    texts: Map<String, Value>,
    programs: Map<String, Value>,
}

impl TrustStore {
    /// The decisions in the user's state directory.
    pub fn of_user() -> Self {
        Self::in_folder(state_dir().join("trust"))
    }

    /// The decisions in another folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Has these decisions decide which projects count.
    pub fn decides(self) -> ProjectTrust {
        ProjectTrust::By(Arc::new(self))
    }

    /// Trusts exactly this content.
    pub fn trust(&self, content: &ProjectContent) -> io::Result<()> {
        self.write(content, true)
    }

    /// Records that the user does not trust this content, so that the question
    /// is not repeated. An earlier decision is forgotten.
    pub fn decline(&self, content: &ProjectContent) -> io::Result<()> {
        self.write(content, false)
    }

    /// Forgets the project in this folder, without resolving links. Returns
    /// whether it was known.
    pub fn forget(&self, root: &Path) -> io::Result<bool> {
        match std::fs::remove_file(self.file(root)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The decision about the project in this folder, whatever its current
    /// content.
    pub fn find(&self, root: &Path) -> Option<TrustRecord> {
        let record = read(&self.file(root))?;
        (record.root == root.to_string_lossy()).then_some(record)
    }

    /// The user has declined to trust exactly this content.
    pub fn is_declined(&self, content: &ProjectContent) -> bool {
        let record = self.find(&content.root);
        record.is_some_and(|record| !record.is_trusted && record.digest == content.digest())
    }

    /// All decisions, by folder.
    pub fn list(&self) -> Vec<TrustRecord> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten();
        let mut records: Vec<_> = files.filter_map(|file| read(&file.ok()?.path())).collect();
        records.sort_by(|one, other| one.root.cmp(&other.root));
        records
    }

    fn file(&self, root: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", workspace_id(root)))
    }

    /// Writes the file atomically and readable by the user only.
    fn write(&self, content: &ProjectContent, is_trusted: bool) -> io::Result<()> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let texts = content.texts.iter();
        let texts: Map<_, _> = texts
            .map(|file| (text(&file.path), json!(file.text)))
            .collect();
        let programs = content.programs.iter();
        let programs: Map<_, _> = programs
            .map(|file| (text(&file.path), json!(file.digest)))
            .collect();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let record = json!({
            "root": text(&content.root),
            "digest": content.digest(),
            "trusted": is_trusted,
            "decided": now.map_or(0, |now| now.as_secs()),
            "texts": texts,
            "programs": programs,
        });
        std::fs::create_dir_all(&self.folder)?;
        let mut temporary = tempfile::NamedTempFile::new_in(&self.folder)?;
        temporary.write_all(record.to_string().as_bytes())?;
        temporary.as_file().sync_all()?;
        temporary.persist(self.file(&content.root))?;
        Ok(())
    }
}

impl TrustDecision for TrustStore {
    fn is_trusted(&self, content: &ProjectContent) -> bool {
        let record = self.find(&content.root);
        record.is_some_and(|record| record.is_trusted && record.digest == content.digest())
    }
}

impl TrustRecord {
    /// The changes since the decision about this content, as a unified diff of
    /// its texts and a line for each program.
    pub fn difference(&self, content: &ProjectContent) -> String {
        let mut shown = String::new();
        let mut before = self.texts.clone();
        for file in &content.texts {
            let name = file.path.to_string_lossy();
            let old = before.shift_remove(&*name);
            let old = old.as_ref().and_then(Value::as_str);
            if old != Some(&file.text) {
                shown.push_str(&diff(&name, old, Some(&file.text)));
            }
        }
        for (name, old) in &before {
            shown.push_str(&diff(name, old.as_str(), None));
        }
        let mut before = self.programs.clone();
        for program in &content.programs {
            let name = program.path.to_string_lossy();
            let old = before.shift_remove(&*name);
            let change = match (old, &program.digest) {
                (Some(old), now) if old == json!(now) => continue,
                (Some(Value::String(_)), Some(_)) => "has changed",
                (Some(_), Some(_)) => "is there now",
                (Some(_), None) => "is gone",
                (None, _) => "runs without a call now",
            };
            let _ = writeln!(shown, "program {name} {change}");
        }
        for name in before.keys() {
            let _ = writeln!(shown, "program {name} runs no longer");
        }
        shown
    }
}

fn diff(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    let header = |text: Option<&str>| text.map_or("/dev/null", |_| name).to_owned();
    let names = (header(old), header(new));
    let diff = TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default());
    diff.unified_diff().header(&names.0, &names.1).to_string()
}

fn read(file: &Path) -> Option<TrustRecord> {
    let text = std::fs::read(file).ok()?;
    let mut record: Value = serde_json::from_slice(&text).ok()?;
    let map = |value: Value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Some(TrustRecord {
        root: record["root"].as_str()?.to_owned(),
        digest: record["digest"].as_str()?.to_owned(),
        is_trusted: record["trusted"].as_bool()?,
        decided: record["decided"].as_u64().unwrap_or(0),
        texts: map(record["texts"].take()),
        programs: map(record["programs"].take()),
    })
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
