//! From the words of a configuration to the rules of a confinement.

use std::path::{Component, Path, PathBuf};

use crate::places::{
    CACHES, HOME_HOLES, MADE_CACHES, PROJECT_HOLES, ProjectPlaces, SECRETS, SYSTEM, SYSTEM_SECRETS,
};
use crate::{Confinement, SandboxMode, SandboxSettings};

/// The result of [`resolve`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxResolution {
    /// The rules; `None` if programs run without a sandbox.
    pub confinement: Option<Confinement>,
    /// Facts that the person should know, a sentence each.
    pub told: Vec<String>,
}

/// Settings for a machine that resolves them itself, with its own folders.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UnresolvedSandbox {
    pub settings: SandboxSettings,
    /// Settings that they may not be laxer than.
    pub bound: Option<SandboxSettings>,
}

impl UnresolvedSandbox {
    /// [`resolve`] with the places of this machine.
    pub fn resolve(&self, places: &ProjectPlaces) -> SandboxResolution {
        resolve(&self.settings, self.bound.as_ref(), places)
    }
}

/// Resolves settings for a project. `bound` are settings that these may not be laxer than, such as the user's own beside
/// those of a project.
pub fn resolve(
    settings: &SandboxSettings,
    bound: Option<&SandboxSettings>,
    places: &ProjectPlaces,
) -> SandboxResolution {
    let mut told = Vec::new();
    let own = confinement(settings, places, &mut told);
    let bound = bound.and_then(|bound| confinement(bound, places, &mut told));
    told.dedup();
    let confinement = match (own, bound) {
        (Some(own), Some(bound)) => Some(own.within(&bound)),
        (own, bound) => own.or(bound),
    };
    SandboxResolution { confinement, told }
}

fn confinement(
    settings: &SandboxSettings,
    places: &ProjectPlaces,
    told: &mut Vec<String>,
) -> Option<Confinement> {
    let ProjectPlaces { root, home, .. } = places;
    if settings.mode == SandboxMode::Off {
        return None;
    }
    let paths = |texts: &[String]| -> Vec<PathBuf> {
        texts.iter().map(|text| expand(text, root, home)).collect()
    };
    let in_home = |names: &[&str]| names.iter().map(|name| home.join(name)).collect::<Vec<_>>();
    let is_workspace = settings.mode == SandboxMode::Workspace;
    let mut writable = if let Some(texts) = &settings.write {
        paths(texts)
    } else {
        let mut writable = Vec::new();
        if is_workspace && home.starts_with(root) {
            told.push(format!(
                "{} is too broad to be writable in a sandbox; programs can only read it",
                root.display()
            ));
        } else if is_workspace {
            writable.push(root.clone());
            writable.extend(places.git_folders.iter().cloned());
        }
        writable.extend(in_home(CACHES));
        writable
    };
    let mut hidden = in_home(SECRETS);
    hidden.extend(SYSTEM_SECRETS.iter().map(PathBuf::from));
    hidden.extend(places.own.iter().cloned());
    hidden.extend(paths(&settings.deny));
    writable.retain(|path| !hidden.iter().any(|secret| path.starts_with(secret)));
    let readable = settings.read.as_ref().map(|texts| {
        let mut readable = paths(texts);
        readable.extend(SYSTEM.iter().map(PathBuf::from));
        readable.push(root.clone());
        readable
    });
    let holes = write_holes(places);
    let within = |hole: &Path| writable.iter().any(|folder| hole.starts_with(folder));
    let mut made = in_home(MADE_CACHES);
    made.retain(|path| home.is_absolute() && writable.contains(path));
    // One that does not exist cannot be hidden, and a program might make it.
    made.extend(places.own.iter().cloned());
    Some(Confinement {
        root: root.clone(),
        readable,
        made,
        write_holes: holes.iter().filter(|hole| within(hole)).cloned().collect(),
        guarded: holes,
        writable,
        hidden,
        network: settings.network.clone(),
        unavailable: settings.unavailable,
    })
}

/// Everything that is not written wherever it may lie in a writable folder.
fn write_holes(places: &ProjectPlaces) -> Vec<PathBuf> {
    let mut holes: Vec<PathBuf> = Vec::new();
    // The `.git` of a linked work tree is a file that names its folder.
    let linked = !places.git_folders.is_empty();
    for name in PROJECT_HOLES {
        match name.strip_prefix(".git/") {
            Some(_) if linked => {}
            _ => holes.push(places.root.join(name)),
        }
    }
    if linked {
        holes.push(places.root.join(".git"));
    }
    for folder in &places.git_folders {
        holes.extend(["hooks", "config", "config.worktree"].map(|name| folder.join(name)));
    }
    holes.extend(places.git_files.iter().cloned());
    holes.extend(HOME_HOLES.iter().map(|name| places.home.join(name)));
    if let Some(user) = places.home.file_name() {
        // Shells read these at their start.
        let user = user.to_string_lossy();
        for name in [
            format!("p10k-instant-prompt-{user}.zsh"),
            format!("p10k-dump-{user}.zsh"),
        ] {
            holes.push(places.home.join(".cache").join(name));
        }
    }
    holes
}

/// A path of the configuration: absolute, below `~`, or relative to the project's root.
fn expand(text: &str, root: &Path, home: &Path) -> PathBuf {
    let path = match text.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => root.join(text),
    };
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
