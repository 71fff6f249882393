//! Answers of programs, remembered across starts.
//!
//! One file per question in the user's cache directory. Whatever is wrong with
//! a file, or with the directory, means that the program is asked again.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Remembers answers in a folder.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The answer that was given when everything it depends on was as `seal`
    /// says.
    pub(crate) fn find(&self, seal: &Value) -> Option<Value> {
        let text = std::fs::read(self.file(seal)).ok()?;
        let mut remembered: Value = serde_json::from_slice(&text).ok()?;
        (remembered["asked"] == sealed(seal)).then(|| remembered["answer"].take())
    }

    /// Remembers an answer, in the place of an older one to the same command
    /// line.
    pub(crate) fn remember(&self, seal: &Value, answer: &Value) {
        let text = json!({ "asked": sealed(seal), "answer": answer }).to_string();
        if let Err(error) = write(&self.file(seal), text.as_bytes()) {
            let folder = self.folder.display();
            tracing::debug!(%folder, %error, "a description could not be remembered");
        }
    }

    /// Named after the command line alone, so that the answer of a program
    /// that was changed replaces the older one.
    fn file(&self, seal: &Value) -> PathBuf {
        let name = crate::place::fnv(seal["command"].to_string().as_bytes());
        self.folder.join(format!("{name:016x}.json"))
    }
}

/// Another version may read more in an answer.
fn sealed(seal: &Value) -> Value {
    json!([env!("CARGO_PKG_VERSION"), seal])
}

/// Readers find the old file or the new one, and nobody else finds either: a
/// temporary file has mode 0600.
fn write(file: &Path, text: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text)?;
    temporary.persist(file)?;
    Ok(())
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
