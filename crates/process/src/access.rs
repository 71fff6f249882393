//! The file access of this process's user, without a sandbox.

use std::path::Path;

use rustix::fs::{Access, access};
use windlass_sandbox::UserAccess;

/// The user that this process runs as.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThisUser;

impl UserAccess for ThisUser {
    fn reads(&self, path: &Path) -> bool {
        access(path, Access::READ_OK).is_ok()
    }

    fn writes(&self, path: &Path) -> bool {
        match access(path, Access::WRITE_OK) {
            Err(rustix::io::Errno::NOENT) => path
                .parent()
                .is_some_and(|folder| access(folder, Access::WRITE_OK).is_ok()),
            result => result.is_ok(),
        }
    }
}
