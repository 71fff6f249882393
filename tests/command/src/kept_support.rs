//! The kept handles of a project, and a runtime that takes them over.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Drive, Project, eventually};

impl Project {
    /// Starts `windlass drive` with a session of this name.
    pub fn drive_named(&self, name: &str) -> Drive {
        self.lines(&["drive", "--session", name])
    }

    /// Starts `windlass drive` with a session of this name, which takes over all kept handles of the project. Waits until
    /// the adoption of each is settled: a holder may be slow to reply on a busy machine.
    #[track_caller]
    pub fn drive_adopting(&self, name: &str) -> Drive {
        let handles = self.kept_files().len();
        let mut command = self.windlass(&["drive", "--session", name]);
        command.env("WINDLASS_LOG", "windlass::kept=debug");
        let drive = self.lines_of(command);
        eventually("each adoption is settled", || settled(&drive) == handles);
        drive
    }

    /// The files that lead to kept handles.
    pub fn kept_files(&self) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(self.state_dir().join("kept")) else {
            return Vec::new();
        };
        let files = files.map(|file| file.unwrap().path());
        files
            .filter(|file| file.extension().is_some_and(|it| it == "json"))
            .collect()
    }

    /// The process that holds the only kept handle.
    pub fn holder(&self) -> u32 {
        self.holders()[0]
    }

    /// The processes that hold kept handles.
    pub fn holders(&self) -> Vec<u32> {
        let holder = |file: &PathBuf| {
            let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
            u32::try_from(kept["key"]["holder"][0].as_u64().unwrap()).unwrap()
        };
        self.kept_files().iter().map(holder).collect()
    }
}

/// The number of handles whose adoption is settled, by the diagnostics of a runtime.
pub fn settled(drive: &Drive) -> usize {
    let lines = drive.stderr();
    lines
        .matches("the adoption of a kept handle is settled")
        .count()
}
