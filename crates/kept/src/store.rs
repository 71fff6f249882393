//! The directory of state files.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::future::join_all;
use parking_lot::Mutex;
use windlass_process::TakeOverError;
use windlass_protocol::{HandleId, HeldStanding, KeptHandle, KeptReceipt, KeptStamp};

use crate::boot;
use crate::receipt;
use crate::slot::{KeptSlot, NotKept};
use crate::standing::{SurveyedHandle, UnreadableKept, key};

/// How long an ended handle is remembered until its end is reported.
const REMEMBERED: Duration = Duration::from_hours(7 * 24);
/// How long a handle that is being started may occupy a slot.
const STARTING: Duration = Duration::from_mins(5);

/// Within [`RECENT`], other processes are assumed to take no more slots than this.
const PLENTY: usize = 64;
const RECENT: Duration = Duration::from_secs(1);

/// The kept handles of one user, in a directory of state files.
#[derive(Debug, Clone)]
pub struct KeptStore {
    folder: PathBuf,
    /// The last count of slots, for callers that take many at once.
    counted: Arc<Mutex<Option<PlaceCount>>>,
}

/// The number of slots that were taken when they were counted, and those that this process has taken since.
#[derive(Debug)]
struct PlaceCount {
    at: Instant,
    taken: usize,
}

/// All kept handles, with the status of each.
#[derive(Debug, Clone, Default)]
pub struct KeptSurvey {
    /// The handles, oldest first.
    pub handles: Vec<SurveyedHandle>,
    /// State files that could not be read. They were removed, and their programs ended.
    pub unreadable: Vec<UnreadableKept>,
}

impl KeptSurvey {
    /// The pids of the holders, for a sweep.
    pub fn holders(&self) -> Vec<u32> {
        self.handles.iter().filter_map(|kept| kept.holder).collect()
    }
}

/// The reason why a held handle was not ended.
#[derive(Debug, thiserror::Error)]
pub enum EndHeldError {
    /// A runtime owns it, and must end it.
    #[error("it belongs to a running runtime, process {owner}")]
    Owned {
        /// The runtime's pid.
        owner: u32,
    },
    /// It runs on another machine. Nothing here knows how to reach it.
    #[error("it runs on host `{host}`; `windlass kill` in its project ends it there")]
    Elsewhere {
        /// The host.
        host: String,
    },
    /// Its host is not configured in its project.
    #[error(
        "it runs on host `{host}`, which its project does not configure; its host ends it \
         {lease_secs} s after its runtime is gone"
    )]
    UnknownHost {
        /// The host.
        host: String,
        /// The lease of the handle.
        lease_secs: u64,
    },
    /// Its host cannot be reached.
    #[error(
        "host `{host}` cannot be reached, which ends it {lease_secs} s after its runtime is gone; \
         `windlass hosts check {host}` reports the reason"
    )]
    Unreachable {
        /// The host.
        host: String,
        /// The lease of the handle.
        lease_secs: u64,
    },
    /// It has no holder any more.
    #[error("it has ended")]
    Gone,
    /// Its holder refused or failed.
    #[error(transparent)]
    Holder(TakeOverError),
}

impl KeptStore {
    /// The kept handles of a state directory. Nothing is created there before a handle is kept.
    pub fn new(state_dir: &Path) -> Self {
        Self {
            folder: state_dir.join("kept"),
            counted: Arc::default(),
        }
    }

    /// The directory of the state files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The machine and the version of holders, for a state file.
    pub fn stamp() -> KeptStamp {
        KeptStamp {
            version: windlass_process::WIRE_VERSION,
            boot: boot::id().to_owned(),
            machine: boot::machine(),
        }
    }

    /// Whether no handle is kept. Only reads the directory.
    pub fn is_empty(&self) -> bool {
        self.names("json").is_empty()
    }

    /// Every kept handle, read from its state file, oldest first.
    pub fn handles(&self) -> Vec<KeptHandle> {
        let names = self.names("json").into_iter();
        names.filter_map(|name| self.read(&name).ok()).collect()
    }

    /// The kept handle of that name, read from its state file.
    pub fn handle(&self, name: &str) -> Option<KeptHandle> {
        let is_plain = !name.contains(['/', '\0']);
        is_plain.then(|| self.read(name).ok()).flatten()
    }

    /// Reads every state file and queries all holders concurrently. A holder that does not reply delays the result by
    /// two seconds, but not the other queries.
    pub async fn survey(&self) -> KeptSurvey {
        self.survey_of(|_| true).await
    }

    /// [`KeptStore::survey`] of the handles whose state files match `wanted`.
    pub async fn survey_of(&self, wanted: impl Fn(&KeptHandle) -> bool) -> KeptSurvey {
        let mut found = Vec::new();
        let mut unreadable = Vec::new();
        for name in self.names("json") {
            match self.read(&name) {
                Ok(kept) => found.push(kept),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    // Its holder detects the missing file and ends the program.
                    self.forget(&name);
                    let why = error.to_string();
                    unreadable.push(UnreadableKept { name, why });
                }
            }
        }
        found.retain(|kept| wanted(kept) && self.is_of_this_machine(kept));
        let handles = join_all(found.into_iter().map(|kept| self.standing(kept))).await;
        let handles = handles.into_iter().filter(|kept| !self.is_stale(kept));
        KeptSurvey {
            handles: handles.collect(),
            unreadable,
        }
    }

    /// Ends a held handle of this machine and its process tree, and waits until it is gone. Its receipt is left for the
    /// next session. A handle on another machine is [`EndHeldError::Elsewhere`].
    pub async fn end(
        &self,
        kept: &KeptHandle,
        grace: Duration,
    ) -> Result<KeptReceipt, EndHeldError> {
        if let Some(place) = &kept.key.remote {
            let host = place.host.clone();
            return Err(match self.remote_standing(kept) {
                HeldStanding::Owned { owner } => EndHeldError::Owned { owner },
                HeldStanding::Ended { .. } | HeldStanding::Lost { .. } => EndHeldError::Gone,
                _ => EndHeldError::Elsewhere { host },
            });
        }
        let key = key(kept).ok_or(EndHeldError::Gone)?;
        match key.end(grace).await {
            Ok(receipt) => Ok(receipt::of_holder(&receipt)),
            Err(TakeOverError::Busy { owner, .. }) => Err(EndHeldError::Owned { owner }),
            Err(TakeOverError::Gone { .. }) => Err(EndHeldError::Gone),
            Err(other) => Err(EndHeldError::Holder(other)),
        }
    }

    /// Records that a handle on another machine was ended there, for the next session.
    pub fn record_end(&self, kept: &KeptHandle, receipt: &KeptReceipt) -> io::Result<()> {
        write_private(
            &self.file(kept.name(), "receipt"),
            &receipt::written(receipt),
        )
    }

    /// The newest bytes of a held handle's output, at most `most` and 64 KiB.
    pub async fn last_output(&self, kept: &KeptHandle, most: u32) -> Option<Vec<u8>> {
        let key = key(kept)?;
        let written = key.look_up().await.ok()?.written;
        let from = written.saturating_sub(most.into());
        let (_, bytes) = key.output(from, most).await.ok()?;
        Some(bytes)
    }

    /// Takes a slot for one more handle, if at most `max` are then kept.
    pub async fn reserve(&self, max: usize, handle: &HandleId) -> Result<KeptSlot, NotKept> {
        let full = || NotKept::Full { max };
        if max == 0 {
            return Err(full());
        }
        make_private(&self.folder).map_err(NotKept::Unwritable)?;
        let take = || KeptSlot::take(&self.folder, handle).map_err(NotKept::Unwritable);
        if self.has_plenty(max) {
            return take();
        }
        let all = |_: &[u8]| true;
        if self.taken(all) >= max && self.is_full(max, all).await {
            return Err(full());
        }
        let slot = take()?;
        // If two processes take the last slot at once, the one with the later name frees it.
        let earlier = |name: &[u8]| name < slot.name().as_bytes();
        if self.taken(earlier) >= max && self.is_full(max, earlier).await {
            return Err(full());
        }
        Ok(slot)
    }

    /// Writes the state file of a running handle. From now on its program outlives the runtime.
    pub fn register(&self, kept: &KeptHandle) -> io::Result<()> {
        let text = serde_json::to_vec(kept).map_err(io::Error::other)?;
        let (draft, file) = (
            self.file(kept.name(), "new"),
            self.file(kept.name(), "json"),
        );
        let written = write_private(&draft, &text).and_then(|()| std::fs::rename(&draft, &file));
        if written.is_err() {
            let _ = std::fs::remove_file(&draft);
        }
        written
    }

    /// Removes all files of a handle. A held program ends, because nobody could find it any more.
    pub fn forget(&self, name: &str) {
        // The state file first: without it, nobody reads the others.
        for extension in ["json", "new", "receipt", "draft", "sock", "own", "gone"] {
            let _ = std::fs::remove_file(self.file(name, extension));
        }
    }

    pub(crate) fn file(&self, name: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{name}.{extension}"))
    }

    fn read(&self, name: &str) -> io::Result<KeptHandle> {
        let text = std::fs::read(self.file(name, "json"))?;
        let kept: KeptHandle = serde_json::from_slice(&text)?;
        if kept.name() == name {
            Ok(kept)
        } else {
            Err(io::Error::other("it describes another handle"))
        }
    }

    /// The names of the files with this extension, oldest first.
    fn names(&self, extension: &str) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut names: Vec<String> = files
            .flatten()
            .filter_map(|file| file.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(extension)?.strip_suffix('.')?.to_owned()))
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether so few slots are taken that one more needs no count. Counts them only occasionally, so that starting a
    /// thousand handles does not take a million checks.
    fn has_plenty(&self, max: usize) -> bool {
        let Some(most) = max.checked_sub(PLENTY) else {
            return false;
        };
        let mut counted = self.counted.lock();
        let count = match counted.take().filter(|count| count.at.elapsed() < RECENT) {
            Some(count) => count,
            None => PlaceCount {
                at: Instant::now(),
                taken: self.taken(|_| true),
            },
        };
        let taken = count.taken + 1;
        *counted = Some(PlaceCount { taken, ..count });
        taken <= most
    }

    /// The number of taken slots whose names match, by the files alone.
    fn taken(&self, counts: impl Fn(&[u8]) -> bool) -> usize {
        let Ok(files) = std::fs::read_dir(&self.folder) else {
            return 0;
        };
        let is_taken = |file: &OsStr| {
            let name = file.as_bytes();
            let name = name.strip_suffix(b".json").or(name.strip_suffix(b".new"));
            name.is_some_and(&counts)
        };
        let files = files.flatten();
        files.filter(|file| is_taken(&file.file_name())).count()
    }

    /// Whether all slots are taken. Handles that have ended do not count. Of those that are being started, only
    /// matching names count.
    async fn is_full(&self, max: usize, counts: impl Fn(&[u8]) -> bool) -> bool {
        let survey = self.survey().await;
        let live = survey.handles.iter().filter(|kept| !kept.is_over()).count();
        live + self.starting(counts) >= max
    }

    /// The number of matching handles that are being started. Slots of dead runtimes are freed.
    fn starting(&self, counts: impl Fn(&[u8]) -> bool) -> usize {
        let names = self.names("new").into_iter();
        let names = names.filter(|name| counts(name.as_bytes()));
        let fresh = names.filter(|name| {
            let file = self.file(name, "new");
            let is_stale = age(&file).is_some_and(|age| age > STARTING);
            if is_stale {
                let _ = std::fs::remove_file(&file);
            }
            !is_stale && !self.file(name, "json").exists()
        });
        fresh.count()
    }

    /// Whether it belongs to this machine: the directory may be shared.
    fn is_of_this_machine(&self, kept: &KeptHandle) -> bool {
        let is_ours = kept.stamp.boot == boot::id()
            || kept.stamp.machine.is_empty()
            || kept.stamp.machine == boot::machine();
        if !is_ours && age(&self.file(kept.name(), "json")).is_some_and(|age| age > REMEMBERED) {
            self.forget(kept.name());
        }
        is_ours
    }

    /// Whether it ended days ago and was not reported since. It is then forgotten.
    fn is_stale(&self, kept: &SurveyedHandle) -> bool {
        let since = match &kept.standing {
            HeldStanding::Ended { receipt } => {
                let at = SystemTime::UNIX_EPOCH + Duration::from_millis(receipt.at.0);
                SystemTime::now().duration_since(at).ok()
            }
            HeldStanding::Lost { .. } => age(&self.file(kept.handle.name(), "json")),
            _ => None,
        };
        let is_stale = since.is_some_and(|since| since > REMEMBERED);
        if is_stale {
            self.forget(kept.handle.name());
        }
        is_stale
    }
}

fn age(file: &Path) -> Option<Duration> {
    let changed = std::fs::metadata(file).ok()?.modified().ok()?;
    SystemTime::now().duration_since(changed).ok()
}

/// Creates a directory that only the user can access.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// Writes a file that only the user can access.
pub(crate) fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file)?;
    file.write_all(bytes)
}
