//! The mounts of a sandbox: private folders, read-only holes, and hidden
//! secrets.
//!
//! Start at [`MountPlan::new`], which inspects the machine and changes nothing.
//! If the plan has changed, the namespace must be recreated.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use windlass_sandbox::{Confinement, FileAccess, NetworkRule};

use super::confine_wire::MountStep;
use super::private::{OnForeignLock, PrivateFolder};
use super::ruleset::Ruleset;
use super::sightings::{FileIdentity, Sightings, identity, identity_in, is_empty_folder};

/// Directories of `/run` that programs need and that contain no sockets.
const RUN_KEPT: &[&str] = &[
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/run/wrappers",
];

/// The mounts of a confinement, for the current state of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountPlan {
    /// Files and directories inside the private ones that stay visible, and whether they are writable.
    shown: Vec<(PathBuf, bool)>,
    /// Writable files and directories. Everything else is mounted read-only.
    writable: Vec<(PathBuf, FileIdentity)>,
    /// Directories that are mounted on themselves, so that they cannot be renamed together with a hole.
    pinned: Vec<(PathBuf, FileIdentity)>,
    /// Files and directories that are not writable.
    holes: Vec<(PathBuf, FileIdentity)>,
    /// Holes that do not exist.
    missing: Vec<PathBuf>,
    /// Hidden files and directories.
    hidden: Vec<HiddenPlace>,
    /// Sockets to hide while they exist. Removing a file removes the mount on it.
    sockets: Vec<(PathBuf, FileIdentity)>,
    /// Holes that cannot be created.
    pub(super) unprotected: Vec<PathBuf>,
}

/// A hidden file or directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct HiddenPlace {
    path: PathBuf,
    is_folder: bool,
    /// The file, if only the mount hides it: a new file of its name then needs its own mount. Other files are also
    /// hidden by Landlock, which uses names, and some of them are replaced every few seconds.
    is: Option<FileIdentity>,
}

impl MountPlan {
    pub(super) fn new(confinement: &Confinement) -> Self {
        let mut plan = Self {
            shown: Vec::new(),
            writable: Vec::new(),
            pinned: Vec::new(),
            holes: Vec::new(),
            missing: Vec::new(),
            hidden: Vec::new(),
            sockets: Vec::new(),
            unprotected: Vec::new(),
        };
        plan.find_shown(confinement);
        plan.find_writable(confinement);
        let mut pinned = BTreeSet::new();
        let mut missing = BTreeSet::new();
        for hole in &confinement.write_holes {
            plan.find_hole(hole, confinement, &mut pinned, &mut missing);
        }
        plan.missing.extend(missing);
        for path in pinned {
            plan.pinned.extend(identity(&path).map(|is| (path, is)));
        }
        for path in &confinement.hidden {
            plan.find_hidden(path, confinement);
        }
        plan.sockets = plan.sockets_to_hide(confinement).collect();
        plan
    }

    /// A snapshot that proves that a later plan is still correct, except for sockets.
    pub(super) fn look(confinement: &Confinement) -> io::Result<Sightings> {
        let named = confinement.writable.iter().chain(&confinement.hidden);
        let named = named.chain(confinement.readable.iter().flatten());
        let named = named.chain(&confinement.write_holes);
        let named = named.chain([&confinement.root]).map(PathBuf::as_path);
        let kept = RUN_KEPT.iter().map(Path::new);
        let above = confinement.write_holes.iter().flat_map(|hole| {
            let folder = innermost(&confinement.writable, hole);
            let above = hole.ancestors().skip(1);
            above.take_while(move |it| folder.is_some_and(|folder| *it != folder.as_path()))
        });
        Sightings::take(named.chain(kept), above)
    }

    /// Whether this plan hides every socket that must be hidden.
    pub(super) fn hides_all_sockets(&self, confinement: &Confinement) -> bool {
        let known: HashSet<_> = self.sockets.iter().collect();
        self.sockets_to_hide(confinement)
            .all(|socket| known.contains(&socket))
    }

    /// Bound sockets that no other rule covers. Sockets of the programs themselves belong to their own network and are
    /// not included, unless the programs use the machine's network.
    fn sockets_to_hide<'a>(
        &'a self,
        confinement: &'a Confinement,
    ) -> impl Iterator<Item = (PathBuf, FileIdentity)> + 'a {
        let shares_network = confinement.network == NetworkRule::Full;
        bound_sockets().into_iter().filter_map(move |path| {
            let within = |folders: &[PathBuf]| folders.iter().any(|it| is_below(&path, it));
            let is_shown = self.shown.iter().any(|(it, _)| is_below(&path, it));
            let covered = is_private(&path) && !is_shown || within(&confinement.hidden);
            if covered || shares_network && within(&confinement.writable) {
                return None;
            }
            let metadata = path.symlink_metadata().ok()?;
            let is = identity_in(&metadata);
            metadata.file_type().is_socket().then_some((path, is))
        })
    }

    /// Whether a namespace that was created for `older` fits this plan.
    pub(super) fn is_served_by(&self, older: &Self) -> bool {
        self.protects_as(older) && self.hides_no_more_than(older)
    }

    /// Whether both protect the same files, regardless of what they hide.
    pub(super) fn protects_as(&self, other: &Self) -> bool {
        self.shown == other.shown
            && self.writable == other.writable
            && self.pinned == other.pinned
            && self.holes == other.holes
            && self.missing == other.missing
            && self.unprotected == other.unprotected
    }

    fn hides_no_more_than(&self, older: &Self) -> bool {
        let files: HashSet<_> = older.hidden.iter().collect();
        let sockets: HashSet<_> = older.sockets.iter().collect();
        self.hidden.iter().all(|entry| files.contains(entry))
            && self.sockets.iter().all(|path| sockets.contains(path))
    }

    /// Creates an empty directory for every hole that does not exist, and returns the resulting plan; `None` if another
    /// sandbox has removed one of them meanwhile.
    pub(super) fn with_placeholders(
        confinement: &Confinement,
        private: &mut PrivateFolder,
        on_lock: OnForeignLock,
    ) -> io::Result<Option<Self>> {
        let mut impossible = Vec::new();
        for path in Self::new(confinement).missing {
            if !private.add_placeholder(&path)? {
                impossible.push(path);
            }
        }
        let plan = Self::new(confinement);
        let mut holes = plan.holes.iter();
        let is_whole = plan.missing == impossible
            && holes
                .all(|(path, is)| private.rely_on(path, on_lock) && identity(path) == Some(*is));
        Ok(is_whole.then_some(plan))
    }

    /// Creates the mount points, and returns the mounts in order.
    pub(super) fn steps(&self, private: &PrivateFolder) -> io::Result<Vec<MountStep>> {
        let mut steps = Vec::new();
        let mut add = |source: &Path, target: &Path, read_only: bool| -> io::Result<()> {
            steps.push(MountStep {
                source: CString::new(source.as_os_str().as_bytes())?,
                target: CString::new(target.as_os_str().as_bytes())?,
                read_only,
                may_vanish: false,
            });
            Ok(())
        };
        for (folder, own) in private_folders(private) {
            if folder.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                add(&own, &folder, false)?;
                let shown = self.shown.iter();
                for (path, writable) in shown.filter(|(path, _)| path.starts_with(&folder)) {
                    let below = path.strip_prefix(&folder).unwrap_or(path);
                    make_place(&own.join(below), path.is_dir())?;
                    add(path, path, !writable)?;
                }
            }
        }
        if Path::new("/var/run")
            .symlink_metadata()
            .is_ok_and(|it| it.is_dir())
        {
            add(&private.empty(), Path::new("/var/run"), true)?;
        }
        for (path, _) in self.writable.iter().chain(&self.pinned) {
            add(path, path, false)?;
        }
        for (path, _) in &self.holes {
            add(path, path, true)?;
        }
        for place in &self.hidden {
            let own = if place.is_folder {
                private.empty()
            } else {
                private.blank()
            };
            add(&own, &place.path, true)?;
        }
        for (path, _) in &self.sockets {
            steps.push(MountStep {
                source: CString::new(private.blank().as_os_str().as_bytes())?,
                target: CString::new(path.as_os_str().as_bytes())?,
                read_only: true,
                may_vanish: true,
            });
        }
        Ok(steps)
    }

    fn find_shown(&mut self, confinement: &Confinement) {
        let named = confinement.writable.iter();
        let named = named.chain(confinement.readable.iter().flatten());
        let named = named.chain([&confinement.root]).map(PathBuf::as_path);
        let kept = RUN_KEPT.iter().map(Path::new);
        for path in named.chain(kept) {
            let exists = is_within_private(path) && path.exists();
            let covered = self.shown.iter().any(|(shown, _)| path.starts_with(shown));
            if exists && !covered {
                let own = confinement.writable.iter();
                let writable = own.clone().any(|folder| path.starts_with(folder));
                self.shown.retain(|(shown, _)| !shown.starts_with(path));
                self.shown.push((path.to_owned(), writable));
            }
        }
    }

    fn find_writable(&mut self, confinement: &Confinement) {
        let mut paths: Vec<&PathBuf> = confinement.writable.iter().collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            let is_shown = self.shown.iter().any(|(shown, _)| shown == path);
            let within = |folder: &Path| path.starts_with(folder);
            let covered = self.writable.iter().any(|(known, _)| within(known));
            let gone = is_private(path) && !self.shown.iter().any(|(shown, _)| within(shown));
            if !is_shown
                && !covered
                && !gone
                && let Some(is) = identity_of_target(path)
            {
                self.writable.push((path.clone(), is));
            }
        }
    }

    fn find_hole(
        &mut self,
        hole: &Path,
        confinement: &Confinement,
        pinned: &mut BTreeSet<PathBuf>,
        missing: &mut BTreeSet<PathBuf>,
    ) {
        // From the enclosing writable directory down to the hole.
        let folder = innermost(&confinement.writable, hole);
        let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
            return;
        };
        let mut path = folder.clone();
        let below = hole.strip_prefix(folder).unwrap_or(hole);
        for (index, name) in below.components().enumerate() {
            if index > 0 {
                pinned.insert(path.clone());
            }
            path.push(name);
            match path.symlink_metadata() {
                Ok(metadata) if metadata.is_symlink() => {
                    self.unprotected.push(path);
                    return;
                }
                Ok(metadata)
                    if path != hole
                        && metadata.is_dir()
                        && (is_shared_folder(&path) || !is_empty_folder(&path)) => {}
                // A file or an empty directory on the way is the hole: nothing can be created in it.
                Ok(metadata) => {
                    let is = identity_in(&metadata);
                    if !self.holes.iter().any(|(known, _)| *known == path) {
                        self.holes.push((path, is));
                    }
                    return;
                }
                // Git ignores it without the extension that is enabled in `config`.
                Err(_) if path.ends_with("config.worktree") => return,
                // In a cache only files in use matter, and no placeholder is needed.
                Err(_) if folder.ends_with(".cache") => return,
                Err(_) if path != hole && is_shared_folder(&path) => {
                    missing.insert(path.clone());
                }
                Err(_) => {
                    missing.insert(path);
                    return;
                }
            }
        }
    }

    fn find_hidden(&mut self, path: &Path, confinement: &Confinement) {
        let Ok(target) = path.canonicalize() else {
            return;
        };
        let is_shown = self
            .shown
            .iter()
            .any(|(shown, _)| target.starts_with(shown));
        if is_private(&target) && !is_shown {
            return;
        }
        let Ok(metadata) = target.symlink_metadata() else {
            return;
        };
        let mut writable = confinement.writable.iter();
        let is_landlocks = metadata.is_file()
            && Ruleset::version().is_some()
            && !writable.any(|folder| target.starts_with(folder));
        let covered = |known: &HiddenPlace| target.starts_with(&known.path);
        if !self.hidden.iter().any(covered) {
            self.hidden.retain(|known| !known.path.starts_with(&target));
            self.hidden.push(HiddenPlace {
                is_folder: metadata.is_dir(),
                is: (!is_landlocks).then(|| identity_in(&metadata)),
                path: target,
            });
        }
    }
}

/// Whether programs may create other files beside a hole in this directory, so that it is never the hole itself.
fn is_shared_folder(path: &Path) -> bool {
    path.ends_with(".github")
}

/// The innermost directory that contains a path.
fn innermost<'a>(folders: &'a [PathBuf], path: &Path) -> Option<&'a PathBuf> {
    let around = folders.iter().filter(|folder| path.starts_with(folder));
    around.max_by_key(|folder| folder.as_os_str().len())
}

fn private_folders(private: &PrivateFolder) -> [(PathBuf, PathBuf); 3] {
    [
        (PathBuf::from("/tmp"), private.tmp()),
        (PathBuf::from("/dev/shm"), private.shm()),
        (PathBuf::from("/run"), private.run()),
    ]
}

/// Whether it is in a directory that is private for programs.
pub(super) fn is_private(path: &Path) -> bool {
    let folders = ["/tmp", "/dev/shm", "/run", "/var/run"].map(Path::new);
    folders.iter().any(|folder| is_below(path, folder))
}

/// Whether an absolute path is a directory or inside it. Compares bytes: a different spelling counts as a different
/// path.
fn is_below(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.as_os_str().as_bytes(), folder.as_os_str().as_bytes());
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || folder == b"/")
}

/// Whether it is inside such a directory, but not the directory itself.
fn is_within_private(path: &Path) -> bool {
    let folders = ["/tmp", "/dev/shm", "/run"].map(Path::new);
    is_private(path) && !folders.contains(&path)
}

/// Creates an empty directory or file as a mount point.
fn make_place(path: &Path, is_folder: bool) -> io::Result<()> {
    if is_folder {
        return std::fs::create_dir_all(path);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, "")
}

/// The file that a path resolves to.
fn identity_of_target(path: &Path) -> Option<FileIdentity> {
    path.metadata().ok().as_ref().map(identity_in)
}

/// The initial buffer size: most tables of sockets are shorter.
const SOCKET_TABLE: usize = 32 << 10;

/// The paths of bound Unix sockets in this network namespace.
fn bound_sockets() -> Vec<PathBuf> {
    // The kernel generates it on read, so use few large reads.
    let mut text = Vec::with_capacity(SOCKET_TABLE);
    let _ = File::open("/proc/net/unix").and_then(|mut table| table.read_to_end(&mut text));
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    let paths = lines.filter_map(|line| {
        // The other columns are numbers; a path may contain spaces.
        let path = &line[memchr::memmem::find(line, b" /")? + 1..];
        Some(PathBuf::from(OsStr::from_bytes(path)))
    });
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Whether the rules would let a program write to a path; for messages about holes.
pub(super) fn is_writable_without_mounts(confinement: &Confinement, hole: &Path) -> bool {
    let folders = confinement.writable.iter();
    !confinement.allows(hole, FileAccess::Write)
        && folders.clone().any(|folder| hole.starts_with(folder))
}
