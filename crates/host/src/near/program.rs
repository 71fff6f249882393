//! One program of a link, at the near end.
//!
//! Start at [`NearProgram::take`]: events of the far side change the state and wake all waiters. Queries are answered
//! from that state. Output goes into the same [`Output`] as that of a local program.

mod process;
mod replay;
mod state;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_hold_wire::{
    FarFrame, HolderOrder, LinkExit, LinkSandbox, NearFrame, ProgramOrigin, ProgramStatus,
};
use windlass_output::{Output, Stream};
use windlass_process::{
    Exit, Receipt, RemoteCapture, RemoteStart, RemoteTap, ResourceUse, Survivor,
};
use windlass_sandbox::LimitKind;

use self::state::{Ownership, ProgramState, Settling};
use super::WINDOW;
use super::link::{DroppedFate, Link};
use super::owner::OwnedKept;
use crate::rules::read_limits;

/// A program on a host. Dropping it ends the program there.
pub(super) struct NearProgram {
    pub(super) number: u64,
    link: Arc<Link>,
    output: Output,
    lasting_output: bool,
    errors: Option<Output>,
    tap: Option<RemoteTap>,
    capture: RemoteCapture,
    has_input: bool,
    has_terminal: bool,
    grace: Duration,
    /// Its near files, if it is kept.
    kept: Option<OwnedKept>,
    /// How long it is held without a link, if it is kept.
    keep_lease: Option<Duration>,
    /// The program of an earlier runtime, if it was adopted.
    origin: Option<ProgramOrigin>,
    sandbox: Option<LinkSandbox>,
    state: Mutex<ProgramState>,
    /// Counts changes of the state.
    changes: watch::Sender<u64>,
}

/// The reason why a program did not start.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotStarted(String);

impl NearProgram {
    /// A program that is about to be started.
    pub(super) fn new(
        link: &Arc<Link>,
        number: u64,
        start: RemoteStart,
        kept: Option<OwnedKept>,
        sandbox: Option<LinkSandbox>,
    ) -> Arc<Self> {
        let size = start.terminal.unwrap_or_default();
        let lease = start.keep.as_ref().map(|options| options.lease);
        Arc::new(Self {
            number,
            link: Arc::clone(link),
            output: start.output,
            lasting_output: start.lasting_output,
            errors: start.errors,
            tap: start.tap,
            capture: start.capture,
            has_input: start.has_input || start.terminal.is_some(),
            has_terminal: start.terminal.is_some(),
            grace: start.grace,
            keep_lease: lease.filter(|_| kept.is_some()),
            kept,
            origin: None,
            sandbox,
            state: Mutex::new(ProgramState::new(size, start.limits)),
            changes: watch::Sender::new(0),
        })
    }

    /// The frame that resumes it over a new link. Other frames are held back until it is resumed.
    pub(super) fn resume_frame(&self) -> NearFrame {
        let mut state = self.state.lock();
        state.is_resuming = true;
        let from = state.received;
        drop(state);
        NearFrame::Resume {
            program: self.number,
            from,
            credit: from.saturating_add(WINDOW),
            origin: self.origin,
            sandbox: self.sandbox.clone().map(Box::new),
        }
    }

    /// How long the far side holds it without a link.
    pub(super) fn lease(&self) -> Duration {
        self.keep_lease.unwrap_or(self.link.options.lease)
    }

    /// Whether it was started and is not known to have exited.
    pub(super) fn is_running(&self) -> bool {
        let state = self.state.lock();
        matches!(state.started, Some(Ok(()))) && state.exit.is_none()
    }

    /// Whether the far side has it no longer, or was given up.
    pub(super) fn is_gone(&self) -> bool {
        self.state.lock().ownership == Ownership::Gone
    }

    /// Whether it was left for another runtime.
    pub(super) fn is_left(&self) -> bool {
        self.state.lock().ownership == Ownership::Left
    }

    /// Wakes all waiters.
    pub(super) fn wake(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Waits until it runs; returns the reason if it does not.
    pub(super) async fn started(&self) -> Result<(), NotStarted> {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            if let Some(started) = self.state.lock().started.clone() {
                return started;
            }
            // The sender lives as long as this program.
            let _ = changes.changed().await;
        }
    }

    /// Waits until it has exited, is lost or was left.
    pub(super) async fn exited(&self) {
        self.wait_until(|state| state.exit.as_ref().map(drop)).await;
    }

    pub(super) fn fail_start(&self, why: &str) {
        let mut state = self.state.lock();
        state
            .started
            .get_or_insert_with(|| Err(NotStarted(why.to_owned())));
        state.exit.get_or_insert_with(|| Exit::Lost(why.to_owned()));
        state.receipt.get_or_insert_default();
        drop(state);
        self.wake();
    }

    /// Marks it as lost: no more events will arrive.
    pub(super) fn lose(&self, why: &str, ended: usize) {
        // Complete its output before reporting its end. A program that was never started may be started elsewhere.
        if self.state.lock().started.is_some() {
            self.finish_output();
        }
        let mut state = self.state.lock();
        if state.ownership == Ownership::Ours {
            state.ownership = Ownership::Gone;
        }
        state.receipt.get_or_insert_with(|| Receipt {
            ended,
            survivors: Vec::new(),
        });
        drop(state);
        self.fail_start(why);
    }

    fn finish_output(&self) {
        if self.lasting_output {
            self.output.end_run();
        } else {
            self.output.finish();
        }
        if let Some(errors) = &self.errors {
            errors.finish();
        }
    }

    /// Handles an event of the far side.
    pub(super) fn take(&self, frame: FarFrame) {
        match frame {
            FarFrame::Started { pid, rules, .. } => {
                let mut state = self.state.lock();
                state.pid = pid;
                state.limits = read_limits(&rules.limits);
                state.allowed = rules.allowed;
                state.unprotected = rules.unprotected;
                state.started = Some(Ok(()));
            }
            FarFrame::Failed { problem, .. } => return self.fail_start(&problem),
            FarFrame::Resumed {
                pid,
                orders,
                offset,
                terminal,
                ..
            } => {
                self.take_up(orders, offset, terminal);
                self.resumed(pid, orders);
            }
            FarFrame::Gone {
                why,
                ended,
                receipt,
                ..
            } => {
                if let Some(kept) = self.kept.as_ref().filter(|_| self.origin.is_some()) {
                    kept.note_end(receipt.as_deref());
                }
                return self.gone(&why, ended as usize);
            }
            FarFrame::Done {
                id,
                error,
                is_hidden,
                ..
            } => self.confirm(id, error, is_hidden),
            FarFrame::Output {
                from,
                is_stderr,
                bytes,
                ..
            } => return self.receive(from, is_stderr, &bytes),
            FarFrame::Status { status, .. } => self.state.lock().status = Some(status),
            FarFrame::Settled { id, offset, .. } => {
                if let Some(settling) = self.state.lock().settles.get_mut(&id) {
                    settling.at = Some(offset);
                }
            }
            FarFrame::Exited {
                offset,
                exit,
                remaining,
                exceeded,
                denied,
                ..
            } => {
                let mut state = self.state.lock();
                state.denied = denied;
                state.remaining = remaining as usize;
                state.exceeded = exceeded.and_then(limit_kind);
                let exit = match exit {
                    LinkExit::Code(code) => Exit::Code(code),
                    LinkExit::Signal(signal) => Exit::Signal(signal),
                    LinkExit::Lost(why) => Exit::Lost(why),
                };
                // The newest one is valid: a resumed program may have less output than an earlier link announced.
                state.exiting = Some((offset, exit));
                drop(state);
                self.exit_if_complete();
            }
            FarFrame::Ended {
                ended, survivors, ..
            } => {
                let survivors = survivors.into_iter();
                self.state.lock().receipt = Some(Receipt {
                    ended: ended as usize,
                    survivors: survivors
                        .map(|(pid, name)| Survivor { pid, name })
                        .collect(),
                });
            }
            FarFrame::Usage {
                cpu,
                memory,
                processes,
                ..
            } => {
                self.state.lock().usage = ResourceUse {
                    cpu,
                    memory,
                    processes: processes as usize,
                };
            }
            FarFrame::Hello(_)
            | FarFrame::Port { .. }
            | FarFrame::Beat
            | FarFrame::Refused { .. } => return,
        }
        self.wake();
    }

    /// Handles the outcome of an order.
    fn confirm(&self, id: u64, error: Option<String>, is_hidden: bool) {
        let mut state = self.state.lock();
        state.unconfirmed.retain(|(it, _)| *it != id);
        if !is_hidden && id == state.last_write {
            state.shown_write = id;
        }
        drop(state);
        if let Some(error) = error {
            tracing::debug!(error, "an order was not carried out on the host");
        }
    }

    /// Handles a resumed program. Orders that the far side has not executed are resent.
    fn resumed(&self, pid: u32, orders: u64) {
        // Sent under the lock, so that later orders queue behind it.
        let mut state = self.state.lock();
        state.is_resuming = false;
        state.pid = pid;
        if state.again.is_none() {
            state.started.get_or_insert(Ok(()));
        }
        state.unconfirmed.retain(|(id, _)| *id > orders);
        let now = Instant::now();
        let orders = state.unconfirmed.iter();
        let mut frames: Vec<NearFrame> =
            orders.map(|(id, it)| self.order(*id, it.clone())).collect();
        let open = state.settles.iter().filter(|(_, it)| it.at.is_none());
        frames.extend(open.map(|(id, settling)| NearFrame::Settle {
            program: self.number,
            id: *id,
            limit: settling.deadline.saturating_duration_since(now),
        }));
        if let Some(grace) = state.ending {
            frames.push(self.order(0, HolderOrder::End { grace }));
        }
        for frame in frames {
            self.link.send(&frame);
        }
    }

    fn gone(&self, why: &str, ended: usize) {
        let host = &self.link.options.name;
        let is_started = self.state.lock().started.is_some();
        let when = if is_started {
            ""
        } else {
            "the link was lost while the program was started; "
        };
        self.lose(&format!("{when}host `{host}`: {why}"), ended);
    }

    fn order(&self, id: u64, order: HolderOrder) -> NearFrame {
        NearFrame::Order {
            program: self.number,
            id,
            order,
        }
    }

    /// Sends an order, or queues it until there is a link again.
    fn send_order(&self, order: HolderOrder) {
        // Sent under the lock, so that orders are sent in the order of their numbers.
        let mut state = self.state.lock();
        state.last_order += 1;
        let id = state.last_order;
        if matches!(order, HolderOrder::Write(_)) {
            state.last_write = id;
        }
        state.unconfirmed.push_back((id, order.clone()));
        self.link.note_use(self.number);
        if !state.is_resuming {
            self.link.send(&self.order(id, order));
        }
        drop(state);
        self.wake();
    }

    /// Handles output. Readers of the output are notified by the output itself.
    pub(super) fn receive(&self, from: u64, is_stderr: bool, bytes: &[u8]) {
        let (received, again) = {
            let state = self.state.lock();
            if state.exit.is_some() || state.ownership == Ownership::Left {
                return;
            }
            (state.received, state.again.is_some())
        };
        if from > received {
            let host = &self.link.options.name;
            self.lose(
                &format!(
                    "the program wrote more than host `{host}` stores while it is unreachable; part of the output is missing"
                ),
                0,
            );
            self.link
                .send(&self.order(0, HolderOrder::End { grace: self.grace }));
            return;
        }
        let known = usize::try_from(received - from).unwrap_or(usize::MAX);
        let Some(new) = bytes.get(known..) else {
            return;
        };
        // Append the output before `received` is updated.
        self.show(is_stderr, new, again);
        let mut state = self.state.lock();
        state.received += new.len() as u64;
        let window = self.link.window(self.number);
        let credit = state.received + window;
        // The far side may send more once a quarter of the window is used up.
        if credit >= state.credit + window / 4 {
            state.credit = credit;
            self.link.send(&NearFrame::Credit {
                program: self.number,
                until: credit,
            });
        }
        let is_awaited = state.is_output_awaited();
        drop(state);
        self.rebuild_if_complete();
        self.exit_if_complete();
        if is_awaited {
            self.wake();
        }
    }

    /// Appends output. For replayed output the tap is not called: that of an earlier runtime has seen it.
    fn show(&self, is_stderr: bool, bytes: &[u8], again: bool) {
        if self.capture == RemoteCapture::Nothing && !self.has_terminal {
            return;
        }
        if let Some(tap) = self.tap.as_ref().filter(|_| !again) {
            tap.see(bytes);
        }
        match (&self.errors, is_stderr) {
            (Some(errors), true) => errors.push(Stream::Stderr, bytes),
            (None, true) => self.output.push(Stream::Stderr, bytes),
            (_, false) => self.output.push(Stream::Stdout, bytes),
        }
    }

    /// Reports the exit, if all output before it has arrived.
    fn exit_if_complete(&self) {
        let state = self.state.lock();
        let is_complete = state
            .exiting
            .as_ref()
            .is_some_and(|(offset, _)| *offset <= state.received);
        if !is_complete || state.exit.is_some() {
            return;
        }
        drop(state);
        self.finish_output();
        let mut state = self.state.lock();
        let exit = state.exiting.as_ref().map(|(_, exit)| exit.clone());
        state.exit = exit;
    }

    /// The newest status, if it is current: all orders have been executed, and there was no output since.
    fn current_status(state: &ProgramState) -> Option<&ProgramStatus> {
        let status = state.status.as_ref()?;
        let is_current = state.exit.is_none()
            && status.orders == state.last_order
            && status.offset == state.received;
        is_current.then_some(status)
    }

    /// Waits until `found` returns a value.
    async fn wait_until<T>(&self, mut found: impl FnMut(&mut ProgramState) -> Option<T>) -> T {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            if let Some(found) = found(&mut self.state.lock()) {
                return found;
            }
            // The sender lives as long as this program.
            let _ = changes.changed().await;
        }
    }
}

impl Drop for NearProgram {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        // A confirmed end has ended everything, and a lost program cannot be reached.
        let is_over = state.exit.is_some() && state.receipt.is_some();
        let is_lost = matches!(state.started, Some(Err(_)));
        let is_adopted = self.origin.is_none() || matches!(state.started, Some(Ok(())));
        let fate = if state.ownership == Ownership::Left {
            DroppedFate::Left
        } else if state.ownership == Ownership::Ours && !is_adopted {
            DroppedFate::NotAdopted
        } else if is_over || is_lost {
            DroppedFate::Over
        } else {
            DroppedFate::Ended(self.grace)
        };
        self.link.drop_program(self.number, fate);
    }
}

fn limit_kind(place: u8) -> Option<LimitKind> {
    Some(match place {
        0 => LimitKind::Memory,
        1 => LimitKind::Processes,
        2 => LimitKind::Cpu,
        4 => LimitKind::FileSize,
        5 => LimitKind::Wall,
        6 => LimitKind::Disk,
        _ => return None,
    })
}
