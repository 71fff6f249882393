//! The folders in which Windlass stores files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use etcetera::{BaseStrategy, choose_base_strategy};
use parking_lot::Mutex;
use windlass_store::RuntimeMark;

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

/// A folder for the logs of one session that is not recorded. Its name contains
/// that of the mark of this runtime. It is created when something is logged.
pub(crate) fn new_log_dir(state_dir: &Path) -> io::Result<PathBuf> {
    /// The mark of this process in each state directory. Marks end with the
    /// process, since sessions may outlive the library's handle.
    static MARKS: Mutex<BTreeMap<PathBuf, RuntimeMark>> = Mutex::new(BTreeMap::new());
    let logs = state_dir.join("logs");
    let mut marks = MARKS.lock();
    let mark = match marks.entry(logs.clone()) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => {
            let folder = self::marks(&logs);
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700).create(&folder)?;
            place.insert(RuntimeMark::new(&folder)?)
        }
    };
    // The clock distinguishes the sessions of one process.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    Ok(logs.join(format!("{}-{now:x}", mark.id())))
}

/// Removes the log folders of dead runtimes, except those in `spared`. Other
/// folders are kept.
pub(crate) fn remove_logs_of_the_dead(logs: &Path, spared: &[PathBuf]) {
    let Ok(folders) = std::fs::read_dir(logs) else {
        return;
    };
    let marks = marks(logs);
    for folder in folders.flatten() {
        let name = folder.file_name();
        let Some(runtime) = name.to_str().and_then(runtime_of) else {
            continue;
        };
        if !RuntimeMark::is_alive(&marks, runtime) && !spared.contains(&folder.path()) {
            // Another process may be removing it too.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
    RuntimeMark::sweep(&marks);
}

/// The folder with the marks of the runtimes that may have logs.
fn marks(logs: &Path) -> PathBuf {
    logs.join("runtimes")
}

/// The runtime whose logs a folder of this name has.
fn runtime_of(name: &str) -> Option<&str> {
    let (runtime, time) = name.split_once('-')?;
    let is_mark = runtime.len() == 26 && runtime.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_time = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_mark && is_time).then_some(runtime)
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
