//! The sandboxes and limits of a project's programs.
//!
//! Start at [`Sandboxes::of`], which reads the project once;
//! [`Sandboxes::confine`] then returns the launcher of one tool.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use windlass_config::{Config, McpTransport, ToolSettings};
use windlass_executors::Launcher;
use windlass_sandbox::{OnUnavailable, ProjectPlaces, ResourceLimits, SandboxSettings, resolve};

use crate::git_files::deciding_files;
use crate::place::{cache_dir, config_dir, state_dir};

/// The paths of a project on this machine, for this user.
pub fn project_places(root: &Path) -> ProjectPlaces {
    let clean = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let root = clean(root.to_owned());
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let git_folders = linked_git_folders(&root);
    let repositories = git_folders.iter().cloned().chain([root.join(".git")]);
    let deciding = repositories.flat_map(|folder| deciding_files(&folder, &root));
    ProjectPlaces {
        git_files: deciding.collect(),
        home: home.map_or_else(|| PathBuf::from("/nonexistent"), clean),
        // The cache holds descriptions of tools: only this program may write there.
        own: [state_dir(), cache_dir()]
            .into_iter()
            .chain(config_dir())
            .map(clean)
            .collect(),
        git_folders,
        root,
    }
}

/// Gives launchers their sandboxes.
pub(crate) struct Sandboxes {
    places: ProjectPlaces,
    /// Facts that the person should know, nothing twice.
    told: Mutex<Vec<String>>,
    /// The launchers whose programs start even if this system cannot enforce everything.
    lenient: Mutex<Vec<Launcher>>,
}

impl Sandboxes {
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            places: project_places(&config.root),
            told: Mutex::default(),
            lenient: Mutex::default(),
        }
    }

    /// The launcher with a tool's sandbox and limits.
    pub(crate) fn confine(&self, launcher: Launcher, settings: &ToolSettings) -> Launcher {
        let ToolSettings {
            sandbox,
            sandbox_floor,
            limits,
            ..
        } = settings;
        self.apply(launcher, sandbox.as_ref(), sandbox_floor.as_ref(), *limits)
    }

    /// The launcher with a server's sandbox and limits; default: those of every
    /// tool.
    pub(crate) fn confine_server(
        &self,
        launcher: Launcher,
        transport: &McpTransport,
        every_tool: &ToolSettings,
    ) -> Launcher {
        let McpTransport::Stdio { confined, .. } = transport else {
            return launcher;
        };
        let sandbox = confined.sandbox.as_ref().or(every_tool.sandbox.as_ref());
        let floor = confined
            .floor
            .as_ref()
            .or(every_tool.sandbox_floor.as_ref());
        let limits = confined.limits.or(every_tool.limits);
        self.apply(launcher, sandbox, floor, limits)
    }

    fn apply(
        &self,
        launcher: Launcher,
        sandbox: Option<&SandboxSettings>,
        floor: Option<&SandboxSettings>,
        limits: ResourceLimits,
    ) -> Launcher {
        let off = SandboxSettings::default();
        let resolution = resolve(sandbox.unwrap_or(&off), floor, &self.places);
        let mut told = self.told.lock();
        for fact in resolution.told {
            if !told.contains(&fact) {
                told.push(fact);
            }
        }
        let launcher = match resolution.confinement {
            Some(confinement) => {
                let is_lenient = confinement.unavailable == OnUnavailable::Warn;
                let launcher = launcher.confined(confinement);
                let mut lenient = self.lenient.lock();
                let is_known = |it: &Launcher| it.confinement() == launcher.confinement();
                if is_lenient && !lenient.iter().any(is_known) {
                    lenient.push(launcher.clone());
                }
                launcher
            }
            None => launcher,
        };
        if limits.is_empty() {
            launcher
        } else {
            launcher.limited(limits)
        }
    }

    /// Facts that the person should know, a sentence each.
    pub(crate) async fn warnings(&self) -> Vec<String> {
        let lenient = std::mem::take(&mut *self.lenient.lock());
        let mut told = self.told.lock().clone();
        for launcher in lenient {
            let missing = launcher.unprotected().await;
            let warning = format!(
                "the sandbox is weaker than configured: this system cannot keep programs from {}",
                missing.join("; from ")
            );
            if !missing.is_empty() && !told.contains(&warning) {
                told.push(warning);
            }
        }
        told
    }
}

/// The git folders that a linked work tree writes to, if the project is one.
/// The project's `.git` is not trusted: the repository must know the project
/// too.
fn linked_git_folders(root: &Path) -> Vec<PathBuf> {
    let link = root.join(".git");
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let found = || {
        let text = read(&link).filter(|text| text.len() < 4096)?;
        let own = root.join(text.strip_prefix("gitdir:")?.trim());
        let own = own.canonicalize().ok()?;
        let back = PathBuf::from(read(&own.join("gitdir"))?.trim());
        if back.canonicalize().ok()? != link.canonicalize().ok()? {
            return None;
        }
        let common = own.join(read(&own.join("commondir"))?.trim());
        let common = common.canonicalize().ok()?;
        own.starts_with(&common).then_some(common)
    };
    found().into_iter().collect()
}

#[cfg(test)]
#[path = "sandboxes_tests.rs"]
mod tests;
