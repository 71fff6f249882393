//! A persistent cache of programs' descriptions.
//!
//! One file per question in the user's cache directory. If a file or the
//! directory cannot be read, the program is run again.

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

    /// The cached answer, if everything it depends on still equals `seal`.
    pub(crate) fn find(&self, seal: &Value) -> Option<Value> {
        let text = std::fs::read(self.file(seal)).ok()?;
        let mut remembered: Value = serde_json::from_slice(&text).ok()?;
        (remembered["asked"] == sealed(seal)).then(|| remembered["answer"].take())
    }

    /// Caches an answer, replacing an older one for the same command line.
    pub(crate) fn remember(&self, seal: &Value, answer: &Value) {
        let text = json!({ "asked": sealed(seal), "answer": answer }).to_string();
        if let Err(error) = write(&self.file(seal), text.as_bytes()) {
            let folder = self.folder.display();
            tracing::debug!(%folder, %error, "a description could not be remembered");
        }
    }

    /// Named after the command line only, so that the answer of a changed
    /// program replaces the older one.
    fn file(&self, seal: &Value) -> PathBuf {
        let name = crate::place::fnv(seal["command"].to_string().as_bytes());
        self.folder.join(format!("{name:016x}.json"))
    }
}

/// Another version may read more in an answer.
fn sealed(seal: &Value) -> Value {
    json!([env!("CARGO_PKG_VERSION"), seal])
}

/// Writes the file atomically and with mode 0600, so that readers see the old
/// or the new content, and other users neither.
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
