//! One program of a link, at the near end.
//!
//! Start at [`NearProgram::take`] in `events.rs`: events of the far side change the state and wake all waiters. Queries are
//! answered from that state. Output goes into the same [`Output`] as that of a local program.

mod events;
mod process;
mod replay;
mod state;

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use windlass_hold_wire::{HolderOrder, LinkSandbox, NearFrame, ProgramOrigin, ProgramStatus};
use windlass_output::{Output, Stream};
use windlass_process::{Exit, Receipt, RemoteCapture, RemoteStart, RemoteTap};

use self::state::{Ownership, ProgramState, Settling};
use super::WINDOW;
use super::link::{DroppedEnd, DroppedFate, Link, is_within};
use super::owner::OwnedKept;

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
        self.resume_from(state.received)
    }

    /// The frame that resumes it again over the same link, if it is still to be resumed.
    pub(super) fn repeated_resume(&self) -> Option<NearFrame> {
        let state = self.state.lock();
        let is_wanted = state.is_resuming && state.retried_until.is_some() && state.is_wanted();
        is_wanted.then(|| self.resume_from(state.received))
    }

    fn resume_from(&self, from: u64) -> NearFrame {
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

    /// Whether it is to be resumed again after a failed attempt. An adoption that is not complete is not: its caller
    /// repeats it.
    pub(super) fn is_resumed_later(&self) -> bool {
        let lease = self.lease();
        let mut state = self.state.lock();
        let is_adopted = self.origin.is_none() || matches!(state.started, Some(Ok(())));
        let is_wanted = state.is_resuming && state.is_wanted() && is_adopted;
        let is_resumed = is_wanted && is_within(&mut state.retried_until, lease);
        drop(state);
        // It is unreachable from now on.
        self.wake();
        is_resumed
    }

    /// The time since it could not be resumed over the current link.
    fn unresumed_since(&self) -> Option<SystemTime> {
        let until = self.state.lock().retried_until?;
        let left = until.saturating_duration_since(Instant::now());
        Some(SystemTime::now() - self.lease().saturating_sub(left))
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

    /// Waits until it has exited, is lost, was left or was dropped.
    pub(super) async fn ended(program: Weak<Self>) {
        let Some(mut changes) = program.upgrade().map(|it| it.changes.subscribe()) else {
            return;
        };
        loop {
            changes.borrow_and_update();
            let is_running = |it: Arc<Self>| it.state.lock().exit.is_none();
            if !program.upgrade().is_some_and(is_running) || changes.changed().await.is_err() {
                return;
            }
        }
    }

    pub(super) fn fail_start(&self, why: &str) {
        let mut state = self.state.lock();
        if state.started.is_none()
            && let Some(kept) = self.kept.as_ref().filter(|_| self.origin.is_none())
        {
            // It may be started elsewhere, under the same name.
            kept.release();
        }
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
        if state.again.is_none() {
            // Its start may have been lost with a link, and its exit is all that is stored.
            state.started.get_or_insert(Ok(()));
        }
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
            DroppedFate::Ended(DroppedEnd {
                grace: self.grace,
                lease: self.keep_lease.unwrap_or(self.link.options.lease),
                origin: self.origin,
                _kept: self.kept.take(),
                is_resuming: state.is_resuming,
                retried_until: state.retried_until,
            })
        };
        self.link.drop_program(self.number, fate);
    }
}
