//! What a tool's settings say of its output.

use windlass_output::OutputOptions;
use windlass_process::TerminalSize;

/// How much of a tool's output is kept, and on what terminal it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// How large a log may grow.
    pub log_limit: u64,
    /// How large a terminal is, where there is one.
    pub size: TerminalSize,
    /// An asciicast of the terminal is kept beside its log.
    pub record: bool,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            log_limit: OutputOptions::default().log_limit,
            size: TerminalSize::default(),
            record: false,
        }
    }
}
