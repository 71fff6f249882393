//! The name of a session over pipes, used by one process at a time.
//!
//! The name is a locked file in the user's runtime folder. The lock ends with
//! the process, so that a session's successor can always take its name.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::time::Instant;
use windlass_control::run_dir;
use windlass_protocol::project_id;

/// How long the owner of the name may take to end: a restarted agent may be
/// faster than its predecessor.
const PREDECESSOR: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(50);
const LONGEST: usize = 64;

/// A name that this process owns. Dropping it releases the name.
pub(crate) struct SessionName(#[expect(dead_code, reason = "the open file is the lock")] File);

impl SessionName {
    /// Takes the name for the project at `root`.
    pub(crate) async fn take(name: &str, root: &Path) -> anyhow::Result<Self> {
        let folder = run_dir(&windlass::state_dir());
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        let path = folder.join(format!("session-{}-{name}.lock", project_id(root)));
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("cannot open `{}`", path.display()))?;
        let until = Instant::now() + PREDECESSOR;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    tokio::time::sleep(LOOK).await;
                }
                Err(TryLockError::WouldBlock) => bail!(in_use(name, &mut file)),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock `{}`", path.display()));
                }
            }
        }
        file.set_len(0)?;
        write!(file, "{}", std::process::id())?;
        Ok(Self(file))
    }
}

fn in_use(name: &str, file: &mut File) -> String {
    let mut owner = String::new();
    // Its owner may not have written yet.
    let _ = file.read_to_string(&mut owner);
    let owner = owner.trim();
    let owner = if owner.is_empty() {
        "another process".to_owned()
    } else {
        format!("process {owner}")
    };
    format!(
        "session `{name}` of this project is in use by {owner} (`windlass ps` shows it); end that \
         process, or choose another name for --session"
    )
}

/// Checks that a name is short and has only characters that need no escaping.
pub(crate) fn check(name: &str) -> anyhow::Result<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_plain) {
        bail!("`{name}` cannot be a session name; use 1 to {LONGEST} of A-Z a-z 0-9 . _ -");
    }
    Ok(())
}
