//! Reads files that another user may have created.
//!
//! Start at [`read_text`]. Only regular files of a bounded size are read, and
//! opening one never blocks: a FIFO without a writer would hang the reader, and
//! a link to `/dev/zero` would fill the memory. Kind, size and owner are taken
//! from the open descriptor, so that the file cannot be replaced between the
//! check and the read.

use std::fs::{self, File, FileType, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// The largest configuration file, in bytes.
pub const LARGEST_FILE: u64 = 1 << 20;

/// Why a file or a folder is refused.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The system does not let it be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// It is a FIFO, a device, a socket or a folder.
    #[error("it is {0}; only regular files are read")]
    NotPlain(&'static str),
    /// It is larger than [`LARGEST_FILE`], or than a program may be.
    #[error("it is larger than {} MiB, the maximum", .most >> 20)]
    TooLarge {
        /// The limit in bytes.
        most: u64,
    },
    /// It belongs to another user.
    #[error(
        "it belongs to another user (uid {owner}, and this is uid {user}); \
         run Windlass as its owner, or make it your own with chown"
    )]
    Foreign {
        owner: u32,
        /// The user that Windlass runs as.
        user: u32,
    },
}

/// The users whose files are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Owners<'a> {
    Anybody,
    /// The user and root, for files in the user's own folders.
    UserOrRoot,
    /// The user. Root running under sudo also reads files of the user in
    /// `SUDO_UID`, as git does.
    User(&'a [(String, String)]),
}

impl Owners<'_> {
    /// Rejects files of other users.
    pub(crate) fn check(self, metadata: &Metadata) -> Result<(), FileFault> {
        let user = rustix::process::geteuid().as_raw();
        let owner = metadata.uid();
        let is_fine = match self {
            Owners::Anybody => true,
            Owners::UserOrRoot => owner == user || owner == 0,
            Owners::User(environment) => {
                owner == user || (user == 0 && Some(owner) == sudo_user(environment))
            }
        };
        if is_fine {
            Ok(())
        } else {
            Err(FileFault::Foreign { owner, user })
        }
    }
}

fn sudo_user(environment: &[(String, String)]) -> Option<u32> {
    let variable = environment.iter().find(|(name, _)| name == "SUDO_UID");
    variable.and_then(|(_, value)| value.parse().ok())
}

/// The text of a plain file.
pub(crate) fn read_text(path: &Path, owners: Owners<'_>) -> Result<String, FileFault> {
    let mut file = open(path, owners, LARGEST_FILE)?;
    let mut bytes = Vec::new();
    // It may grow while it is read.
    (&mut file).take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(FileFault::TooLarge { most: LARGEST_FILE });
    }
    String::from_utf8(bytes).map_err(|_| {
        let error = io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
        FileFault::Unreadable(error)
    })
}

/// Opens a regular file of at most `most` bytes.
pub(crate) fn open(path: &Path, owners: Owners<'_>, most: u64) -> Result<File, FileFault> {
    // Opening a device may have side effects, so its type is checked first.
    check(&fs::metadata(path)?, owners, most)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from)?;
    let file = File::from(descriptor);
    check(&file.metadata()?, owners, most)?;
    Ok(file)
}

fn check(metadata: &Metadata, owners: Owners<'_>, most: u64) -> Result<(), FileFault> {
    if !metadata.is_file() {
        return Err(FileFault::NotPlain(kind(metadata.file_type())));
    }
    owners.check(metadata)?;
    if metadata.len() > most {
        return Err(FileFault::TooLarge { most });
    }
    Ok(())
}

fn kind(file: FileType) -> &'static str {
    if file.is_dir() {
        "a folder"
    } else if file.is_fifo() {
        "a FIFO"
    } else if file.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
