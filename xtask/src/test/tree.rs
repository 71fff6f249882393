//! The processes below another one, as `/proc` shows them.

use std::collections::HashMap;

use rustix::process::Pid;

/// A process below another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Descendant {
    pub(super) pid: Pid,
    /// Its id and its command line.
    pub(super) shown: String,
    /// Whether it has ended already.
    pub(super) is_zombie: bool,
}

/// Every process below `root`; empty on a system without `/proc`.
pub(super) fn descendants(root: Pid) -> Vec<Descendant> {
    let mut children: HashMap<i32, Vec<(i32, bool)>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some((parent, is_zombie)) = parent(&stat) {
            children.entry(parent).or_default().push((pid, is_zombie));
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for &(pid, is_zombie) in children.get(&parent).into_iter().flatten() {
            parents.push(pid);
            found.extend(Pid::from_raw(pid).map(|pid| Descendant {
                pid,
                shown: shown(pid),
                is_zombie,
            }));
        }
    }
    found
}

/// The parent of a process, and whether it has ended.
fn parent(stat: &str) -> Option<(i32, bool)> {
    // The name is in parentheses, and may contain both spaces and parentheses.
    let (_, behind) = stat.rsplit_once(") ")?;
    let mut fields = behind.split_whitespace();
    let is_zombie = fields.next()? == "Z";
    Some((fields.next()?.parse().ok()?, is_zombie))
}

fn shown(pid: Pid) -> String {
    let pid = pid.as_raw_nonzero();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut line = words.collect::<Vec<_>>().join(" ").trim().to_owned();
    if line.is_empty() {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        name.unwrap_or_default().trim().clone_into(&mut line);
    }
    let short: String = line.chars().take(120).collect();
    format!("{pid} {short}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_stands_behind_the_name() {
        assert_eq!(parent("9 (a) b) S 7 9 9 0"), Some((7, false)));
        assert_eq!(parent("9 (sh) Z 1 9 9 0"), Some((1, true)));
        assert_eq!(parent(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_is_found_with_its_command() {
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        let expected = format!("{} sleep 1000", child.id());
        let below = || descendants(rustix::process::getpid());
        // It is a copy of the test until it has executed its program.
        while !below().iter().any(|process| process.shown == expected) {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!below().iter().any(|process| process.shown == expected));
    }
}
