//! Locates programs as a shell does, with specific errors.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::StartError;

/// The search path if `PATH` is not set.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Resolves a program to an absolute path.
///
/// A name with a slash is relative to `cwd`; any other is searched in
/// `path_env` (empty and relative entries are relative to `cwd` too). The
/// result exists, is a file and is executable by this user.
pub fn find_program(
    name: &OsStr,
    path_env: Option<&OsStr>,
    cwd: &Path,
) -> Result<PathBuf, StartError> {
    let program = || name.to_owned();
    if name.is_empty() {
        return Err(StartError::NotFound { program: program() });
    }
    if name.as_bytes().contains(&b'/') {
        let path = cwd.join(name);
        return match probe(&path) {
            Probe::Good => Ok(path),
            bad => Err(bad.into_error(program())),
        };
    }
    let path_env = path_env.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut best = Probe::Missing;
    for folder in std::env::split_paths(path_env) {
        let path = cwd.join(folder).join(name);
        match probe(&path) {
            Probe::Good => return Ok(path),
            // Skip directories. A file without permission is what the user meant.
            Probe::Denied => best = Probe::Denied,
            Probe::Missing | Probe::Unreachable | Probe::NoFile => {}
        }
    }
    Err(best.into_error(program()))
}

/// The error number for a damaged executable.
#[cfg(not(target_vendor = "apple"))]
const DAMAGED: i32 = libc::ELIBBAD;
#[cfg(target_vendor = "apple")]
const DAMAGED: i32 = libc::EBADMACHO;

/// Explains why executing `path` failed with `error`.
pub(crate) fn explain(program: &OsStr, path: &Path, error: io::Error) -> StartError {
    let program = program.to_owned();
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR) => match probe(path) {
            Probe::Missing => StartError::NotFound { program },
            _ => StartError::Interpreter { program },
        },
        Some(libc::EACCES | libc::EPERM) => match probe(path) {
            Probe::NoFile => StartError::NotExecutable { program },
            _ => StartError::Permission { program },
        },
        Some(libc::ENOEXEC | libc::EISDIR | DAMAGED) => StartError::NotExecutable { program },
        Some(libc::E2BIG) => StartError::TooLong { program },
        _ => StartError::System {
            program,
            source: error,
        },
    }
}

/// The kind of file at a path.
#[derive(Clone, Copy)]
enum Probe {
    Good,
    Missing,
    Denied,
    /// A directory of the path is not searchable.
    Unreachable,
    NoFile,
}

impl Probe {
    fn into_error(self, program: OsString) -> StartError {
        match self {
            Self::Good | Self::Missing => StartError::NotFound { program },
            Self::Denied | Self::Unreachable => StartError::Permission { program },
            Self::NoFile => StartError::NotExecutable { program },
        }
    }
}

fn probe(path: &Path) -> Probe {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Probe::NoFile,
        Ok(_) => match accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS) {
            Ok(()) => Probe::Good,
            Err(_) => Probe::Denied,
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Probe::Unreachable,
        Err(_) => Probe::Missing,
    }
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
