//! The files of a project, read once.
//!
//! Start at [`ProjectFiles::gather`]. The texts read here are the ones that are
//! trusted and loaded, so that a later change of a file has no effect.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::LoadOptions;
use crate::error::{Problem, ProblemKind};
use crate::node::Node;
use crate::place::SourceText;
use crate::plain_file::{FileFault, LARGEST_FILE, Owners, read_text};
use crate::tool_files::ToolFiles;
use crate::trust::{ProjectText, ProjectTrust};

/// The folder that makes a folder a project.
pub(crate) const PROJECT: &str = ".windlass";

/// The maximum size of all files together, in bytes.
const LARGEST_PROJECT: usize = 16 << 20;

/// A project's files as they were read.
#[derive(Debug, Default)]
pub(crate) struct ProjectFiles {
    pub(crate) texts: Vec<ProjectText>,
    /// Files that seem to define tools, in a format that is not read.
    pub(crate) foreign: Vec<PathBuf>,
    /// Files that cannot be read, or must not be.
    pub(crate) refused: Vec<Problem>,
}

/// The nearest folder above `cwd` that has a `.windlass` folder.
pub(crate) fn find(cwd: &Path) -> Option<&Path> {
    cwd.ancestors().find(|folder| folder.join(PROJECT).is_dir())
}

/// Rejects a project whose folders belong to another user. Other problems of
/// the folders are found when they are read.
pub(crate) fn check_folders(root: &Path, owners: Owners<'_>) -> Result<(), Problem> {
    for folder in [root.to_owned(), root.join(PROJECT)] {
        let metadata = fs::metadata(&folder).map_err(FileFault::from);
        if let Err(fault) = metadata.and_then(|metadata| owners.check(&metadata)) {
            return Err(problem(&folder, fault));
        }
    }
    Ok(())
}

impl ProjectFiles {
    pub(crate) fn gather(root: &Path, options: &LoadOptions) -> Self {
        let owners = options.project_owners();
        let folder = root.join(PROJECT);
        let mut project = Self::default();
        let config = folder.join("config.toml");
        if fs::symlink_metadata(&config).is_ok() {
            project.read(root, &config, owners);
        }
        let tools = folder.join("tools");
        let mut found = ToolFiles::default();
        if tools.exists() {
            found.gather(&tools, owners, 0);
        }
        found.files.sort();
        for file in found.files {
            project.read(root, &file, owners);
        }
        found.foreign.sort();
        project.foreign = found.foreign;
        for (folder, fault) in found.unreadable {
            project.refused.push(problem(&folder, fault));
        }
        project
    }

    fn read(&mut self, root: &Path, file: &Path, owners: Owners<'_>) {
        let text = match read_text(file, owners) {
            Ok(text) => text,
            Err(fault) => return self.refused.push(problem(file, fault)),
        };
        let size: usize = self.texts.iter().map(|text| text.text.len()).sum();
        if size + text.len() > LARGEST_PROJECT {
            let fault = FileFault::TooLarge { most: LARGEST_FILE };
            return self.refused.push(problem(file, fault));
        }
        self.texts.push(ProjectText {
            path: file.strip_prefix(root).unwrap_or(file).to_owned(),
            text,
        });
    }

    /// Parses the texts as TOML; each gives a layer or its problems.
    pub(crate) fn parse(
        &self,
        root: &Path,
        options: &LoadOptions,
    ) -> Vec<Result<Node, Vec<Problem>>> {
        let parsed = self.texts.iter().map(|text| {
            let file = root.join(&text.path);
            Node::parse(&shown(options, &file, text.text.clone()))
        });
        parsed.collect()
    }
}

impl LoadOptions {
    fn project_owners(&self) -> Owners<'_> {
        match self.trust {
            ProjectTrust::Always => Owners::Anybody,
            ProjectTrust::Unsaid | ProjectTrust::By(_) => Owners::User(&self.environment),
        }
    }

    /// The project of these options, if the user owns its folders.
    pub(crate) fn project_root(&self) -> Result<Option<&Path>, Problem> {
        let Some(root) = find(&self.cwd) else {
            return Ok(None);
        };
        check_folders(root, self.project_owners())?;
        Ok(Some(root))
    }
}

/// A text with the name to show for its file.
pub(crate) fn shown(options: &LoadOptions, file: &Path, body: String) -> Arc<SourceText> {
    // Without its first character, a path below `/` would look relative.
    let below = file.strip_prefix(&options.cwd).ok();
    let name = below.filter(|_| options.cwd != Path::new("/"));
    let name = name.unwrap_or(file);
    Arc::new(SourceText {
        name: name.display().to_string(),
        file: Some(file.to_owned()),
        body,
    })
}

/// The problem of a file that cannot be read, or must not be.
pub(crate) fn problem(file: &Path, fault: FileFault) -> Problem {
    let file = file.to_owned();
    let kind = match fault {
        FileFault::Unreadable(error) => ProblemKind::Unreadable { file, error },
        fault => ProblemKind::Refused { file, fault },
    };
    Problem { place: None, kind }
}
