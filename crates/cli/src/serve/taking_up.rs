//! Resumes sessions with kept handles of an earlier server.
//!
//! Start at [`take_up`]. A session keeps its id, the handles held for it and
//! the stored events.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use windlass::{Succession, Windlass};
use windlass_control::{Api, EventLogs};
use windlass_protocol::{KeptHandle, SessionId};
use windlass_runtime::{Attendance, PastEvents, Session, SessionOptions};

use super::FRONT_END;

/// The directory of the stored events of this project's servers.
pub(super) fn folder(windlass: &Windlass) -> PathBuf {
    let folder = windlass::state_dir().join("serve");
    folder.join(windlass.project_id())
}

/// Whether handles of this configuration can be kept.
pub(super) fn can_keep(windlass: &Windlass) -> bool {
    let mut tools = windlass.runtime().tools().all();
    tools.any(|tool| tool.definition().lifecycle.may_keep()) || !windlass.kept().is_empty()
}

/// Resumes every session of a server that is gone and left kept handles. A
/// running session takes its own handles back.
pub(super) async fn take_up(windlass: &Windlass, api: &Api) {
    let sessions = left_by_servers(windlass);
    join_all(sessions.iter().map(|id| take_up_one(windlass, api, id))).await;
}

/// Removes the events of sessions that were not resumed.
pub(super) fn forget_the_rest(windlass: &Windlass, api: &Api) {
    if let Some(logs) = api.event_logs() {
        let live = windlass.runtime().sessions().list();
        let live: Vec<SessionId> = live
            .iter()
            .map(|(session, _)| session.id().clone())
            .collect();
        logs.forget_all_but(&live);
    }
}

/// The sessions of this project's servers that left kept handles.
fn left_by_servers(windlass: &Windlass) -> BTreeSet<SessionId> {
    let root = &windlass.config().root;
    let is_ours =
        |kept: &KeptHandle| kept.front_end.as_deref() == Some(FRONT_END) && kept.project == *root;
    let kept = windlass.kept().handles().into_iter().filter(is_ours);
    kept.map(|kept| kept.session).collect()
}

async fn take_up_one(windlass: &Windlass, api: &Api, id: &SessionId) {
    let sessions = windlass.runtime().sessions();
    let under_way = sessions.get(id.as_str());
    let (session, idle) = match &under_way {
        Some(session) => (session.clone(), None),
        None => match begin(windlass, api.event_logs(), id).await {
            Some(begun) => begun,
            None => return,
        },
    };
    let conversation = Succession::Conversation;
    windlass.succeed(&session, &conversation, false).await;
    if under_way.is_none() {
        session.recall();
        api.take_up(&session, idle);
    }
}

/// Starts a session again. `None` if another server has it.
async fn begin(
    windlass: &Windlass,
    logs: Option<&EventLogs>,
    id: &SessionId,
) -> Option<(Session, Option<Duration>)> {
    let survey = windlass.kept().survey_of(|kept| kept.session == *id).await;
    let is_another = |kept: &windlass_kept::SurveyedHandle| kept.owner().is_some();
    if survey.handles.iter().any(is_another) {
        return None;
    }
    let mut options = SessionOptions {
        id: Some(id.clone()),
        front_end: Some(FRONT_END.to_owned()),
        attendance: Attendance::Attended,
        ..SessionOptions::default()
    };
    let mut idle = None;
    if let Some((logs, past)) = logs.and_then(|logs| Some((logs, logs.past(id)?))) {
        options.name.clone_from(&past.session.name);
        options.trusted = past.session.trusted;
        let began = Duration::from_millis(past.session.created.0);
        options.began = Some(SystemTime::UNIX_EPOCH + began);
        idle = past.session.idle_secs.map(Duration::from_secs);
        logs.resume(&mut options, past);
    } else {
        // Its events are lost. Continue with a number that no client can have
        // seen.
        options.past = PastEvents::lost_until(microseconds());
        if let Some(logs) = logs {
            logs.keep(&mut options, idle);
        }
    }
    Some((windlass.session(options), idle))
}

/// The current time: greater than the number of any event so far, and small
/// enough for every client.
fn microseconds() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default().as_micros();
    u64::try_from(now).unwrap_or(u64::MAX)
}
