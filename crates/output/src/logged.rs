//! An output that is stored only in its log.

use std::path::{Path, PathBuf};

use super::output::{Checkpoint, Output, OutputOptions};

/// A finished output, stored in its log file. It uses no memory until it is
/// opened.
#[derive(Clone, Debug)]
pub struct LoggedOutput {
    path: PathBuf,
    limit: u64,
    checkpoint: Checkpoint,
}

impl Output {
    /// Flushes the output to its log, and creates the log if necessary. `None`
    /// if there is no log or it cannot be written.
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
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of bytes written.
    pub fn written(&self) -> u64 {
        self.checkpoint.stored
    }

    /// Opens the output for reading. It is finished; dropping it does not
    /// remove the file.
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
