//! Finds the files of a project that run without a call.
//!
//! Start at [`ProgramFinder::find`]. Every word of a command that names a file
//! in the project counts: the program itself, and a script passed to an
//! interpreter. Files that those load in turn are not found.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;
use sha2::{Digest, Sha256};

use crate::command::CommandConfig;
use crate::plain_file::{FileFault, Owners, open};
use crate::trust::{ProjectProgram, hexadecimal};

/// The largest file that is read, in bytes.
const LARGEST_PROGRAM: u64 = 512 << 20;

/// The entry files of a folder that is passed to an interpreter.
const ENTRIES: [&str; 4] = ["__main__.py", "index.js", "package.json", "Makefile"];

/// Finds the files in a project that commands name.
#[derive(Debug)]
pub(crate) struct ProgramFinder<'a> {
    /// The project's folder, without links.
    root: &'a Path,
    /// Folders in the project in which programs are looked up by name.
    search: Vec<PathBuf>,
    found: Vec<PathBuf>,
}

impl<'a> ProgramFinder<'a> {
    /// `path` is the `PATH` of the commands.
    pub(crate) fn new(root: &'a Path, path: Option<&str>) -> Self {
        let mut finder = Self {
            root,
            search: Vec::new(),
            found: Vec::new(),
        };
        finder.add_search(path);
        finder
    }

    fn add_search(&mut self, path: Option<&str>) {
        let entries = path.into_iter().flat_map(std::env::split_paths);
        for entry in entries {
            if let Some(entry) = self.inside(&entry) {
                self.search.push(entry);
            }
        }
    }

    /// Records the files that the command and its variables name.
    pub(crate) fn find(&mut self, command: &CommandConfig, env: &IndexMap<String, String>) {
        let others = self.search.len();
        self.add_search(env.get("PATH").map(String::as_str));
        let words = std::iter::once(&command.program).chain(&command.args);
        for (number, word) in words.enumerate() {
            if command.shell {
                self.find_text(word);
            } else {
                self.find_word(word, number == 0);
                if let Some((_, value)) = word.split_once('=') {
                    self.find_word(value, false);
                }
            }
        }
        // A loader or an interpreter may be told to run a file, as by
        // `LD_PRELOAD` or `NODE_OPTIONS`.
        for value in env.values() {
            self.find_text(value);
        }
        self.search.truncate(others);
    }

    /// Checks every part of a text that may be a path, also relative to the
    /// folders that the text names: the command may change into them.
    fn find_text(&mut self, text: &str) {
        let is_word = |letter: char| {
            letter.is_alphanumeric() || "/._-+~@%".contains(letter) || !letter.is_ascii()
        };
        let parts: Vec<&str> = text.split(|letter| !is_word(letter)).collect();
        let folders = parts.iter().filter_map(|part| self.inside(Path::new(part)));
        let folders: Vec<_> = folders.filter(|folder| folder.is_dir()).collect();
        for part in parts {
            self.find_word(part, true);
            for folder in &folders {
                let below = self.inside(&folder.join(part));
                self.found.extend(below.filter(|file| file.is_file()));
            }
        }
    }

    fn find_word(&mut self, word: &str, is_program: bool) {
        if word.is_empty() || word.contains("{{") || word.contains("{%") {
            return;
        }
        if is_program && !word.contains('/') {
            let named = self.search.iter().map(|folder| folder.join(word));
            let named: Vec<_> = named.filter(|file| file.is_file()).collect();
            self.found.extend(named);
        }
        let Some(file) = self.inside(Path::new(word)) else {
            return;
        };
        if file.is_dir() {
            let entries = ENTRIES.iter().map(|entry| file.join(entry));
            self.found.extend(entries.filter(|entry| entry.is_file()));
        }
        // A program that is still to be built counts too: it is trusted when
        // it is there.
        if file.is_file() || (is_program && word.contains('/') && !file.exists()) {
            self.found.push(file);
        }
    }

    /// The path, if its target is in the project, by name or by links.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = self.root.join(path);
        let lexical = normalized(&path);
        if lexical.starts_with(self.root) && lexical != self.root {
            return Some(lexical);
        }
        let real = fs::canonicalize(&path).ok()?;
        (real.starts_with(self.root) && real != self.root).then_some(real)
    }

    /// The files found, with the digests of their current content.
    pub(crate) fn finish(mut self) -> Result<Vec<ProjectProgram>, (PathBuf, FileFault)> {
        self.found.sort();
        self.found.dedup();
        let programs = self.found.iter().map(|file| {
            let path = file.strip_prefix(self.root).unwrap_or(file).to_owned();
            let digest = digest(file).map_err(|fault| (file.clone(), fault))?;
            Ok(ProjectProgram { path, digest })
        });
        programs.collect()
    }
}

/// Removes `.` and `..` from the path without resolving links.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            component => normal.push(component),
        }
    }
    normal
}

/// The SHA-256 of a file; `None` if it does not exist.
fn digest(file: &Path) -> Result<Option<String>, FileFault> {
    let mut opened = match open(file, Owners::Anybody, LARGEST_PROGRAM) {
        Ok(opened) => opened,
        Err(FileFault::Unreadable(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(fault) => return Err(fault),
    };
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match opened.read(&mut buffer)? {
            0 => return Ok(Some(hexadecimal(&hash.finalize()))),
            read => hash.update(&buffer[..read]),
        }
    }
}
