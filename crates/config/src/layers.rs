//! The layers: files, variables and flags, in their order.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::config::LoadOptions;
use crate::error::{Problem, ProblemKind};
use crate::keys;
use crate::node::{Node, NodeEntry, Value};
use crate::place::{SourceText, TextSpan};
use crate::plain_file::{FileFault, Owners, read_text};
use crate::project::{self, ProjectFiles};

/// The variable that assigns keys, and the prefix of further ones.
const VARIABLE: &str = "WINDLASS_SET";

/// A layer, or its problems.
pub(crate) type ParsedLayer = Result<Node, Vec<Problem>>;

/// All layers. The project's files rank between the user's own files and those
/// given explicitly.
#[derive(Debug)]
pub(crate) struct Layers {
    pub(crate) root: PathBuf,
    /// The user's file.
    pub(crate) user: Vec<ParsedLayer>,
    /// Files, variables and flags that are given explicitly, lowest first.
    pub(crate) by_hand: Vec<ParsedLayer>,
    pub(crate) project: ProjectFiles,
    user_files: Vec<PathBuf>,
    given_files: Vec<PathBuf>,
}

impl Layers {
    /// Finds and reads all of them.
    pub(crate) fn gather(options: &LoadOptions) -> Self {
        let mut layers = Self {
            root: options.cwd.clone(),
            user: Vec::new(),
            by_hand: Vec::new(),
            project: ProjectFiles::default(),
            user_files: Vec::new(),
            given_files: Vec::new(),
        };
        if let Some(file) = options.user_file() {
            let read = read(options, &file, Owners::UserOrRoot, MissingFile::Fine);
            layers.user_files.extend(read.is_some().then_some(file));
            layers.user.extend(read);
        }
        match options.project_root() {
            Ok(Some(root)) => {
                root.clone_into(&mut layers.root);
                layers.project = ProjectFiles::gather(root, options);
            }
            Ok(None) => {}
            // A folder of another user is not a project of this user.
            Err(problem) => layers.project.refused.push(problem),
        }
        for file in &options.explicit {
            let file = options.cwd.join(file);
            let read = read(options, &file, Owners::Anybody, MissingFile::Error);
            layers.given_files.push(file);
            layers.by_hand.extend(read);
        }
        layers.variables(&options.environment);
        for assignment in &options.overrides {
            layers.assignment(format!("--set {assignment}"), assignment);
        }
        layers
    }

    /// The files that were read, lowest layer first.
    pub(crate) fn files(&self, with_project: bool) -> Vec<PathBuf> {
        let texts = self.project.texts.iter().filter(|_| with_project);
        let project = texts.map(|text| self.root.join(&text.path));
        let own = self.user_files.iter().cloned();
        own.chain(project)
            .chain(self.given_files.iter().cloned())
            .collect()
    }

    /// Reads `WINDLASS_SET` first, then `WINDLASS_SET_…` by name; one
    /// assignment per line.
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
        let text = Arc::new(SourceText {
            name,
            file: None,
            body: assignment.to_owned(),
        });
        self.by_hand
            .push(parse_assignment(&text).map_err(|problem| vec![problem]));
    }
}

fn read(
    options: &LoadOptions,
    file: &Path,
    owners: Owners<'_>,
    missing: MissingFile,
) -> Option<ParsedLayer> {
    match read_text(file, owners) {
        Ok(text) => Some(Node::parse(&project::shown(options, file, text))),
        Err(FileFault::Unreadable(error))
            if error.kind() == io::ErrorKind::NotFound && missing == MissingFile::Fine =>
        {
            None
        }
        Err(fault) => Some(Err(vec![project::problem(file, fault)])),
    }
}

/// The consequence of a missing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingFile {
    Fine,
    Error,
}

/// Reads `a.b.c=value`. A value that is not TOML is taken as a string, so that
/// `run=ask` needs no inner quotes.
fn parse_assignment(text: &Arc<SourceText>) -> Result<Node, Problem> {
    let no_assignment = || {
        Problem::at(
            &TextSpan::new(text, 0..text.body.len()),
            ProblemKind::NoAssignment {
                assignment: text.body.clone(),
            },
        )
    };
    let (path, offset) = split_key(&text.body).ok_or_else(no_assignment)?;
    let key = TextSpan::new(text, 0..offset - 1);
    let node = Node::parse_value(text, offset).unwrap_or_else(|_| Node {
        span: TextSpan::new(text, offset..text.body.len()),
        value: Value::String(text.body[offset..].trim().to_owned()),
    });
    Ok(path.into_iter().rev().fold(node, |node, name| {
        let entry = NodeEntry {
            key: key.clone(),
            node,
        };
        Node {
            span: key.clone(),
            value: Value::Table(IndexMap::from([(name, entry)])),
        }
    }))
}

/// The parts of a dotted key, and the offset of its value. `*` needs no quotes
/// here.
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
