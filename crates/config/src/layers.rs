//! The layers: which files, variables and flags are read, in which order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::config::LoadOptions;
use crate::error::{Problem, ProblemKind};
use crate::keys;
use crate::node::{Entry, Node, Value};
use crate::place::{Span, Text};
use crate::tool_files::ToolFiles;

/// The folder that makes a folder a project.
const PROJECT: &str = ".windlass";
/// The variable that assigns keys, and the beginning of further ones.
const VARIABLE: &str = "WINDLASS_SET";

/// Everything that was read, lowest first.
#[derive(Debug)]
pub(crate) struct Layers {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<PathBuf>,
    /// Files that seem to define tools and are not read.
    pub(crate) foreign: Vec<PathBuf>,
    /// Each layer, or what is wrong with it.
    pub(crate) parsed: Vec<Result<Node, Vec<Problem>>>,
}

impl Layers {
    /// Finds and parses all of them.
    pub(crate) fn gather(options: &LoadOptions) -> Self {
        let project = options
            .cwd
            .ancestors()
            .find(|folder| folder.join(PROJECT).is_dir());
        let mut layers = Self {
            root: project.unwrap_or(&options.cwd).to_owned(),
            files: Vec::new(),
            foreign: Vec::new(),
            parsed: Vec::new(),
        };
        if let Some(home) = options.config_folder() {
            layers.file(options, &home.join("windlass/config.toml"), Missing::Fine);
        }
        if let Some(project) = project {
            let folder = project.join(PROJECT);
            layers.file(options, &folder.join("config.toml"), Missing::Fine);
            layers.tool_files(options, &folder.join("tools"));
        }
        for file in &options.explicit {
            layers.file(options, &options.cwd.join(file), Missing::Error);
        }
        layers.variables(&options.environment);
        for assignment in &options.overrides {
            layers.assignment(format!("--set {assignment}"), assignment);
        }
        layers
    }

    fn tool_files(&mut self, options: &LoadOptions, folder: &Path) {
        let mut found = ToolFiles::default();
        if folder.exists() {
            found.gather(folder, 0);
        }
        found.files.sort();
        for file in found.files {
            self.file(options, &file, Missing::Error);
        }
        found.foreign.sort();
        self.foreign = found.foreign;
        for (folder, error) in found.unreadable {
            self.unreadable(&folder, error);
        }
    }

    fn file(&mut self, options: &LoadOptions, file: &Path, missing: Missing) {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::Fine => {
                return;
            }
            Err(error) => return self.unreadable(file, error),
        };
        self.files.push(file.to_owned());
        let shown = file.strip_prefix(&options.cwd).unwrap_or(file);
        let text = Arc::new(Text {
            name: shown.display().to_string(),
            file: Some(file.to_owned()),
            body: text,
        });
        self.parsed.push(Node::parse(&text));
    }

    fn unreadable(&mut self, file: &Path, error: io::Error) {
        let kind = ProblemKind::Unreadable {
            file: file.to_owned(),
            error,
        };
        self.parsed.push(Err(vec![Problem { place: None, kind }]));
    }

    /// `WINDLASS_SET` first, then `WINDLASS_SET_…` by name; an assignment per
    /// line.
    fn variables(&mut self, environment: &[(String, String)]) {
        let mut variables: Vec<_> = environment
            .iter()
            .filter(|(name, _)| {
                name.strip_prefix(VARIABLE)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            })
            .collect();
        variables.sort();
        for (name, value) in variables {
            for line in value.lines().map(str::trim).filter(|line| !line.is_empty()) {
                self.assignment(format!("variable {name}"), line);
            }
        }
    }

    fn assignment(&mut self, name: String, assignment: &str) {
        let text = Arc::new(Text {
            name,
            file: None,
            body: assignment.to_owned(),
        });
        self.parsed
            .push(parse_assignment(&text).map_err(|problem| vec![problem]));
    }
}

/// What it means that a file is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fine,
    Error,
}

/// Reads `a.b.c=value`. A value that is not TOML is a string as it stands, so
/// that `run=ask` needs no quotes inside the shell's.
fn parse_assignment(text: &Arc<Text>) -> Result<Node, Problem> {
    let no_assignment = || {
        Problem::at(
            &Span::new(text, 0..text.body.len()),
            ProblemKind::NoAssignment {
                assignment: text.body.clone(),
            },
        )
    };
    let (path, offset) = split_key(&text.body).ok_or_else(no_assignment)?;
    let key = Span::new(text, 0..offset - 1);
    let node = Node::parse_value(text, offset).unwrap_or_else(|_| Node {
        span: Span::new(text, offset..text.body.len()),
        value: Value::String(text.body[offset..].trim().to_owned()),
    });
    Ok(path.into_iter().rev().fold(node, |node, name| {
        let entry = Entry {
            key: key.clone(),
            node,
        };
        Node {
            span: key.clone(),
            value: Value::Table(IndexMap::from([(name, entry)])),
        }
    }))
}

/// The parts of a dotted key, and where its value begins. `*` needs no
/// quotes here.
fn split_key(assignment: &str) -> Option<(Vec<String>, usize)> {
    // A quoted part may hold `=` itself, so every one is tried until what
    // stands before it is a key.
    assignment.match_indices('=').find_map(|(equals, _)| {
        let quoted: Vec<_> = assignment[..equals]
            .split('.')
            .map(|part| match part.trim() {
                keys::EVERY_TOOL => "\"*\"",
                part => part,
            })
            .collect();
        let line = format!("{}=0", quoted.join("."));
        let table = toml::de::DeTable::parse(&line).ok()?;
        let mut path = Vec::new();
        let mut table = Some(table.get_ref());
        while let Some((name, value)) = table.and_then(|table| table.iter().next()) {
            path.push(name.get_ref().to_string());
            table = value.get_ref().as_table();
        }
        Some((path, equals + 1))
    })
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
