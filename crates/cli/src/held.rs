//! Kept handles without a runtime.
//!
//! Start at [`list`]. Holders are asked directly: no runtime is needed.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use windlass_control::ControlSocket;
use windlass_kept::{EndHeldError, KeptStore, SurveyedHandle};
use windlass_protocol::{HeldHandleInfo, HeldStanding, KeptReceipt};
use windlass_runtime::{AdoptOutcome, AdoptedHandle, Session, SessionOptions};

use crate::args::Global;
use crate::reach::{self, HandleTarget, short};
use crate::{control, person, setup};

/// The time between `SIGTERM` and `SIGKILL`.
const GRACE: Duration = Duration::from_secs(2);

fn store() -> KeptStore {
    KeptStore::new(&windlass::state_dir())
}

async fn survey() -> Vec<SurveyedHandle> {
    let survey = store().survey().await;
    let handles = survey.handles.into_iter();
    let is_owned = |kept: &SurveyedHandle| matches!(kept.standing, HeldStanding::Owned { .. });
    handles.filter(|kept| !is_owned(kept)).collect()
}

/// Every kept handle that no live runtime owns, oldest first.
pub(crate) async fn list() -> anyhow::Result<Vec<HeldHandleInfo>> {
    person::looks()?;
    Ok(survey().await.iter().map(SurveyedHandle::info).collect())
}

/// Every held handle, to end it.
pub(crate) async fn all() -> anyhow::Result<Vec<SurveyedHandle>> {
    person::looks()?;
    let mut all = survey().await;
    all.retain(SurveyedHandle::is_held);
    Ok(all)
}

/// Finds a held handle by its id, by `SESSION/HANDLE`, or by the name in
/// `windlass ps --json`.
pub(crate) async fn find(target: &str) -> anyhow::Result<Option<SurveyedHandle>> {
    person::looks()?;
    let (session, id) = match target.rsplit_once('/') {
        Some((session, id)) => (session, id),
        None => ("", target),
    };
    let is_meant = |kept: &SurveyedHandle| {
        let kept = &kept.handle;
        kept.name() == target
            || kept.handle.as_str() == id && kept.session.as_str().ends_with(session)
    };
    let mut found = survey().await;
    found.retain(|kept| kept.is_held() && is_meant(kept));
    if found.len() > 1 {
        let names = found.iter().map(|kept| name(&kept.info()));
        let names: Vec<String> = names.collect();
        bail!(
            "several sessions left a handle `{id}`; give one of {}",
            names.join(", ")
        );
    }
    Ok(found.pop())
}

/// The short name of a held handle.
pub(crate) fn name(info: &HeldHandleInfo) -> String {
    format!("{}/{}", short(info.session.as_str()), info.handle)
}

/// Ends a held handle and its process tree, and resolves when it is gone.
pub(crate) async fn end(global: &Global, kept: &SurveyedHandle) -> anyhow::Result<KeptReceipt> {
    let ended = store().end(&kept.handle, GRACE).await;
    if let Err(EndHeldError::Elsewhere { .. }) = ended {
        // The hosts are those of its project.
        let global = Global {
            directory: Some(kept.handle.project.clone()),
            ..global.clone()
        };
        let windlass = setup::windlass(&global).await?;
        return Ok(windlass.end_on_host(&kept.handle, GRACE).await?);
    }
    Ok(ended?)
}

/// The state of a held handle in a few words, and the rest of its lease in
/// seconds.
pub(crate) fn standing(info: &HeldHandleInfo) -> (String, Option<f64>) {
    match &info.standing {
        HeldStanding::Held { left_secs } => ("held".to_owned(), Some(*left_secs)),
        HeldStanding::Owned { owner } => (format!("owned by process {owner}"), None),
        HeldStanding::Stopped { exit, left_secs } => {
            (format!("stopped ({exit})"), Some(*left_secs))
        }
        HeldStanding::Ended { receipt } => {
            let processes = match receipt.ended {
                1 => "1 process".to_owned(),
                ended => format!("{ended} processes"),
            };
            (format!("ended ({processes})"), None)
        }
        HeldStanding::Lost { why } => (format!("lost: {why}"), None),
        HeldStanding::Silent => ("does not answer".to_owned(), None),
        HeldStanding::Newer { .. } => ("held by a newer windlass".to_owned(), None),
    }
}

/// A held handle that this process has adopted, in an equivalent session, so
/// that the same successor finds it afterwards.
pub(crate) struct TakenHandle {
    session: Session,
    name: String,
    _reachable: ControlSocket,
}

impl TakenHandle {
    /// Adopts a held handle.
    pub(crate) async fn take(global: &Global, held: SurveyedHandle) -> anyhow::Result<Self> {
        let kept = held.handle.clone();
        let name = format!("{}/{}", kept.session, kept.handle);
        let global = Global {
            directory: Some(kept.project.clone()),
            ..global.clone()
        };
        let windlass = Arc::new(setup::windlass(&global).await?);
        let session = windlass.session(SessionOptions {
            id: Some(kept.session.clone()),
            name: kept.session_name.clone(),
            front_end: kept.front_end.clone(),
            ..SessionOptions::default()
        });
        if let Some(client) = &kept.client {
            session.set_client_name(client);
        }
        let is_stopped = matches!(held.standing, HeldStanding::Stopped { .. });
        let adopted = session.adopt(vec![AdoptedHandle { kept, is_stopped }], false);
        match adopted.await.first() {
            Some(AdoptOutcome::Adopted) => {}
            Some(AdoptOutcome::Taken { owner }) => bail!("`{name}` belongs to process {owner}"),
            Some(AdoptOutcome::Gone) | None => bail!("`{name}` has ended"),
            Some(AdoptOutcome::Left) => {
                let notices = session.take_notices();
                let why = notices.first().map(|notice| notice.text.as_str());
                bail!("{}", why.unwrap_or("the handle cannot be taken over"));
            }
        }
        let reachable = control::listen(&windlass, "attach");
        Ok(Self {
            session,
            name,
            _reachable: reachable.context("the handle cannot be reached")?,
        })
    }

    /// The handle, as found through its control socket.
    pub(crate) async fn target(&self) -> anyhow::Result<HandleTarget> {
        reach::find(&self.name).await
    }

    /// Releases the handle. If it runs, its lease starts again.
    pub(crate) async fn leave(self) {
        self.session.close_within(GRACE).await;
    }
}
