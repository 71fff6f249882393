//! The files in a project that run without a call.
//!
//! Start at [`ProgramFinder::find`]. A command is read as its words, and every
//! word that names a file in the project counts: the program itself, and the
//! script that an interpreter is given. Files that those load in turn are not
//! found; they are the program's own business.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::command::CommandConfig;
use crate::plain_file::{FileFault, Owners, open};
use crate::trust::{ProjectProgram, hexadecimal};

/// The largest file that is looked at, in bytes.
const LARGEST_PROGRAM: u64 = 512 << 20;

/// Finds the files in a project that commands name.
#[derive(Debug)]
pub(crate) struct ProgramFinder<'a> {
    /// The project's folder, without links.
    root: &'a Path,
    /// Folders in the project that programs are looked for in by name.
    search: Vec<PathBuf>,
    found: Vec<PathBuf>,
}

impl<'a> ProgramFinder<'a> {
    /// `path` is the variable `PATH` that commands are run with.
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

    /// Notes the files that this command names. `path` is the variable `PATH`
    /// that it is given of its own, if any.
    pub(crate) fn find(&mut self, command: &CommandConfig, path: Option<&str>) {
        let others = self.search.len();
        self.add_search(path);
        let words = std::iter::once(&command.program).chain(&command.args);
        for (number, word) in words.enumerate() {
            if command.shell {
                let is_word = |letter: char| {
                    letter.is_alphanumeric() || "/._-+~@%,".contains(letter) || !letter.is_ascii()
                };
                word.split(|letter| !is_word(letter))
                    .for_each(|part| self.find_word(part, true));
            } else {
                self.find_word(word, number == 0);
                if let Some((_, value)) = word.split_once('=') {
                    self.find_word(value, false);
                }
            }
        }
        self.search.truncate(others);
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
        // A program that is still to be built counts too: it is trusted when
        // it is there.
        if file.is_file() || (is_program && word.contains('/') && !file.exists()) {
            self.found.push(file);
        }
    }

    /// The path, if it leads to something in the project, by name or by links.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = self.root.join(path);
        let lexical = normalized(&path);
        if lexical.starts_with(self.root) && lexical != self.root {
            return Some(lexical);
        }
        let real = fs::canonicalize(&path).ok()?;
        (real.starts_with(self.root) && real != self.root).then_some(real)
    }

    /// What was found, with what it holds now.
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

/// The path without `.` and `..`, whatever links there are.
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

/// The SHA-256 of a file, or nothing if it is not there.
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
