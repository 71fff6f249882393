//! The limit of open files: the runtime raises its own, and programs get the original one.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static ORIGINAL: OnceLock<Option<u64>> = OnceLock::new();

/// Raises the soft limit of this process to its hard limit.
pub(super) fn raise() {
    let limit = getrlimit(Resource::Nofile);
    if ORIGINAL.set(limit.current).is_ok() {
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

/// The soft limit before it was raised; `None` if it was not, or there was none.
pub(super) fn original() -> Option<u64> {
    ORIGINAL.get().copied().flatten()
}

/// Sets the soft limit of this process.
pub(super) fn set(soft: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(soft),
            maximum,
        },
    );
}
