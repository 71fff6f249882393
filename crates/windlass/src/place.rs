//! The folders in which Windlass stores files.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use etcetera::{BaseStrategy, choose_base_strategy};

/// The user's state directory: `$XDG_STATE_HOME/windlass` or its default. It is
/// created only when needed.
pub fn state_dir() -> PathBuf {
    choose_base_strategy()
        .ok()
        .and_then(|strategy| strategy.state_dir())
        .unwrap_or_else(std::env::temp_dir)
        .join("windlass")
}

/// The user's cache directory: `$XDG_CACHE_HOME/windlass` or its default. Its
/// content can be recreated.
pub fn cache_dir() -> PathBuf {
    choose_base_strategy()
        .map_or_else(|_| std::env::temp_dir(), |strategy| strategy.cache_dir())
        .join("windlass")
}

/// The user's configuration directory: `$XDG_CONFIG_HOME/windlass` or its
/// usual place.
pub(crate) fn config_dir() -> Option<PathBuf> {
    let strategy = choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("windlass"))
}

/// A stable id of a project, derived from its path.
pub(crate) fn workspace_id(root: &Path) -> String {
    windlass_runtime::protocol::project_id(root)
}

/// FNV-1a: stable across versions, and sufficient for names.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A folder for one session's logs, whose name identifies its process. It is
/// created when something is logged.
pub(crate) fn new_log_dir(state_dir: &Path) -> PathBuf {
    // The clock tells apart the sessions of one process, and processes that
    // had the same number.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    let name = format!("{}-{now:x}", std::process::id());
    state_dir.join("logs").join(name)
}

/// Removes the log folders of processes that have ended. Folders whose process
/// is unknown are kept, and so are those in `spared`.
pub(crate) fn remove_logs_of_the_dead(logs: &Path, spared: &[PathBuf]) {
    let Ok(folders) = std::fs::read_dir(logs) else {
        return;
    };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let pid = name.to_str().and_then(|name| name.split_once('-'));
        let pid = pid.and_then(|(pid, _)| pid.parse::<u32>().ok());
        let processes = Path::new("/proc");
        let is_gone =
            |pid: u32| processes.join("self").exists() && !processes.join(pid.to_string()).exists();
        if pid.is_some_and(is_gone) && !spared.contains(&folder.path()) {
            // Another process may be removing it too.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
