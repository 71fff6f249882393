//! Finding the sessions and handles of every runtime on this machine.
//!
//! Start at [`find`]: a handle by its id, or `SESSION/HANDLE` where the id
//! alone is not enough.

use anyhow::bail;
use futures_util::future::join_all;
use windlass_protocol::{HandleInfo, SessionInfo};
use windlass_serve_http::{Peer, peers, run_dir};

use crate::person;

/// How much of a session's id is shown: enough to tell sessions apart.
const SHORT: usize = 8;

/// A session, where it is, and its handles.
pub(crate) struct Reached {
    pub(crate) peer: Peer,
    pub(crate) session: SessionInfo,
    pub(crate) handles: Vec<HandleInfo>,
}

/// A handle and where it is.
pub(crate) struct Target {
    pub(crate) peer: Peer,
    pub(crate) session: SessionInfo,
    pub(crate) handle: HandleInfo,
}

impl Target {
    /// The path of something that belongs to the handle.
    pub(crate) fn path(&self, what: &str) -> String {
        let (session, handle) = (&self.session.id, &self.handle.id);
        format!("/api/v1/sessions/{session}/handles/{handle}{what}")
    }

    /// The path of the session's events, with the handle's screen.
    pub(crate) fn events(&self, with_screen: bool) -> String {
        let session = &self.session.id;
        let screens = if with_screen {
            format!("?screens={}", self.handle.id)
        } else {
            String::new()
        };
        format!("/api/v1/sessions/{session}/events{screens}")
    }
}

/// Every runtime that listens. None of them answers a tool.
pub(crate) async fn runtimes() -> anyhow::Result<Vec<Peer>> {
    person::looks()?;
    Ok(peers(&run_dir(&windlass::state_dir())).await)
}

/// Every session of every runtime. One that ends meanwhile is left out.
pub(crate) async fn sessions() -> anyhow::Result<Vec<Reached>> {
    let runtimes = runtimes().await?;
    let reached = join_all(runtimes.iter().map(sessions_of)).await;
    Ok(reached.into_iter().flatten().collect())
}

async fn sessions_of(peer: &Peer) -> Vec<Reached> {
    let sessions = peer.get::<Vec<SessionInfo>>("/api/v1/sessions").await;
    let handles = async |session: SessionInfo| {
        let path = format!("/api/v1/sessions/{}/handles", session.id);
        Some(Reached {
            handles: peer.get(&path).await.ok()?,
            peer: peer.clone(),
            session,
        })
    };
    let reached = join_all(sessions.unwrap_or_default().into_iter().map(handles)).await;
    reached.into_iter().flatten().collect()
}

/// The end of a session's id.
pub(crate) fn short(id: &str) -> &str {
    &id[id.len().saturating_sub(SHORT)..]
}

/// The handle that is meant.
pub(crate) async fn find(target: &str) -> anyhow::Result<Target> {
    let (session, id) = match target.rsplit_once('/') {
        Some((session, id)) => (Some(session), id),
        None => (None, target),
    };
    let mut found = Vec::new();
    let mut others = Vec::new();
    for reached in sessions().await? {
        let of_session = session.is_none_or(|wanted| reached.session.id.as_str().ends_with(wanted));
        for handle in reached.handles {
            let name = format!("{}/{}", short(reached.session.id.as_str()), handle.id);
            if of_session && handle.id.as_str() == id {
                found.push(Target {
                    peer: reached.peer.clone(),
                    session: reached.session.clone(),
                    handle,
                });
            } else {
                others.push(name);
            }
        }
    }
    match (found.len(), others.is_empty()) {
        (1, _) => Ok(found.remove(0)),
        (0, true) => bail!("there is no handle `{target}`, nor any other"),
        (0, false) => bail!(
            "there is no handle `{target}`; there are {}",
            others.join(", ")
        ),
        _ => {
            let names: Vec<String> = found
                .iter()
                .map(|found| format!("{}/{}", short(found.session.id.as_str()), found.handle.id))
                .collect();
            bail!(
                "several sessions have a handle `{id}`; give one of {}",
                names.join(", ")
            )
        }
    }
}
