//! Finds sessions and handles of all runtimes on this machine.
//!
//! Start at [`find`]: a handle by its id, or by `SESSION/HANDLE` if the id is
//! ambiguous.

use anyhow::bail;
use futures_util::future::join_all;
use windlass::config::nearest;
use windlass_control::{Peer, peers, run_dir};
use windlass_protocol::{HandleInfo, SessionInfo};

use crate::{held, person};

/// The length of a shortened session id.
const SHORT: usize = 8;

/// A session with its runtime and handles.
pub(crate) struct Reached {
    pub(crate) peer: Peer,
    pub(crate) session: SessionInfo,
    pub(crate) handles: Vec<HandleInfo>,
}

/// A handle and its runtime.
pub(crate) struct HandleTarget {
    pub(crate) peer: Peer,
    pub(crate) session: SessionInfo,
    pub(crate) handle: HandleInfo,
}

impl HandleTarget {
    /// The handle's name, unique among all sessions.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", short(self.session.id.as_str()), self.handle.id)
    }

    /// The path of a resource of the handle.
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

/// Every listening runtime. Runtimes do not answer tools.
pub(crate) async fn runtimes() -> anyhow::Result<Vec<Peer>> {
    person::looks()?;
    Ok(peers(&run_dir(&windlass::state_dir())).await)
}

/// Every session of every runtime. Runtimes that end meanwhile are left out.
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

/// The end of an id, as printed and accepted.
pub(crate) fn short(id: &str) -> &str {
    &id[id.len().saturating_sub(SHORT)..]
}

/// Finds a handle by its id, by `SESSION/HANDLE`, or by a unique prefix of its
/// id.
pub(crate) async fn find(target: &str) -> anyhow::Result<HandleTarget> {
    let (session, id) = match target.rsplit_once('/') {
        Some((session, id)) => (Some(session), id),
        None => (None, target),
    };
    let mut targets = all().await?;
    let of_session = |target: &HandleTarget| {
        session.is_none_or(|wanted| is_end_of(wanted, target.session.id.as_str()))
    };
    let whole = |found: &HandleTarget| of_session(found) && found.handle.id.as_str() == id;
    let begins =
        |found: &HandleTarget| of_session(found) && found.handle.id.as_str().starts_with(id);
    let mut found: Vec<usize> = places(&targets, whole);
    if found.is_empty() && !id.is_empty() {
        found = places(&targets, begins);
    }
    if found.is_empty() {
        let unlisted = unlisted(session, id).await?;
        found = (targets.len()..targets.len() + unlisted.len()).collect();
        targets.extend(unlisted);
    }
    match found.as_slice() {
        [one] => Ok(targets.swap_remove(*one)),
        [] => match held::find(target).await? {
            Some(kept) => bail!("{}", held_alone(&held::name(&kept.info()))),
            None => bail!("{}", unknown(target, &targets)),
        },
        several => {
            let names = several.iter().map(|place| targets[*place].name());
            bail!(
                "several handles are called `{target}`; give one of {}",
                names.collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// Handles and one-shots of this id that are no longer listed but whose output still exists.
async fn unlisted(session: Option<&str>, id: &str) -> anyhow::Result<Vec<HandleTarget>> {
    let mut found = Vec::new();
    for Reached {
        peer, session: one, ..
    } in sessions().await?
    {
        if session.is_some_and(|wanted| !is_end_of(wanted, one.id.as_str())) {
            continue;
        }
        let path = format!("/api/v1/sessions/{}/handles/{id}", one.id);
        if let Ok(handle) = peer.get::<HandleInfo>(&path).await {
            found.push(HandleTarget {
                peer,
                session: one,
                handle,
            });
        }
    }
    Ok(found)
}

/// Every handle and one-shot of every runtime.
pub(crate) async fn all() -> anyhow::Result<Vec<HandleTarget>> {
    let mut targets = Vec::new();
    for reached in sessions().await? {
        let Reached {
            peer,
            session,
            handles,
        } = reached;
        targets.extend(handles.into_iter().map(|handle| HandleTarget {
            peer: peer.clone(),
            session: session.clone(),
            handle,
        }));
    }
    Ok(targets)
}

fn places(targets: &[HandleTarget], wanted: impl Fn(&HandleTarget) -> bool) -> Vec<usize> {
    let places = targets.iter().enumerate();
    let places = places.filter(|(_, target)| wanted(target));
    places.map(|(place, _)| place).collect()
}

/// The error for a handle without a runtime.
fn held_alone(name: &str) -> String {
    format!(
        "`{name}` has no runtime; `windlass attach {name}` takes it over, and `windlass kill \
         {name}` ends it"
    )
}

fn unknown(target: &str, targets: &[HandleTarget]) -> String {
    if targets.is_empty() {
        return format!(
            "there is no handle `{target}`, and no other handle; \
             `windlass run` and assistants start handles"
        );
    }
    let ids = targets.iter().map(|target| target.handle.id.as_str());
    if let Some(near) = nearest(target, ids) {
        return format!("there is no handle `{target}`; did you mean `{near}`?");
    }
    let names: Vec<String> = targets.iter().map(HandleTarget::name).collect();
    format!(
        "there is no handle `{target}`; the handles are {}",
        names.join(", ")
    )
}

/// The unique id that equals the text or ends with it.
pub(crate) fn by_end<'a>(
    wanted: &str,
    ids: impl Iterator<Item = &'a str>,
) -> Result<&'a str, NoSuchId> {
    let mut found: Vec<&str> = ids.filter(|id| is_end_of(wanted, id)).collect();
    found.dedup();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(NoSuchId::None),
        several => match several.iter().find(|id| **id == wanted) {
            Some(whole) => Ok(whole),
            None => Err(NoSuchId::Several(
                several.iter().map(|id| (*id).to_owned()).collect(),
            )),
        },
    }
}

/// The id is unknown or ambiguous.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoSuchId {
    None,
    Several(Vec<String>),
}

/// Whether a text is an id, or a sufficiently long end of it.
fn is_end_of(wanted: &str, id: &str) -> bool {
    const LEAST: usize = 4;
    let place = id.len().checked_sub(wanted.len());
    let end = place.and_then(|place| id.get(place..));
    id == wanted || wanted.len() >= LEAST && end.is_some_and(|end| end.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
