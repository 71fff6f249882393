//! The end of a turn, and the treatment of running handles.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use windlass_protocol::{
    HandleId, HandleView, NoticeKind, NoticeLevel, OnTurnEnd, TurnEndDecision, TurnEndHandle,
    TurnEndReport, View,
};

use crate::event::Status;
use crate::handle::Handle;
use crate::inquiry;
use crate::journal::SessionEvent;
use crate::notice;
use crate::session::Session;
use crate::session_options::BetweenTurns;
use crate::share;
use crate::show;

/// The amount of a handle's output in an inquiry.
const PREVIEW: usize = 400;
/// The number of bytes of results that the end of a turn reports. Handles with
/// longer results stay readable.
const LONGEST_NEWS: usize = 32 << 10;

/// The decision on a handle.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// End it, and tell the assistant, which did not decide this.
    Abort,
    /// End it, as the assistant decided.
    Abandon,
    /// Wait, and report the result as a notice.
    Await,
    /// Wait, and return the result.
    Answer,
}

impl Session {
    /// Ends the turn: each running handle is treated by its tool's policy, or
    /// continues if the session keeps its handles. Stopped handles can no
    /// longer be read, unless their results never were. Resolves when that is
    /// done.
    pub async fn end_turn(&self) -> TurnEndReport {
        let room = AtomicUsize::new(LONGEST_NEWS);
        self.tell_results(&room);
        let mut active = self.inner.registry.lock().active();
        // These outlive the runtime, and so the turn.
        active.retain(|handle| !handle.is_kept());
        let mut kept = Vec::new();
        if self.inner.options.between_turns == BetweenTurns::Keep {
            let stays = |handle: &mut Arc<Handle>| policy(handle) != OnTurnEnd::Abort;
            let staying = active.extract_if(.., stays);
            kept.extend(staying.filter_map(|handle| handle.id().cloned()));
        }
        let decisions = self.inquire(&active).await;
        let fates = active.iter().map(|handle| {
            let fate = fate(handle, decisions.as_ref());
            self.carry_out(handle, fate, &room)
        });
        let mut report = TurnEndReport {
            undecided: self.undecided(&active, decisions.as_ref()),
            kept,
            ..TurnEndReport::default()
        };
        for (id, stopped_by_itself, view) in join_all(fates).await {
            if stopped_by_itself {
                report.awaited.push(id);
            } else {
                report.ended.push(id);
            }
            report.results.extend(view);
        }
        let cut = share::within_limit(&mut report.results, LONGEST_NEWS);
        let was_read =
            |handle: &Handle| handle.is_told() && handle.id().is_none_or(|id| !cut.contains(id));
        let gone = self.inner.registry.lock().forget_stopped(was_read);
        for handle in &gone {
            self.inner.keep_left_out(handle);
        }
        drop(gone);
        self.inner.journal.append(SessionEvent::TurnEnded);
        report
    }

    /// Asks about the handles whose policy requires it; `None` if there are
    /// none or nobody can be asked.
    async fn inquire(&self, active: &[Arc<Handle>]) -> Option<BTreeMap<String, TurnEndDecision>> {
        let asked: Vec<TurnEndHandle> = active
            .iter()
            .filter(|handle| policy(handle) == OnTurnEnd::Inquire)
            .filter_map(|handle| preview(handle))
            .collect();
        if asked.is_empty() {
            return None;
        }
        let inquirer = self.inner.options.inquirer.as_ref()?;
        inquirer.decide(&asked).await
    }

    /// The handles without a decision although someone could have been asked.
    fn undecided(
        &self,
        active: &[Arc<Handle>],
        decisions: Option<&BTreeMap<String, TurnEndDecision>>,
    ) -> Vec<HandleId> {
        if self.inner.options.inquirer.is_none() {
            return Vec::new();
        }
        let asked = active
            .iter()
            .filter(|handle| policy(handle) == OnTurnEnd::Inquire);
        let ids = asked.filter_map(|handle| handle.id().cloned());
        ids.filter(|id| decisions.is_none_or(|decisions| !decisions.contains_key(id.as_str())))
            .collect()
    }

    /// Waits until the handle has stopped. A question that only its assistant
    /// can answer goes into an inquiry.
    async fn stopped(&self, handle: &Arc<Handle>) {
        loop {
            let over = |status: &Status| {
                status.is_stopped() || inquiry::is_stuck(&self.inner, handle, status)
            };
            let Status::Waiting { question, .. } = handle.wait_until(over).await else {
                return;
            };
            let Some(answer) = inquiry::of_assistant(&self.inner, handle, &question).await else {
                return;
            };
            if handle.answer(&question, answer).await.is_err() && handle.status().asks(&question) {
                return;
            }
        }
    }

    /// Carries out a decision. Returns the handle's id, whether it stopped by
    /// itself, and its result if the assistant wanted to wait.
    async fn carry_out(
        &self,
        handle: &Arc<Handle>,
        fate: Fate,
        room: &AtomicUsize,
    ) -> (HandleId, bool, Option<HandleView>) {
        let id = handle.id().cloned().expect("registered handles have one");
        let mut by_itself = false;
        if matches!(fate, Fate::Await | Fate::Answer) {
            let limit = handle.tool.definition.lifecycle.timeout;
            let _ = tokio::time::timeout(limit, self.stopped(handle)).await;
            by_itself = handle.is_stopped();
            if !by_itself {
                handle
                    .end("aborted: did not stop after the turn's end")
                    .await;
            }
        } else {
            handle.end("aborted at the turn's end").await;
            // Whatever it was about to say is not wanted.
            *handle.told.lock() = true;
        }
        let view = match fate {
            Fate::Abort => None,
            Fate::Abandon => {
                self.inner.withdraw_notices(handle);
                None
            }
            Fate::Answer => Some(show::show(&self.inner, handle, &id, View::New)),
            Fate::Await => {
                self.notice_news(handle, &id, room);
                None
            }
        };
        (id, by_itself, view)
    }

    /// Reports the results of unread handles that stopped during the turn,
    /// since they cannot be read later.
    fn tell_results(&self, room: &AtomicUsize) {
        let handles = self.inner.registry.lock().all();
        for handle in handles.iter().filter(|handle| handle.is_stopped()) {
            let untold = {
                let notices = self.inner.notices.lock();
                let holds = |kind| notices.holds(handle.number, kind);
                holds(NoticeKind::Success) || holds(NoticeKind::Failure)
            };
            if let Some(id) = handle.id().filter(|_| untold) {
                self.notice_news(handle, id, room);
            }
        }
    }

    /// Reports the result whole while there is space; the handle is then not
    /// readable in the next turn. Otherwise it stays readable, and its notice
    /// says so.
    fn notice_news(&self, handle: &Arc<Handle>, id: &HandleId, room: &AtomicUsize) {
        let needed = show::most(handle);
        let taken = room.fetch_update(Ordering::AcqRel, Ordering::Acquire, |room| {
            room.checked_sub(needed)
        });
        if taken.is_ok() {
            self.notice_result(handle, id);
        } else if let Some(notice) = notice::of_end(handle, &handle.status()) {
            self.inner.push_notice(handle.number, notice);
        }
    }

    /// Reports the result whole, since the handle can no longer be read.
    pub(crate) fn notice_result(&self, handle: &Arc<Handle>, id: &HandleId) {
        let view = show::show(&self.inner, handle, id, View::New);
        let (level, kind) = match view.error {
            None => (NoticeLevel::Info, NoticeKind::Success),
            Some(_) => (NoticeLevel::Error, NoticeKind::Failure),
        };
        let result = view.result.unwrap_or_default();
        let mut text = match view.aborted {
            Some(reason) => notice::ended_by(id, &reason, &result),
            None => format!("`{id}` stopped: {result}"),
        };
        if let Some(content) = view.content {
            text.push('\n');
            text.push_str(&content);
        }
        let notice = notice::notice(handle, level, kind, text);
        self.inner.push_notice(handle.number, notice);
    }
}

fn policy(handle: &Handle) -> OnTurnEnd {
    handle.tool.definition.lifecycle.on_turn_end
}

fn fate(handle: &Handle, decisions: Option<&BTreeMap<String, TurnEndDecision>>) -> Fate {
    match policy(handle) {
        OnTurnEnd::Abort => Fate::Abort,
        OnTurnEnd::Await => Fate::Await,
        OnTurnEnd::Inquire => {
            let id = handle.id().map_or("", HandleId::as_str);
            match decisions.and_then(|decisions| decisions.get(id)) {
                Some(TurnEndDecision::Wait) => Fate::Answer,
                Some(TurnEndDecision::Abort) => Fate::Abandon,
                None => Fate::Abort,
            }
        }
    }
}

fn preview(handle: &Handle) -> Option<TurnEndHandle> {
    Some(TurnEndHandle {
        id: handle.id().cloned()?,
        tool: handle.tool.definition.name.clone(),
        state: handle.status().state(),
        elapsed_secs: (handle.began.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        output_preview: handle
            .job()
            .map_or_else(String::new, |job| job.output().preview(PREVIEW)),
        question: match handle.status() {
            Status::Waiting { question, .. } => Some(question),
            _ => None,
        },
    })
}
