//! The state files of a held program.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windlass_process::HeldKey;

use super::session::{ADOPTERS, LOCK, remove_if_unused};

/// The extension of the file that marks a program whose received output is not needed again.
const BRIEF: &str = "brief";

/// The files of one program, in the directory of the session that started it.
pub(super) struct ProgramFiles {
    folder: PathBuf,
    number: u64,
    /// A shared lock, if the directory belongs to another session. It prevents the removal of the directory.
    adopters: Option<fs::File>,
}

impl ProgramFiles {
    pub(super) fn new(folder: &Path, number: u64, adopters: Option<fs::File>) -> Self {
        Self {
            folder: folder.to_owned(),
            number,
            adopters,
        }
    }

    /// The directory of the holder's socket.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the holder's files.
    pub(super) fn name(&self) -> String {
        self.number.to_string()
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.number))
    }

    /// The file with the program's key.
    pub(super) fn registration(&self) -> PathBuf {
        self.file("key")
    }

    /// The log of a program with much output.
    pub(super) fn log(&self) -> PathBuf {
        self.file("log")
    }

    /// Writes the key of the program, before its start is reported.
    pub(super) fn register(&self, key: &HeldKey) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(self.registration())?;
        file.write_all(&key.nonce)
    }

    /// Notes that received output is not needed again.
    pub(super) fn note_brief(&self) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        options.open(self.file(BRIEF)).map(drop)
    }

    /// Whether received output is not needed again.
    pub(super) fn is_brief(&self) -> bool {
        self.file(BRIEF).exists()
    }

    /// The key of a program that an earlier far end started; `None` if it does not exist.
    pub(super) fn key(&self) -> io::Result<Option<HeldKey>> {
        let nonce = match fs::read(self.registration()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        Ok(nonce.try_into().ok().map(|nonce| HeldKey {
            folder: self.folder.clone(),
            name: self.name(),
            nonce,
            remote: None,
        }))
    }

    /// The receipt of a program that its holder ended, verbatim.
    pub(super) fn receipt(&self) -> Option<Vec<u8>> {
        fs::read(self.file("receipt")).ok()
    }

    /// Removes the files of a program that has ended.
    pub(super) fn remove(&self) {
        for extension in ["key", "receipt", "log", "sock", BRIEF] {
            let _ = fs::remove_file(self.file(extension));
        }
        if let Some(adopters) = &self.adopters {
            // Its session may be over, and this its last program.
            remove_if_unused(&self.folder, adopters);
        }
    }
}

/// Whether a session has no programs left.
pub(super) fn is_empty(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    names.all(|name| name == LOCK || name == ADOPTERS)
}

/// The reason in a receipt, as text, and the number of ended processes.
pub(super) fn read_receipt(receipt: &[u8]) -> Option<(String, u32)> {
    let receipt: serde_json::Value = serde_json::from_slice(receipt).ok()?;
    let ended = receipt["ended"].as_u64().unwrap_or(0);
    let why = match receipt["reason"].as_str() {
        Some("lease") => "its lease was over",
        _ => "it was ended there",
    };
    Some((why.to_owned(), u32::try_from(ended).unwrap_or(u32::MAX)))
}
