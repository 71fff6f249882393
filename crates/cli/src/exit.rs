//! Exit codes, as documented in the README.

/// The tool failed, or a call was refused.
pub(crate) const FAILED: u8 = 1;
/// The command line or the config is wrong; nothing ran.
pub(crate) const USAGE: u8 = 2;
/// The turn of `query` ended, and calls in it were refused.
pub(crate) const REFUSED: u8 = 3;
/// The reader of our output is gone.
pub(crate) const OUTPUT_CLOSED: u8 = 141;
/// Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;
/// SIGTERM.
pub(crate) const TERMINATED: u8 = 143;
/// SIGHUP.
pub(crate) const HUNG_UP: u8 = 129;
