//! Detects removal of the file that registers a held program.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};

/// Watches a file, and becomes readable when the file is removed or replaced.
pub(super) struct RegistrationWatch {
    file: PathBuf,
    /// `None` if the system has none left: the file is then checked at other events.
    inotify: Option<OwnedFd>,
}

impl RegistrationWatch {
    pub(super) fn new(file: &Path) -> Self {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let watch = Self {
            file: file.to_owned(),
            inotify: inotify::init(flags).ok(),
        };
        watch.add();
        watch
    }

    /// Whether the file exists under its own name.
    pub(super) fn is_there(&self) -> bool {
        let Some(inotify) = &self.inotify else {
            return self.file.exists();
        };
        let mut buffer = [MaybeUninit::uninit(); 512];
        let mut reader = Reader::new(inotify, &mut buffer);
        let mut changed = false;
        while reader.next().is_ok() {
            changed = true;
        }
        if changed {
            // It may have been replaced: watch the new one.
            self.add();
        }
        self.file.exists()
    }

    /// Readable when the file may have been removed.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inotify.as_ref().map(AsFd::as_fd)
    }

    fn add(&self) {
        let flags = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ATTRIB;
        if let Some(inotify) = &self.inotify {
            let _ = inotify::add_watch(inotify, &self.file, flags);
        }
    }
}
