//! The parts of a sandbox that a system can enforce.

/// The parts of a sandbox that this system can enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSupport {
    /// The version of Landlock; `None` without it.
    pub landlock: Option<u32>,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether programs can have private mounts: `/tmp`, holes in writable
    /// directories, hidden sockets. The error explains why not.
    pub mounts: Result<(), Box<str>>,
    /// Whether programs can have their own network.
    pub network: Result<(), Box<str>>,
    /// Whether those namespaces belong to a user namespace, so that no
    /// privileges are needed.
    pub user_namespaces: bool,
    /// Whether the kernel enforces limits: cgroup v2 groups can be created.
    pub control_groups: bool,
}

impl Default for SandboxSupport {
    /// Nothing is enforced.
    fn default() -> Self {
        let none = || Err(Box::from("not on this system"));
        Self {
            landlock: None,
            seccomp: false,
            mounts: none(),
            network: none(),
            user_namespaces: false,
            control_groups: false,
        }
    }
}

impl SandboxSupport {
    /// All enforced parts and their mechanisms, one line each; then all parts
    /// that are not enforced.
    pub fn lines(&self) -> Vec<(bool, String)> {
        let landlock = self.landlock.unwrap_or(0);
        let version = |wanted: u32, what: &str, from: &str| {
            if landlock >= wanted {
                (true, format!("{what} (Landlock {landlock})"))
            } else {
                (
                    false,
                    format!("{what}: needs Landlock, Linux {from} or newer"),
                )
            }
        };
        let part = |result: &Result<(), Box<str>>, what: &str| match result {
            Ok(()) => (true, what.to_owned()),
            Err(why) => (false, format!("{what}: {why}")),
        };
        let mut lines = vec![
            version(1, "files that are read and written", "5.13"),
            match &self.mounts {
                Ok(()) if landlock < 3 => (
                    true,
                    "files that are truncated (read-only mounts)".to_owned(),
                ),
                _ => version(3, "files that are truncated", "6.2"),
            },
            version(6, "signals and abstract sockets outside", "6.12"),
            (
                self.seccomp,
                "system calls and families of sockets (seccomp)".to_owned(),
            ),
            part(
                &self.mounts,
                "private /tmp, holes in writable folders, hidden sockets (mount namespace)",
            ),
            part(
                &self.network,
                "no network, loopback, allowed hosts (network namespace)",
            ),
        ];
        lines.push((
            true,
            String::from(if self.control_groups {
                "limits of memory, processes and CPU time (cgroup v2, and a check every 50 ms)"
            } else {
                "limits (rlimits, and a check every 50 ms: no cgroup v2 is delegated to this user)"
            }),
        ));
        lines.sort_by_key(|(enforced, _)| !enforced);
        lines
    }
}

#[cfg(test)]
#[path = "sandbox_support_tests.rs"]
mod tests;
