//! Hides placeholders from git, by lines in the repository's `info/exclude`.
//!
//! Everything here may fail: git then shows the placeholder. Programs of a sandbox can change the file, so links are not
//! followed, and the lock is one that they cannot reach.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, ResolveFlags, flock, openat2};

use super::private::lock_file;

/// A longer file is left alone.
const LONGEST: u64 = 1 << 20;

/// Adds the line of a placeholder.
pub(super) fn add(placeholder: &Path) {
    edit(placeholder, |text, line| {
        let known = text.split(|byte| *byte == b'\n').any(|it| it == line);
        if known {
            return None;
        }
        let mut text = text.to_vec();
        if text.last().is_some_and(|last| *last != b'\n') {
            text.push(b'\n');
        }
        text.extend(line);
        text.push(b'\n');
        Some(text)
    });
}

/// Removes the line of a placeholder.
pub(super) fn remove(placeholder: &Path) {
    edit(placeholder, |text, line| {
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        let others = lines.filter(|it| it.strip_suffix(b"\n").unwrap_or(it) != line);
        let others = others.collect::<Vec<_>>().concat();
        (others.len() < text.len()).then_some(others)
    });
}

/// Replaces the content of the file, if `change` returns a new one.
fn edit(placeholder: &Path, change: impl FnOnce(&[u8], &[u8]) -> Option<Vec<u8>>) {
    let Some((folder, line)) = exclusion(placeholder) else {
        return;
    };
    let path = folder.join("info/exclude");
    let Some((lock_path, lock)) = lock_file(&path).and_then(|it| {
        let lock = File::create(&it).ok()?;
        flock(&lock, FlockOperation::LockExclusive).ok()?;
        Some((it, lock))
    }) else {
        return;
    };
    let _ = std::fs::create_dir(folder.join("info"));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o644);
    let Ok(opened) = openat2(CWD, &path, flags, mode, ResolveFlags::NO_SYMLINKS) else {
        return;
    };
    let mut file = File::from(opened);
    let is_plain = |it: std::fs::Metadata| it.is_file() && it.nlink() == 1 && it.len() <= LONGEST;
    let mut text = Vec::new();
    if !file.metadata().is_ok_and(is_plain) || file.read_to_end(&mut text).is_err() {
        return;
    }
    if let Some(changed) = change(&text, &line) {
        let written = file.rewind().and_then(|()| file.write_all(&changed));
        let _ = written.and_then(|()| file.set_len(changed.len() as u64));
    }
    // A third process may then lock another file while a second one has waited for this. At worst a line is lost.
    let _ = std::fs::remove_file(lock_path);
    drop(lock);
}

/// The common folder of the repository that contains a placeholder, and its line.
fn exclusion(placeholder: &Path) -> Option<(PathBuf, Vec<u8>)> {
    let mut folders = placeholder.ancestors().skip(1);
    let (root, git) = folders.find_map(|folder| Some((folder, common_folder(folder)?)))?;
    if placeholder.starts_with(&git) {
        return None;
    }
    let mut line = Vec::new();
    for name in placeholder.strip_prefix(root).ok()? {
        line.push(b'/');
        for byte in name.as_bytes() {
            if b"\\*?[ ".contains(byte) {
                line.push(b'\\');
            }
            line.push(*byte);
        }
    }
    // Distinguishes it from the same line of somebody else, and matches the same file.
    let at = line.iter().rposition(|byte| *byte == b'/')? + 1;
    let first = line[at];
    line.splice(at..=at, [b'[', first, b']']);
    Some((git, line))
}

/// The folder of git that belongs to a work tree, shared by all of its work trees.
fn common_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let metadata = git.symlink_metadata().ok()?;
    if metadata.is_dir() {
        return git.join("HEAD").exists().then_some(git);
    }
    let read = |path: &Path| Some(std::fs::read_to_string(path).ok()?.trim().to_owned());
    let own = root.join(read(&git)?.strip_prefix("gitdir:")?.trim());
    let common = match read(&own.join("commondir")) {
        Some(common) => own.join(common),
        None => own,
    };
    common.canonicalize().ok()
}

#[cfg(test)]
#[path = "git_exclude_tests.rs"]
mod tests;
