//! A control group for one program and its descendants, if cgroup v2 is delegated to this user.
//!
//! Start at [`delegated_folder`], which the runtime calls once, and [`ControlGroup::make`], which a shim calls for a
//! program with limits. The kernel then keeps the total memory of all processes below the limit, or ends all of them at
//! once. `supervise` still checks the tree, because a program without a sandbox can leave its group.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use windlass_sandbox::ResourceLimits;

use super::tree::Member;

const PREFIX: &str = "windlass-";
const CONTROLLERS: &[&str] = &["memory", "pids"];

/// The directory for groups with limits; `None` if nothing is delegated to this user.
pub(crate) fn delegated_folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOLDER.get_or_init(|| {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own_folder(&mounts, &own)?;
        // A group with processes cannot contain groups with limits, so its parent is tried too.
        let candidates = [Some(own.as_path()), own.parent()];
        let mut candidates = candidates.into_iter().flatten();
        let folder = candidates.find(|folder| is_usable(folder, CONTROLLERS))?;
        remove_left(folder);
        Some(folder.to_owned())
    });
    found.as_deref()
}

/// The directory of this process's own group, from the contents of `mountinfo` and `cgroup`.
fn own_folder(mounts: &str, own: &str) -> Option<PathBuf> {
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let is_group = after.split(' ').next() == Some("cgroup2");
        // Only the root of the hierarchy has the same paths.
        (is_group && root == "/").then(|| Path::new(point).join(own))
    })
}

/// Whether groups with these controllers can be created in a directory.
fn is_usable(folder: &Path, controllers: &[&str]) -> bool {
    use rustix::fs::{Access, access};
    let enabled = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
    let has = |name: &&str| enabled.split_ascii_whitespace().any(|it| it == *name);
    // Moving a process requires write access to the common ancestor of both groups.
    let moves = access(folder.join("cgroup.procs"), Access::WRITE_OK).is_ok();
    if !moves || !controllers.iter().all(has) {
        return false;
    }
    let probe = folder.join(format!("{PREFIX}{}-probe", std::process::id()));
    let made = fs::create_dir(&probe).is_ok();
    made && fs::remove_dir(&probe).is_ok()
}

/// Removes the groups of dead shims.
fn remove_left(folder: &Path) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let pid = pid.and_then(|it| it.split('-').next()?.parse::<i32>().ok());
        if pid.is_some_and(|pid| Member::read(pid).is_none_or(|it| !it.alive())) {
            // Fails if it contains processes.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The group of one program. Dropping this removes it, if it is empty.
pub(super) struct ControlGroup {
    folder: PathBuf,
    processes: OwnedFd,
}

impl ControlGroup {
    /// Creates a group in a directory, with these limits.
    pub(super) fn make(folder: &Path, number: u32, limits: &ResourceLimits) -> io::Result<Self> {
        let folder = folder.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        let opened = set_limits(&folder, limits).and_then(|()| {
            let file = File::options()
                .write(true)
                .open(folder.join("cgroup.procs"));
            file.map(OwnedFd::from)
        });
        match opened {
            Ok(processes) => Ok(Self { folder, processes }),
            Err(error) => {
                let _ = fs::remove_dir(&folder);
                Err(error)
            }
        }
    }

    /// The file of its processes. A process that writes a zero to it moves itself into the group.
    pub(super) fn processes(&self) -> BorrowedFd<'_> {
        self.processes.as_fd()
    }

    /// Whether the kernel has ended processes of the group for lack of memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        self.number("memory.events", "oom_kill")
            .is_some_and(|count| count > 0)
    }

    /// The CPU time of all its current and former processes.
    pub(super) fn cpu(&self) -> Option<Duration> {
        self.number("cpu.stat", "usage_usec")
            .map(Duration::from_micros)
    }

    /// Kills all processes of the group atomically.
    pub(super) fn kill(&self) {
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
    }

    fn number(&self, file: &str, name: &str) -> Option<u64> {
        let text = fs::read_to_string(self.folder.join(file)).ok()?;
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(' ')?;
            (key == name).then(|| value.parse().ok())?
        })
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

fn set_limits(folder: &Path, limits: &ResourceLimits) -> io::Result<()> {
    if let Some(memory) = limits.memory {
        fs::write(folder.join("memory.max"), memory.to_string())?;
        fs::write(folder.join("memory.oom.group"), "1")?;
        // Some kernels do not account for swap.
        let _ = fs::write(folder.join("memory.swap.max"), "0");
    }
    if let Some(processes) = limits.processes {
        // The kernel counts threads too, so this is only a brake: the shim counts processes.
        let brake = u64::from(processes) * 2 + 64;
        fs::write(folder.join("pids.max"), brake.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
