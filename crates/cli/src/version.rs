//! The version, as `--version` prints it.

/// Version, commit, features and target of this program.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("WINDLASS_COMMIT"),
    "\nfeatures: ",
    env!("WINDLASS_FEATURES"),
    "\ntarget: ",
    env!("WINDLASS_TARGET"),
);
