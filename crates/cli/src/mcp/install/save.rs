//! Writes a config atomically.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use chrono::Utc;

use super::client::{Scope, Setting};

/// Writes the config and returns the path of the backup, if the config existed.
pub(super) fn save(setting: &Setting, there: bool, text: &str) -> anyhow::Result<Option<PathBuf>> {
    let file = &setting.file;
    if !there {
        let folder = file.parent().unwrap_or(file);
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        // Some clients store keys in the same file.
        let mode = match setting.scope {
            Scope::User => 0o600,
            Scope::Project => 0o666,
        };
        replace(file, text, mode, true)?;
        return Ok(None);
    }
    // Follow symbolic links: many users keep their configs in another
    // directory.
    let real = file
        .canonicalize()
        .with_context(|| format!("cannot find `{}`", file.display()))?;
    let backup = backup(&real)?;
    let mode = fs::metadata(&real)?.permissions().mode();
    replace(&real, text, mode, false)?;
    Ok(Some(backup))
}

/// Copies the file to a backup beside it, with the time in its name.
fn backup(file: &Path) -> anyhow::Result<PathBuf> {
    let time = Utc::now().format("%Y%m%dT%H%M%SZ");
    let mut number = 1;
    let backup = loop {
        let more = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".{time}{more}.bak"));
        let name = PathBuf::from(name);
        if !name.exists() {
            break name;
        }
        number += 1;
    };
    fs::copy(file, &backup).with_context(|| format!("cannot write `{}`", backup.display()))?;
    Ok(backup)
}

/// Writes a temporary file beside it and renames it. `masked` applies the
/// user's umask to the mode.
fn replace(file: &Path, text: &str, mode: u32, masked: bool) -> anyhow::Result<()> {
    let write = || {
        let folder = file.parent().unwrap_or(file);
        let mut new = tempfile::Builder::new()
            .prefix(".windlass-")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        new.write_all(text.as_bytes())?;
        if !masked {
            let permissions = Permissions::from_mode(mode & 0o7777);
            new.as_file().set_permissions(permissions)?;
        }
        new.as_file().sync_all()?;
        new.persist(file)?;
        std::io::Result::Ok(())
    };
    write().with_context(|| format!("cannot write `{}`", file.display()))
}
