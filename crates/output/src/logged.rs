//! An output that is kept in its log alone.

use std::path::{Path, PathBuf};

use super::output::{Checkpoint, Output, OutputOptions};

/// An output that nobody adds to, by the file that has all of it. It takes no memory until it is opened.
#[derive(Clone, Debug)]
pub struct LoggedOutput {
    path: PathBuf,
    limit: u64,
    checkpoint: Checkpoint,
}

impl Output {
    /// Brings the log up to date, making it if need be. `None` if there is none, or it cannot be written.
    pub fn logged(&self) -> Option<LoggedOutput> {
        let checkpoint = self.checkpoint();
        let state = self.shared.state.lock();
        let (path, limit) = state.store.log_file()?;
        Some(LoggedOutput {
            path: path.to_owned(),
            limit,
            checkpoint,
        })
    }
}

impl LoggedOutput {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes were written.
    pub fn written(&self) -> u64 {
        self.checkpoint.stored
    }

    /// The output again. It is finished, and dropping it leaves the file where it is.
    pub fn open(&self) -> Output {
        let options = OutputOptions {
            log: Some(self.path.clone()),
            log_limit: self.limit,
            ..OutputOptions::default()
        };
        let output = Output::resume(options, &self.checkpoint);
        output.keep_log();
        output.finish();
        output
    }
}
