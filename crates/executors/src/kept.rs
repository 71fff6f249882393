//! Output settings of a tool.

use windlass_output::OutputOptions;
use windlass_process::TerminalSize;

/// Storage limits of a tool's output, and the size of its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The maximum size of the log.
    pub log_limit: u64,
    /// The terminal size, if there is a terminal.
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
