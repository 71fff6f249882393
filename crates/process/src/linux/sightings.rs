//! A cheap check that the files of a mount plan are unchanged.
//!
//! Start at [`Sightings::take`], before the plan is made, and call
//! [`Sightings::hold`] before each start. For a folder with many relevant
//! names, the folder's change time is checked instead: every creation, removal
//! or replacement updates it, and programs cannot set it. Where that time is
//! unreliable, the names themselves are checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The identity of a file: its device, its inode, and its creation time if
/// known. An inode number alone may be reused.
pub(super) type FileIdentity = (u64, u64, Option<SystemTime>);

/// If more names than this are in one directory, the directory itself is checked.
const FEW_NAMES: usize = 2;

/// Kernels before 6.13 record change times in ticks of up to 10 ms. So a more recent change may be followed by another
/// one with the same time.
const YOUNG: Duration = Duration::from_millis(100);

/// Local file systems with reliable change times of directories.
const LOCAL: [u32; 9] = [
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
    0x794C_7630, // overlayfs
    0xF2F5_2010, // F2FS
    0x2FC1_2FC1, // ZFS
    0xCA45_1A4E, // bcachefs
];

/// A snapshot of files and directories.
pub(super) struct Sightings {
    /// Directories with their change times.
    folders: Vec<(PathBuf, FolderStamp)>,
    /// Names, and the files that they referred to, if any.
    names: Vec<(PathBuf, Option<FileIdentity>)>,
    /// Directories, and whether they were empty.
    emptiness: Vec<(PathBuf, bool)>,
    /// Links, and their targets.
    links: Vec<(PathBuf, Option<LinkTarget>)>,
    /// Reports when a mount has changed.
    mounts: File,
    /// When to take new sightings, because directories had changed recently. Their change times are reliable then.
    renewed_at: Option<Instant>,
    /// From this age on, a change time is reliable.
    young: Duration,
}

/// A directory, and the time of its last change.
pub(super) type FolderStamp = (FileIdentity, i64, i64);
type LinkTarget = (PathBuf, FileIdentity);

impl Sightings {
    /// Records `paths` with all their parent directories, and whether `folders` are empty.
    pub(super) fn take<'a>(
        paths: impl IntoIterator<Item = &'a Path>,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> io::Result<Self> {
        Self::take_with(YOUNG, paths, folders)
    }

    /// The same with another age from which a change time is reliable.
    fn take_with<'a>(
        young: Duration,
        paths: impl IntoIterator<Item = &'a Path>,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> io::Result<Self> {
        let mut this = Self {
            folders: Vec::new(),
            names: Vec::new(),
            emptiness: Vec::new(),
            links: Vec::new(),
            mounts: File::open("/proc/self/mountinfo")?,
            renewed_at: None,
            young,
        };
        this.names_are_changed_by_mounts();
        let mut seen: BTreeMap<PathBuf, Option<FileIdentity>> = BTreeMap::new();
        let mut links = BTreeSet::new();
        for path in paths {
            look_down(path, &mut seen, &mut links);
        }
        let by_emptiness: BTreeSet<&Path> = folders.into_iter().collect();
        let by_emptiness = by_emptiness
            .into_iter()
            .filter(|it| matches!(seen.get(*it), Some(Some(_))));
        let by_emptiness: Vec<PathBuf> = by_emptiness.map(Path::to_owned).collect();
        let mut by_folder: BTreeMap<PathBuf, Vec<(PathBuf, Option<FileIdentity>)>> =
            BTreeMap::new();
        for (path, is) in seen {
            let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
            by_folder.entry(folder).or_default().push((path, is));
        }
        for (folder, names) in by_folder {
            if names.len() <= FEW_NAMES || !this.rely_on(&folder) {
                this.names.extend(names);
            }
        }
        for folder in by_emptiness {
            let known = this.folders.iter().any(|(known, _)| *known == folder);
            if !known && !this.rely_on(&folder) {
                let is_empty = is_empty_folder(&folder);
                this.emptiness.push((folder, is_empty));
            }
        }
        for link in links {
            let target = target_of(&link);
            this.links.push((link, target));
        }
        Ok(this)
    }

    /// Whether everything is unchanged.
    pub(super) fn hold(&self) -> bool {
        if self.renewed_at.is_some_and(|at| Instant::now() >= at) {
            return false;
        }
        !self.names_are_changed_by_mounts()
            && self
                .folders
                .iter()
                .all(|(path, was)| path.symlink_metadata().is_ok_and(|it| stamp(&it) == *was))
            && self.names.iter().all(|(path, was)| identity(path) == *was)
            && self
                .emptiness
                .iter()
                .all(|(path, was)| is_empty_folder(path) == *was)
            && self.links.iter().all(|(path, was)| target_of(path) == *was)
    }

    /// Whether a directory has this stamp, provided that these sightings hold.
    pub(super) fn prove(&self, folder: &Path, is: &FolderStamp) -> bool {
        let mut known = self.folders.iter();
        known.any(|(path, stamp)| stamp == is && path == folder)
    }

    /// Uses the directory's change time instead of its names; `false` if that is unreliable.
    fn rely_on(&mut self, folder: &Path) -> bool {
        let Ok(metadata) = folder.symlink_metadata() else {
            return false;
        };
        let is_local = rustix::fs::statfs(folder)
            .is_ok_and(|it| u32::try_from(it.f_type).is_ok_and(|kind| LOCAL.contains(&kind)));
        if !is_local {
            return false;
        }
        let seconds = u64::try_from(metadata.ctime()).unwrap_or(u64::MAX);
        let nanoseconds = u32::try_from(metadata.ctime_nsec()).unwrap_or_default();
        let changed = SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds));
        let age = changed.and_then(|changed| changed.elapsed().ok());
        if age.is_none_or(|age| age < self.young) {
            self.renewed_at = Some(Instant::now() + self.young);
            return false;
        }
        self.folders.push((folder.to_owned(), stamp(&metadata)));
        true
    }

    /// Whether mounts have changed since the last check.
    fn names_are_changed_by_mounts(&self) -> bool {
        let mut polled = [PollFd::from_borrowed_fd(
            self.mounts.as_fd(),
            PollFlags::PRI,
        )];
        let none = Timespec::default();
        match poll(&mut polled, Some(&none)) {
            Ok(_) => polled[0]
                .revents()
                .intersects(PollFlags::PRI | PollFlags::ERR),
            Err(_) => true,
        }
    }
}

/// Inspects a path from the root down, until a name does not exist or is a link.
fn look_down(
    path: &Path,
    seen: &mut BTreeMap<PathBuf, Option<FileIdentity>>,
    links: &mut BTreeSet<PathBuf>,
) {
    let mut above: Vec<&Path> = path.ancestors().collect();
    above.reverse();
    for step in above {
        if step.parent().is_none() {
            continue;
        }
        if let Some(known) = seen.get(step) {
            if known.is_none() || links.contains(step) {
                return;
            }
            continue;
        }
        let metadata = step.symlink_metadata();
        let is = metadata.as_ref().ok().map(identity_in);
        seen.insert(step.to_owned(), is);
        match metadata {
            Ok(metadata) if metadata.is_symlink() => {
                // Only the whole path determines the target.
                links.insert(step.to_owned());
                links.insert(path.to_owned());
                return;
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

fn target_of(link: &Path) -> Option<LinkTarget> {
    let target = link.canonicalize().ok()?;
    let is = identity(&target)?;
    Some((target, is))
}

/// The identity of a file; a link is not followed.
pub(super) fn identity(path: &Path) -> Option<FileIdentity> {
    path.symlink_metadata().ok().as_ref().map(identity_in)
}

pub(super) fn identity_in(metadata: &Metadata) -> FileIdentity {
    (metadata.dev(), metadata.ino(), metadata.created().ok())
}

pub(super) fn is_empty_folder(path: &Path) -> bool {
    path.read_dir()
        .is_ok_and(|mut entries| entries.next().is_none())
}

pub(super) fn stamp(metadata: &Metadata) -> FolderStamp {
    (
        identity_in(metadata),
        metadata.ctime(),
        metadata.ctime_nsec(),
    )
}

#[cfg(test)]
#[path = "sightings_tests.rs"]
mod tests;
