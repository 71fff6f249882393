//! The Landlock rules of a sandbox.
//!
//! Start at [`Ruleset::build`]. Landlock can only allow, and a rule for a
//! folder covers everything below it. If something below a readable folder is
//! hidden, the folder's other entries are allowed one by one. New entries are
//! not readable until the rules are rebuilt, see [`Ruleset::is_fresh`].

use std::fs::{FileType, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use windlass_sandbox::{Confinement, NetworkRule};

use super::sightings::{FolderStamp, Sightings, stamp};

/// The newest supported version. Older kernels have fewer rights.
const KNOWN: ABI = ABI::V9;

/// The directory of devices. A privileged user could read whole disks there, and others keyboards and cameras.
const DEVICE_FOLDER: &str = "/dev";

/// Devices that every program may use.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
];

/// The rules of one sandbox, ready to be applied.
pub(super) struct Ruleset {
    pub(super) fd: OwnedFd,
    /// Directories whose entries were allowed individually.
    split: Vec<(PathBuf, FolderStamp)>,
}

impl Ruleset {
    /// The Landlock version of this kernel; `None` without Landlock.
    pub(super) fn version() -> Option<u32> {
        static VERSION: OnceLock<Option<u32>> = OnceLock::new();
        *VERSION.get_or_init(kernel_version)
    }

    /// Builds the rules. `private` are directories that are always writable. `mounted`: mounts hide the hidden files
    /// within writable directories. `terminals` is the directory of the programs' own terminals; default: the
    /// machine's.
    pub(super) fn build(
        confinement: &Confinement,
        private: &[PathBuf],
        mounted: bool,
        terminals: Option<BorrowedFd<'_>>,
    ) -> io::Result<Self> {
        let mut builder = RuleBuilder::new(confinement)?;
        builder.allow(Path::new("/"), AccessFs::ReadDir.into())?;
        let read = AccessFs::from_read(KNOWN);
        let hidden = with_targets(&confinement.hidden);
        let mut unread = hidden.clone();
        // Allowing the two hundred siblings of `/etc/shadow` individually slows every start down, for a file that the
        // user cannot read anyway.
        unread.retain(|path| !is_out_of_reach(path));
        unread.push(PathBuf::from(DEVICE_FOLDER));
        match &confinement.readable {
            None => builder.allow_tree(Path::new("/"), read, &unread)?,
            Some(folders) => {
                for folder in folders {
                    // A device that the configuration names is allowed.
                    let is_named = folder.starts_with(DEVICE_FOLDER) && !folder.ends_with("dev");
                    let unread = if is_named { &hidden } else { &unread };
                    builder.allow_tree(folder, read, unread)?;
                }
            }
        }
        let write = AccessFs::from_all(KNOWN)
            & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
        let existing: Vec<PathBuf> = hidden
            .iter()
            .filter(|path| !mounted && path.symlink_metadata().is_ok())
            .cloned()
            .collect();
        for path in &confinement.writable {
            builder.allow_tree(path, write, &existing)?;
        }
        for folder in private {
            builder.allow(folder, write)?;
        }
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        for path in DEVICES {
            builder.allow(Path::new(path), device)?;
        }
        match terminals {
            Some(folder) => builder.add_rule(folder, device | AccessFs::ReadDir)?,
            None => builder.allow(Path::new("/dev/pts"), device | AccessFs::ReadDir)?,
        }
        let fd: Option<OwnedFd> = builder.ruleset.take().and_then(Into::into);
        Ok(Self {
            fd: fd.ok_or(io::ErrorKind::Unsupported)?,
            split: builder.split,
        })
    }

    /// Whether the split directories still have the same entries. Directories covered by `proof` are not checked again.
    pub(super) fn is_fresh(&self, proof: Option<&Sightings>) -> bool {
        let mut split = self.split.iter();
        split.all(|(path, was)| {
            proof.is_some_and(|proof| proof.prove(path, was))
                || path.metadata().is_ok_and(|now| stamp(&now) == *was)
        })
    }
}

struct RuleBuilder {
    ruleset: Option<RulesetCreated>,
    split: Vec<(PathBuf, FolderStamp)>,
}

impl RuleBuilder {
    fn new(confinement: &Confinement) -> io::Result<Self> {
        let ruleset = landlock::Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(KNOWN))
            .and_then(|ruleset| match confinement.network {
                NetworkRule::None => ruleset.handle_access(AccessNet::from_all(KNOWN)),
                _ => Ok(ruleset),
            })
            .and_then(|ruleset| ruleset.scope(Scope::from_all(KNOWN)))
            .and_then(landlock::Ruleset::create)
            .map_err(io::Error::other)?;
        Ok(Self {
            ruleset: Some(ruleset),
            split: Vec::new(),
        })
    }

    /// Allows everything below a path except hidden files.
    fn allow_tree(
        &mut self,
        path: &Path,
        access: BitFlags<AccessFs>,
        hidden: &[PathBuf],
    ) -> io::Result<()> {
        if hidden.iter().any(|it| path.starts_with(it)) {
            return Ok(());
        }
        let metadata = path.metadata();
        let holds_hidden = hidden.iter().any(|it| it.starts_with(path));
        if !holds_hidden || !metadata.as_ref().is_ok_and(Metadata::is_dir) {
            return self.allow(path, access);
        }
        let Ok(entries) = path.read_dir() else {
            return Ok(());
        };
        if let Ok(metadata) = &metadata {
            self.split.push((path.to_owned(), stamp(metadata)));
        }
        for entry in entries.flatten() {
            // A link has no rule of its own: its target is allowed or not, where it is.
            if !entry
                .file_type()
                .is_ok_and(|kind| FileType::is_symlink(&kind))
            {
                self.allow_tree(&entry.path(), access, hidden)?;
            }
        }
        Ok(())
    }

    /// Allows a file, or everything below a directory. A missing one is skipped.
    fn allow(&mut self, path: &Path, access: BitFlags<AccessFs>) -> io::Result<()> {
        let Ok(fd) = PathFd::new(path) else {
            return Ok(());
        };
        let is_folder = path.metadata().is_ok_and(|it| it.is_dir());
        let access = if is_folder {
            access
        } else {
            access & AccessFs::from_file(KNOWN)
        };
        self.add_rule(fd, access)
    }

    fn add_rule(&mut self, file: impl AsFd, access: BitFlags<AccessFs>) -> io::Result<()> {
        if let Some(ruleset) = self.ruleset.take() {
            let added = ruleset.add_rule(PathBeneath::new(file, access));
            self.ruleset = Some(added.map_err(io::Error::other)?);
        }
        Ok(())
    }
}

/// Whether a file belongs to another user and can be neither read nor replaced
/// by this user.
fn is_out_of_reach(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    let (Ok(metadata), Some(folder)) = (path.symlink_metadata(), path.parent()) else {
        return false;
    };
    let own = rustix::process::geteuid().as_raw();
    let is_denied = |path: &Path, what| access(path, what) == Err(rustix::io::Errno::ACCESS);
    metadata.is_file()
        && metadata.uid() != own
        && is_denied(path, Access::READ_OK)
        && is_denied(folder, Access::WRITE_OK)
        && folder.metadata().is_ok_and(|it| it.uid() != own)
}

/// The paths, and the targets of links among them.
fn with_targets(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = paths.to_vec();
    for path in paths {
        if let Ok(target) = path.canonicalize()
            && !all.contains(&target)
        {
            all.push(target);
        }
    }
    all
}

#[expect(unsafe_code, reason = "the crate does not tell the kernel's version")]
fn kernel_version() -> Option<u32> {
    const VERSION: libc::c_int = 1;
    // SAFETY: with this flag the call accesses no memory and creates nothing.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}
