//! Finds the programs that may read typed input.

#[cfg(target_os = "linux")]
use std::path::Path;

use crate::process::ProcessShared;

/// A program of a process's tree that may read the input of that process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputReader {
    /// Its known names: the file name, the first word of its command line, and
    /// its own.
    pub names: Vec<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Whether it reads input typed now: it is in the terminal's foreground, on a nested terminal, or there is no
    /// terminal. Others read input once they get the terminal back.
    pub is_foreground: bool,
}

/// A process that was inspected before its children.
#[cfg(target_os = "linux")]
struct SeenProcess {
    is_foreground: bool,
    /// Whether it is on a nested terminal.
    is_within: bool,
    session: i32,
}

/// The programs of the tree whose input is not a file; `None` if that cannot be
/// determined.
#[cfg(target_os = "linux")]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems do not show the programs of a tree"
)]
pub(crate) fn listeners(shared: &ProcessShared) -> Option<Vec<InputReader>> {
    use std::collections::HashMap;

    let foreground = shared.terminal.as_ref().map(|terminal| {
        let group = terminal.foreground();
        group.map(|group| group.as_raw_nonzero().get())
    });
    // Parents come before their children.
    let mut seen: HashMap<i32, SeenProcess> = HashMap::new();
    let mut listeners = Vec::new();
    for member in crate::tree::members(shared) {
        if !member.alive() {
            continue;
        }
        // `sudo`, `script` and others run their program on a nested terminal.
        let is_within = seen.get(&member.parent).is_some_and(|parent| {
            parent.is_within || parent.is_foreground && parent.session != member.session
        });
        let is_foreground = is_within || foreground.is_none_or(|group| group == Some(member.group));
        let seen_member = SeenProcess {
            is_foreground,
            is_within,
            session: member.session,
        };
        seen.insert(member.pid, seen_member);
        if !reads_file(member.pid) {
            listeners.push(listener(member.pid, &member.name, is_foreground));
        }
    }
    Some(listeners)
}

/// Always unknown without `/proc`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn listeners(_: &ProcessShared) -> Option<Vec<InputReader>> {
    None
}

#[cfg(target_os = "linux")]
fn listener(pid: i32, name: &[u8], is_foreground: bool) -> InputReader {
    let base = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    let file = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = line
        .strip_suffix(b"\0")
        .unwrap_or(&line)
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned());
    let first = words.next().unwrap_or_default();
    let names = [
        file.as_deref().and_then(base),
        base(Path::new(first.trim_start_matches('-'))),
        Some(String::from_utf8_lossy(name).into_owned()),
    ];
    InputReader {
        names: names.into_iter().flatten().collect(),
        args: words.collect(),
        is_foreground,
    }
}

/// Whether its input is a file or `/dev/null`, so that it does not read typed
/// input.
#[cfg(target_os = "linux")]
fn reads_file(pid: i32) -> bool {
    use rustix::fs::FileType;
    const NULL: (u32, u32) = (1, 3);
    rustix::fs::stat(format!("/proc/{pid}/fd/0")).is_ok_and(|stat| {
        let device = (
            rustix::fs::major(stat.st_rdev),
            rustix::fs::minor(stat.st_rdev),
        );
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => true,
            FileType::CharacterDevice => device == NULL,
            _ => false,
        }
    })
}
