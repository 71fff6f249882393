//! A folder to load from.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use windlass_config::{Config, ConfigError, LoadOptions, ProjectTrust, load};

/// A home and a project in a folder that goes away.
pub(crate) struct Folder {
    folder: TempDir,
    pub(crate) options: LoadOptions,
}

impl Folder {
    /// Files by their paths: `home/…` is the user's folder of configuration
    /// files, `project/…` is where loading begins.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let cwd = root.join("project");
        fs::create_dir_all(&cwd).unwrap();
        let options = LoadOptions {
            cwd,
            config_home: Some(root.join("home")),
            trust: ProjectTrust::Always,
            ..LoadOptions::default()
        };
        Self { folder, options }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn set(mut self, assignment: &str) -> Self {
        self.options.overrides.push(assignment.to_owned());
        self
    }

    pub(crate) fn load(&self) -> Result<Config, ConfigError> {
        load(&self.options)
    }

    /// The error's text, free of this run's folder.
    pub(crate) fn error(&self) -> String {
        let error = self.load().expect_err("it must not load");
        let folder = self.folder.path().canonicalize().unwrap();
        error.to_string().replace(folder.to_str().unwrap(), "")
    }
}

/// Loads one project file.
pub(crate) fn load_text(toml: &str) -> Config {
    match Folder::new(&[("project/.windlass/config.toml", toml)]).load() {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    }
}

/// Loads one file of the user's own.
pub(crate) fn load_own_text(toml: &str) -> Config {
    match Folder::new(&[("home/windlass/config.toml", toml)]).load() {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    }
}

/// What is wrong with one project file.
pub(crate) fn error_of(toml: &str) -> String {
    Folder::new(&[("project/.windlass/config.toml", toml)]).error()
}
