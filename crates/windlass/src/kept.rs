//! Handles that outlive their runtime: keeping them, and their adoption by a
//! successor.
//!
//! Start at [`Windlass::succeed`].

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use windlass_kept::{KeptStore, SurveyedHandle, UnreadableKept};
use windlass_runtime::protocol::{
    HandleId, HeldStanding, KeepRequest, KeptHandle, KeptReceipt, KeptReceiptReason, KeptStamp,
    Notice, NoticeKind, NoticeLevel,
};
use windlass_runtime::{
    AdoptOutcome, AdoptedHandle, HandleKeeper, NotKeptReason, Session, Sessions,
};

use crate::build::Windlass;

/// The pause before a holder that did not respond is asked again.
const RETRY: Duration = Duration::from_secs(1);

/// The longest time that the predecessor's runtime may take to end, because a
/// restarted agent may be faster. After that it counts as another window of the
/// same client.
const PREDECESSOR: Duration = Duration::from_secs(5);
/// The polling interval for a handle whose runtime may be about to end.
const LOOK: Duration = Duration::from_millis(200);

/// The kept handles that a session adopts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Succession {
    /// Those of the session of the same name, in the same project.
    Named(String),
    /// Those of sessions without a name, of the same project, front end and client.
    Client {
        /// The session's front end, such as `mcp`.
        front_end: String,
        /// The client's name, if given.
        client: Option<String>,
    },
    /// Those of the session with the same id, whose conversation continues.
    Conversation,
}

impl Succession {
    /// Whether this session may adopt the handle.
    fn covers(&self, kept: &KeptHandle, session: &Session) -> bool {
        let same_project = kept.project == session.root();
        match self {
            Self::Named(name) => same_project && kept.session_name.as_ref() == Some(name),
            Self::Client { front_end, client } => {
                same_project
                    && kept.session_name.is_none()
                    && kept.front_end.as_ref() == Some(front_end)
                    && kept.client == *client
            }
            Self::Conversation => kept.session == *session.id(),
        }
    }
}

impl Windlass {
    /// The handles of this user that outlive their runtimes.
    pub fn kept(&self) -> &KeptStore {
        &self.kept
    }

    /// Makes a session adopt the handles of its predecessor. A notice for each
    /// of them tells the assistant its state: it still runs, it stopped, its
    /// lease expired, or it is lost. If the assistant may never have seen them
    /// (`lines`), the notices include the end of their output.
    ///
    /// Holders that do not respond delay this by two seconds, and are adopted
    /// later. A handle of another living runtime stays there. If nothing is
    /// kept, nothing is read.
    pub async fn succeed(&self, session: &Session, succession: &Succession, lines: bool) {
        let store = &self.kept;
        if store.is_empty() {
            return;
        }
        let covers = |kept: &KeptHandle| succession.covers(kept, session);
        let survey = store.survey_of(covers).await;
        for unreadable in &survey.unreadable {
            session.notify(of_unreadable(unreadable));
        }
        let successor = Successor {
            store: store.clone(),
            sessions: Arc::clone(self.runtime().sessions()),
            lines,
        };
        let named = !matches!(succession, Succession::Client { .. });
        let mut adopted = Vec::new();
        for kept in survey.handles {
            match &kept.standing {
                HeldStanding::Held { .. } | HeldStanding::Stopped { .. } => {
                    adopted.push((kept, None));
                }
                // Another window of the same client, or the predecessor, which is about to end.
                HeldStanding::Owned { .. } if !named => {
                    let session = session.id().to_string();
                    windlass_task::spawn(successor.clone().outlast(session, kept.handle));
                }
                _ => successor.notify(session, kept, None),
            }
        }
        successor.adopt(session, adopted).await;
    }

    /// The keeper of a session's handles.
    pub(crate) fn keeper(&self) -> Arc<dyn HandleKeeper> {
        Arc::new(StateFileKeeper {
            store: self.kept.clone(),
            max: self.config().kept_max,
        })
    }
}

/// Takes handles over for sessions of one runtime.
#[derive(Clone)]
struct Successor {
    store: KeptStore,
    sessions: Arc<Sessions>,
    lines: bool,
}

/// The number of the notice that a holder does not reply, if there was one.
type SilenceNotice = Option<u64>;

impl Successor {
    async fn adopt(&self, session: &Session, mut handles: Vec<(SurveyedHandle, SilenceNotice)>) {
        for (kept, _) in &mut handles {
            // Its previous owner may have rewritten the file.
            if let Some(handle) = self.store.handle(kept.handle.name()) {
                kept.handle = handle;
            }
        }
        let adopted = handles.iter().map(|(kept, _)| AdoptedHandle {
            kept: kept.handle.clone(),
            is_stopped: matches!(kept.standing, HeldStanding::Stopped { .. }),
        });
        let outcomes = session.adopt(adopted.collect(), self.lines).await;
        for ((mut kept, silence), outcome) in handles.into_iter().zip(outcomes) {
            match outcome {
                AdoptOutcome::Adopted | AdoptOutcome::Left => settled(session, &kept, silence),
                AdoptOutcome::Taken { owner } => {
                    kept.standing = HeldStanding::Owned { owner };
                    self.notify(session, kept, silence);
                }
                AdoptOutcome::Gone => {
                    let mut kept = self.store.standing(kept.handle).await;
                    if kept.is_held() {
                        // It did not give it away a moment ago, and is asked again.
                        kept.standing = HeldStanding::Silent;
                    }
                    self.notify(session, kept, silence);
                }
            }
        }
    }

    /// Notifies the assistant of a handle that was not adopted. A finished
    /// handle is then forgotten, and one whose holder does not respond is
    /// adopted later. Its silence is reported once.
    fn notify(&self, session: &Session, kept: SurveyedHandle, silence: SilenceNotice) {
        let notice = of_standing(&kept);
        if kept.standing == HeldStanding::Silent {
            let silence = silence.unwrap_or_else(|| {
                tracing::debug!(handle = %kept.handle.handle, "a holder does not reply");
                session.notify(notice)
            });
            let session = session.id().to_string();
            windlass_task::spawn(self.clone().retry(session, kept.handle, silence));
            return;
        }
        if kept.is_over() {
            let (store, name) = (self.store.clone(), kept.handle.name().to_owned());
            session.notify_then(notice, move || store.forget(&name));
        } else {
            session.notify(notice);
        }
        settled(session, &kept, silence);
    }

    /// Takes a handle over whose runtime ends within [`PREDECESSOR`].
    async fn outlast(self, session: String, mut kept: KeptHandle) {
        let deadline = tokio::time::Instant::now() + PREDECESSOR;
        while tokio::time::Instant::now() < deadline {
            tokio::time::sleep(LOOK).await;
            let surveyed = self.store.standing(kept).await;
            let Some(session) = self.sessions.get(&session) else {
                return;
            };
            match &surveyed.standing {
                HeldStanding::Owned { .. } => kept = surveyed.handle,
                HeldStanding::Held { .. } | HeldStanding::Stopped { .. } => {
                    return Box::pin(self.adopt(&session, vec![(surveyed, None)])).await;
                }
                // It was that runtime's to tell.
                _ => return,
            }
        }
    }

    /// Asks a holder that did not respond again and again, for as long as the
    /// session lasts.
    async fn retry(self, session: String, mut kept: KeptHandle, silence: u64) {
        loop {
            tokio::time::sleep(RETRY).await;
            let surveyed = self.store.standing(kept).await;
            let Some(session) = self.sessions.get(&session) else {
                return;
            };
            match &surveyed.standing {
                HeldStanding::Silent => kept = surveyed.handle,
                HeldStanding::Held { .. } | HeldStanding::Stopped { .. } => {
                    let adopted = vec![(surveyed, Some(silence))];
                    return Box::pin(self.adopt(&session, adopted)).await;
                }
                _ => return self.notify(&session, surveyed, Some(silence)),
            }
        }
    }
}

/// The assistant is told the outcome. An undelivered notice of the holder's silence is out of date.
fn settled(session: &Session, kept: &SurveyedHandle, silence: SilenceNotice) {
    if let Some(silence) = silence {
        session.withdraw(silence);
    }
    let handle = &kept.handle.handle;
    tracing::debug!(%handle, "the adoption of a kept handle is settled");
}

/// Stores kept handles in the user's state directory.
struct StateFileKeeper {
    store: KeptStore,
    max: usize,
}

#[async_trait]
impl HandleKeeper for StateFileKeeper {
    async fn reserve(
        &self,
        handle: &HandleId,
        lease: Duration,
    ) -> Result<KeepRequest, NotKeptReason> {
        let slot = self.store.reserve(self.max, handle).await;
        let slot = slot.map_err(|reason| NotKeptReason(reason.to_string()))?;
        let lease_secs = lease.as_secs() + u64::from(lease.subsec_nanos() > 0);
        Ok(slot.into_request(lease_secs))
    }

    fn stamp(&self) -> KeptStamp {
        KeptStore::stamp()
    }

    fn register(&self, kept: &KeptHandle) -> Result<(), NotKeptReason> {
        let registered = self.store.register(kept);
        registered.map_err(|error| NotKeptReason(format!("its state cannot be written: {error}")))
    }

    fn forget(&self, name: &str) {
        self.store.forget(name);
    }
}

/// The folders of logs that kept handles write to.
pub(crate) fn log_folders(store: &KeptStore) -> Vec<std::path::PathBuf> {
    let handles = store.handles().into_iter();
    let logs = handles.filter_map(|kept| kept.job.start.log);
    logs.filter_map(|log| log.parent().map(Path::to_owned))
        .collect()
}

fn of_standing(kept: &SurveyedHandle) -> Notice {
    let handle = &kept.handle;
    let id = &handle.handle;
    let title = handle.title.as_deref().unwrap_or(&handle.tool);
    let (level, text) = match &kept.standing {
        HeldStanding::Ended { receipt } => (NoticeLevel::Warning, of_receipt(receipt)),
        HeldStanding::Lost { why } => (NoticeLevel::Error, format!("is lost: {why}")),
        HeldStanding::Owned { owner } => (
            NoticeLevel::Warning,
            format!("belongs to another runtime, process {owner}"),
        ),
        HeldStanding::Newer { version } => (
            NoticeLevel::Warning,
            format!(
                "is held by a newer Windlass (version {version} of its protocol), which alone can take it over"
            ),
        ),
        HeldStanding::Silent | HeldStanding::Held { .. } | HeldStanding::Stopped { .. } => (
            NoticeLevel::Warning,
            "is held by a process that does not reply now; a notice follows when it does, or has \
             ended"
                .to_owned(),
        ),
    };
    Notice {
        level,
        kind: NoticeKind::Kept,
        handle: Some(id.clone()),
        tool: Some(handle.tool.clone()),
        text: format!("`{id}` ({title}), kept from an earlier session, {text}"),
    }
}

fn of_receipt(receipt: &KeptReceipt) -> String {
    let why = match receipt.reason {
        KeptReceiptReason::Lease => "was ended when its lease was over",
        KeptReceiptReason::Aborted => "was aborted",
        KeptReceiptReason::Asked => "was ended by the user",
        KeptReceiptReason::Outdated => {
            "was ended because its holder has a version that is no longer supported"
        }
        KeptReceiptReason::Limit => "was ended because it exceeded a limit",
    };
    let limit = receipt.limit.as_ref();
    let limit = limit.map_or_else(String::new, |limit| format!(" (`{limit}`)"));
    let exit = receipt.exit.filter(|_| receipt.ended == 0);
    let exit = exit.map_or_else(String::new, |exit| format!("; it had stopped with {exit}"));
    let left = if receipt.survivors.is_empty() {
        String::new()
    } else {
        format!("; could not end {:?}", receipt.survivors)
    };
    format!("{why}{limit}: {} processes{exit}{left}", receipt.ended)
}

fn of_unreadable(unreadable: &UnreadableKept) -> Notice {
    Notice {
        level: NoticeLevel::Error,
        kind: NoticeKind::Kept,
        handle: HandleId::new(unreadable.handle()).ok(),
        tool: None,
        text: format!(
            "`{}`, kept from an earlier session, is lost: its state file cannot be read ({}), so it was ended",
            unreadable.handle(),
            unreadable.why
        ),
    }
}
