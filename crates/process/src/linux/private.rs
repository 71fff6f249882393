//! The private directories of a sandbox, and its placeholders.
//!
//! Dropping the sandbox removes all of them, and the next process removes those of a dead one. Each sandbox locks the
//! placeholders that it relies on, and the last one removes them. There are two locks: a file in the machine's `/tmp`,
//! which programs of a sandbox cannot reach, and the placeholder itself, for runtimes that share the project but not
//! `/tmp`. Any program that can read the placeholder can take the second lock, and some file systems do not support it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::keeping::has_listener;
use super::mounts::is_private;
use super::placeholder;
use super::tree::Member;

const PREFIX: &str = "windlass-sandbox-";
/// The file that lists placeholders elsewhere.
const LIST: &str = "placeholders";
/// The most attempts to create the base folder while others remove it.
const ATTEMPTS: u32 = 16;
/// The file that lists the sockets of holders of kept programs.
const KEPT: &str = "kept";

/// The treatment of a placeholder on which another process holds an exclusive
/// lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnForeignLock {
    /// It is being removed, and must be created again.
    Retry,
    /// It has been locked for longer than a removal takes, so it is not being
    /// removed.
    Ignore,
}

struct PlaceholderLock {
    _by_name: Option<OwnedFd>,
    itself: Option<OwnedFd>,
}

/// The folders of one sandbox, inaccessible to others.
pub(super) struct PrivateFolder {
    path: PathBuf,
    placeholders: Vec<PathBuf>,
    locks: HashMap<PathBuf, PlaceholderLock>,
    /// The number of kept programs that use them.
    kept: AtomicU32,
}

impl PrivateFolder {
    pub(super) fn new() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        sweep();
        let own = std::process::id();
        let start = Member::read(own.cast_signed()).map_or(0, |own| own.start);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{own}-{start}-{next}");
        let mut attempts = 0;
        let path = loop {
            let path = make_base()?.join(&name);
            attempts += 1;
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => break path,
                // The last sandbox of another process has removed the folder meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        };
        // Programs see it as `/tmp`, so resolve symbolic links.
        let path = path.canonicalize()?;
        let this = Self {
            path,
            placeholders: Vec::new(),
            locks: HashMap::new(),
            kept: AtomicU32::new(0),
        };
        for name in ["tmp", "shm", "run", "empty"] {
            DirBuilder::new().mode(0o700).create(this.path.join(name))?;
        }
        for name in ["tmp", "shm"] {
            std::fs::set_permissions(this.path.join(name), Permissions::from_mode(0o1777))?;
        }
        std::fs::set_permissions(this.empty(), Permissions::from_mode(0o555))?;
        std::fs::set_permissions(this.run(), Permissions::from_mode(0o755))?;
        std::fs::write(this.blank(), "")?;
        std::fs::set_permissions(this.blank(), Permissions::from_mode(0o444))?;
        Ok(this)
    }

    /// The `/tmp` of programs.
    pub(super) fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// The `/dev/shm` of programs.
    pub(super) fn shm(&self) -> PathBuf {
        self.path.join("shm")
    }

    /// The `/run` of programs.
    pub(super) fn run(&self) -> PathBuf {
        self.path.join("run")
    }

    /// An empty directory, to mount over others.
    pub(super) fn empty(&self) -> PathBuf {
        self.path.join("empty")
    }

    /// An empty file, to mount over others.
    pub(super) fn blank(&self) -> PathBuf {
        self.path.join("blank")
    }

    /// Creates a placeholder elsewhere if the path does not exist; it is removed with this. Returns `false` if it
    /// cannot be created: then programs cannot create it either.
    pub(super) fn add_placeholder(&mut self, path: &Path) -> io::Result<bool> {
        if let Err(error) = placeholder::make(path) {
            return Ok(error.kind() == io::ErrorKind::AlreadyExists);
        }
        self.placeholders.push(path.to_owned());
        let mut list = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.path.join(LIST))?;
        list.write_all(path.as_os_str().as_bytes())?;
        list.write_all(&[0])?;
        Ok(true)
    }

    /// Prevents other sandboxes from removing a placeholder; `false` if one of them is just removing it.
    pub(super) fn rely_on(&mut self, path: &Path, on_lock: OnForeignLock) -> bool {
        // Recreated mounts rely on the same placeholders.
        let known = self.locks.get(path).and_then(|it| it.itself.as_ref());
        if !placeholder::is_one(path) || known.is_some_and(|it| is_still(path, it)) {
            return path.symlink_metadata().is_ok();
        }
        let shared = FlockOperation::NonBlockingLockShared;
        let Locked::Ours(by_name) = lock_by_name(path, shared) else {
            return false;
        };
        let itself = match lock(path, shared) {
            Locked::Ours(itself) => itself,
            Locked::Foreign if by_name.is_some() && on_lock == OnForeignLock::Ignore => None,
            Locked::Foreign | Locked::Gone => return false,
        };
        let lock = PlaceholderLock {
            _by_name: by_name,
            itself,
        };
        self.locks.insert(path.to_owned(), lock);
        path.symlink_metadata().is_ok()
    }

    /// Keeps these directories for a kept program, as long as its holder answers on this socket.
    pub(super) fn keep(&mut self, socket: &Path) -> io::Result<()> {
        let mut list = OpenOptions::new();
        let list = list.create(true).append(true).open(self.path.join(KEPT));
        list?.write_all(&[socket.as_os_str().as_bytes(), b"\0"].concat())?;
        self.kept.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Handles the end of such a program.
    pub(super) fn release(&mut self) {
        if self.kept.fetch_sub(1, Ordering::Relaxed) == 1 {
            let _ = std::fs::remove_file(self.path.join(KEPT));
        }
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        for (path, lock) in self.locks.drain() {
            drop(lock);
            remove_lock(&path);
        }
        if self.kept.load(Ordering::Relaxed) > 0 {
            return;
        }
        for name in ["tmp", "shm", "run"] {
            let _ = std::fs::remove_dir_all(self.path.join(name));
        }
        let left = LeftPlaceholders {
            folder: self.path.clone(),
            placeholders: std::mem::take(&mut self.placeholders),
        };
        let mut all = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(left);
        // Sandboxes that ended earlier may have left placeholders that this one relied on.
        all.retain_mut(|left| !left.remove());
        remove_empty_base();
    }
}

/// Placeholders of ended sandboxes of this process that others relied on. If this process dies, the next one removes
/// them.
static LEFT: Mutex<Vec<LeftPlaceholders>> = Mutex::new(Vec::new());

/// The placeholders of an ended sandbox.
struct LeftPlaceholders {
    /// Contains their list.
    folder: PathBuf,
    /// A folder comes before those in it.
    placeholders: Vec<PathBuf>,
}

impl LeftPlaceholders {
    /// Removes those that are not in use. Returns whether none is left.
    fn remove(&mut self) -> bool {
        let tried = self.placeholders.drain(..).rev();
        let mut left: Vec<PathBuf> = tried.filter(|path| !remove_placeholder(path)).collect();
        left.reverse();
        self.placeholders = left;
        let is_empty = self.placeholders.is_empty();
        if is_empty {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
        is_empty
    }
}

/// Removes a placeholder unless it is in use; `false` if that must be tried
/// again.
fn remove_placeholder(path: &Path) -> bool {
    if !placeholder::is_one(path) {
        return true;
    }
    let exclusive = FlockOperation::NonBlockingLockExclusive;
    let Locked::Ours(_by_name) = lock_by_name(path, exclusive) else {
        return path.symlink_metadata().is_err();
    };
    let Locked::Ours(_itself) = lock(path, exclusive) else {
        return path.symlink_metadata().is_err();
    };
    placeholder::remove(path);
    // A process that opens it meanwhile finds that it is gone, and creates another.
    let _ = lock_file(path).map(std::fs::remove_file);
    true
}

/// Removes the lock file of a placeholder unless it is in use.
fn remove_lock(path: &Path) {
    let exclusive = FlockOperation::NonBlockingLockExclusive;
    if let Locked::Ours(Some(_lock)) = lock_by_name(path, exclusive) {
        let _ = lock_file(path).map(std::fs::remove_file);
    }
}

/// The outcome of an attempt to lock a file.
enum Locked {
    /// It is locked; without a descriptor if locks are not supported.
    Ours(Option<OwnedFd>),
    /// Another process holds a conflicting lock.
    Foreign,
    /// It was removed or replaced.
    Gone,
}

/// Locks a placeholder itself, if there is no conflicting lock and it still exists.
fn lock(path: &Path, operation: FlockOperation) -> Locked {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(placeholder) => lock_opened(path, placeholder, operation),
        Err(_) => Locked::Gone,
    }
}

/// Locks the lock file of a placeholder.
fn lock_by_name(path: &Path, operation: FlockOperation) -> Locked {
    let Some(file) = lock_file(path) else {
        return Locked::Ours(None);
    };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(&file, flags, Mode::RUSR | Mode::WUSR) {
        Ok(opened) => lock_opened(&file, opened, operation),
        Err(_) => Locked::Ours(None),
    }
}

fn lock_opened(path: &Path, opened: OwnedFd, operation: FlockOperation) -> Locked {
    match flock(&opened, operation) {
        // The previous owner may have removed it, and another may have been created.
        Ok(()) if is_still(path, &opened) => Locked::Ours(Some(opened)),
        Ok(()) => Locked::Gone,
        Err(Errno::WOULDBLOCK | Errno::INTR) => Locked::Foreign,
        // The file system does not support locks.
        Err(_) => Locked::Ours(None),
    }
}

/// The lock file of a placeholder; `None` if there is no directory for it.
pub(super) fn lock_file(placeholder: &Path) -> Option<PathBuf> {
    const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const FNV_PRIME: u64 = 0x0100_0000_01b3;
    let bytes = placeholder.as_os_str().as_bytes().iter();
    // A hash collision only makes two placeholders wait for each other.
    let number = bytes.fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    });
    Some(lock_folder()?.join(format!("{number:016x}")))
}

/// The directory of locks: the same for all runtimes of this user, independent of their environment. `None` if it
/// cannot be created or belongs to another user.
fn lock_folder() -> Option<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    let folder = PathBuf::from(format!("/tmp/windlass-locks-{own}"));
    let _ = DirBuilder::new().mode(0o700).create(&folder);
    let metadata = folder.symlink_metadata().ok()?;
    (metadata.is_dir() && metadata.uid() == own).then_some(folder)
}

fn is_still(path: &Path, opened: &OwnedFd) -> bool {
    let (Ok(there), Ok(opened)) = (path.symlink_metadata(), rustix::fs::fstat(opened)) else {
        return false;
    };
    (there.dev(), there.ino()) == (opened.st_dev, opened.st_ino)
}

/// Removes the directories of dead processes of this user.
pub(super) fn sweep() {
    sweep_in(&base());
}

/// Whether a process has private folders.
pub(super) fn has_any(pid: i32, start: u64) -> bool {
    let prefix = format!("{PREFIX}{pid}-{start}-");
    let mut entries = base().read_dir().into_iter().flatten().flatten();
    entries.any(|entry| {
        entry
            .file_name()
            .to_str()
            .is_some_and(|it| it.starts_with(&prefix))
    })
}

/// The parent directory of private directories. Programs have their own `/tmp`; if the temporary directory is
/// elsewhere, this is one that can be hidden from them entirely.
fn base() -> PathBuf {
    let temporary = std::env::temp_dir();
    let temporary = temporary.canonicalize().unwrap_or(temporary);
    if is_private(&temporary) {
        return temporary;
    }
    let user = rustix::process::geteuid().as_raw();
    temporary.join(format!("{PREFIX}of-{user}"))
}

/// The directory with the private directories of all sandboxes, if programs could see it.
pub(super) fn visible_base() -> Option<PathBuf> {
    Some(base()).filter(|base| !is_private(base))
}

/// Removes the folder with the private folders, if it is one of its own and the last of them is gone.
fn remove_empty_base() {
    if let Some(base) = visible_base() {
        let _ = std::fs::remove_dir(base);
    }
}

fn make_base() -> io::Result<PathBuf> {
    let base = base();
    if is_private(&base) {
        return Ok(base);
    }
    let made = DirBuilder::new().mode(0o700).create(&base);
    made.or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Ok(()),
        _ => Err(error),
    })?;
    // Anybody can create a directory with such a name.
    let metadata = base.symlink_metadata()?;
    let is_own = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
    if !is_own || metadata.mode() & 0o077 != 0 {
        let problem = format!("{} is not a private folder of this user", base.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    Ok(base)
}

/// Whether a holder has programs with these private directories.
fn is_kept(folder: &Path) -> bool {
    let sockets = std::fs::read(folder.join(KEPT)).unwrap_or_default();
    let mut sockets = sockets.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    sockets.any(|socket| has_listener(Path::new(OsStr::from_bytes(socket))))
}

fn sweep_in(base: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in base.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        let mut numbers = rest.split('-');
        let pid = numbers.next().and_then(|pid| pid.parse::<i32>().ok());
        let start = numbers.next().and_then(|start| start.parse::<u64>().ok());
        let (Some(pid), Some(start), Ok(metadata)) = (pid, start, entry.metadata()) else {
            continue;
        };
        // Anybody can create a directory with such a name.
        let ours = metadata.is_dir() && metadata.uid() == own;
        let lives = Member::read(pid).is_some_and(|it| it.start == start && it.alive());
        let path = entry.path();
        if ours && !lives && !is_kept(&path) {
            let list = std::fs::read(path.join(LIST)).unwrap_or_default();
            let mut all_gone = true;
            let placeholders = list.split(|byte| *byte == 0).filter(|it| !it.is_empty());
            for placeholder in placeholders.rev() {
                let placeholder = std::ffi::OsString::from_vec(placeholder.to_vec());
                all_gone &= remove_placeholder(Path::new(&placeholder));
            }
            if all_gone {
                let _ = std::fs::remove_dir_all(path);
            }
        }
    }
    remove_empty_base();
}
