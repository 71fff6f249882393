//! One program of a link, at the near end.
//!
//! Start at [`NearProgram::take`]: news of the far side changes the state, and everybody who waits is woken. What is
//! asked of the program is answered from that state. Output goes into the same [`Output`] as that of a local program.

mod process;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use windlass_hold_wire::{FarFrame, HolderOrder, LinkExit, NearFrame, ProgramStatus};
use windlass_output::{Output, Stream};
use windlass_process::{
    Exit, Receipt, RemoteCapture, RemoteStart, RemoteTap, ResourceUse, Survivor, TerminalSize,
};
use windlass_sandbox::{LimitKind, ResourceLimits};

use super::WINDOW;
use super::link::Link;

/// The far side may send more once so much of the window is used up.
const CREDIT_STEP: u64 = WINDOW / 4;

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
    limits: ResourceLimits,
    state: Mutex<ProgramState>,
    /// Counts changes of the state.
    changes: watch::Sender<u64>,
}

/// The reason why a program was not started.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotStarted(String);

struct ProgramState {
    pid: u32,
    /// Whether it runs, or why it was not started; `None` until the far side has said.
    started: Option<Result<(), NotStarted>>,
    /// How many bytes of its output have come.
    received: u64,
    /// The offset up to which the far side may send.
    credit: u64,
    /// The number of the last order.
    last_order: u64,
    /// There is a new link, and the far side has not yet said that the program goes on over it. What is asked of the
    /// program waits until then, so that nothing overtakes what was asked while there was no link.
    is_resuming: bool,
    /// Orders that the far side has not confirmed.
    unconfirmed: VecDeque<(u64, HolderOrder)>,
    input_closed: bool,
    status: Option<ProgramStatus>,
    size: TerminalSize,
    settles: HashMap<u64, Settling>,
    /// It is being ended, with this grace.
    ending: Option<Duration>,
    /// Its exit, which counts once all output up to its offset is here.
    exiting: Option<(u64, Exit)>,
    exit: Option<Exit>,
    remaining: usize,
    exceeded: Option<LimitKind>,
    receipt: Option<Receipt>,
    usage: ResourceUse,
}

/// Somebody waits for the program to settle.
struct Settling {
    deadline: Instant,
    /// The offset in the output at which it settled.
    at: Option<u64>,
}

impl NearProgram {
    pub(super) fn new(link: &Arc<Link>, start: RemoteStart) -> Arc<Self> {
        let size = start.terminal.unwrap_or_default();
        Arc::new(Self {
            number: link.next_number(),
            link: Arc::clone(link),
            output: start.output,
            lasting_output: start.lasting_output,
            errors: start.errors,
            tap: start.tap,
            capture: start.capture,
            has_input: start.has_input || start.terminal.is_some(),
            has_terminal: start.terminal.is_some(),
            grace: start.grace,
            limits: start.limits,
            state: Mutex::new(ProgramState {
                pid: 0,
                started: None,
                received: 0,
                credit: WINDOW,
                last_order: 0,
                is_resuming: false,
                unconfirmed: VecDeque::new(),
                input_closed: false,
                status: None,
                size,
                settles: HashMap::new(),
                ending: None,
                exiting: None,
                exit: None,
                remaining: 0,
                exceeded: None,
                receipt: None,
                usage: ResourceUse::default(),
            }),
            changes: watch::Sender::new(0),
        })
    }

    /// Holds everything back until the program goes on over a new link; gives the offset from which it does.
    pub(super) fn begin_resuming(&self) -> u64 {
        let mut state = self.state.lock();
        state.is_resuming = true;
        state.received
    }

    /// Wakes whoever waits for news.
    pub(super) fn wake(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Waits until it runs; gives the reason if it does not.
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

    /// Nothing more will be heard of it.
    pub(super) fn lose(&self, why: &str, ended: usize) {
        // Its output is complete before anybody hears of its end.
        self.finish_output();
        self.state.lock().receipt.get_or_insert_with(|| Receipt {
            ended,
            survivors: Vec::new(),
        });
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

    /// Takes news of the far side.
    pub(super) fn take(&self, frame: FarFrame) {
        match frame {
            FarFrame::Started { pid, .. } => {
                let mut state = self.state.lock();
                state.pid = pid;
                state.started = Some(Ok(()));
            }
            FarFrame::Failed { problem, .. } => return self.fail_start(&problem),
            FarFrame::Resumed { pid, orders, .. } => self.resumed(pid, orders),
            FarFrame::Gone { why, ended, .. } => return self.gone(&why, ended as usize),
            FarFrame::Done { id, error, .. } => {
                self.state.lock().unconfirmed.retain(|(it, _)| *it != id);
                if let Some(error) = error {
                    tracing::debug!(error, "an order was not carried out on the host");
                }
            }
            FarFrame::Output {
                from,
                is_stderr,
                bytes,
                ..
            } => self.receive(from, is_stderr, &bytes),
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
                ..
            } => {
                let mut state = self.state.lock();
                state.remaining = remaining as usize;
                state.exceeded = exceeded.and_then(limit_kind);
                let exit = match exit {
                    LinkExit::Code(code) => Exit::Code(code),
                    LinkExit::Signal(signal) => Exit::Signal(signal),
                    LinkExit::Lost(why) => Exit::Lost(why),
                };
                state.exiting.get_or_insert((offset, exit));
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

    /// The program goes on over a new link. What the far side has not done is sent again.
    fn resumed(&self, pid: u32, orders: u64) {
        // Sent under the lock: whatever is asked next goes behind it.
        let mut state = self.state.lock();
        state.is_resuming = false;
        state.pid = pid;
        state.started.get_or_insert(Ok(()));
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
        if is_started {
            self.lose(&format!("host `{host}`: {why}"), ended);
        } else {
            self.fail_start("the link was lost while it was started; start it again");
        }
    }

    fn order(&self, id: u64, order: HolderOrder) -> NearFrame {
        NearFrame::Order {
            program: self.number,
            id,
            order,
        }
    }

    /// Gives an order, now or when there is a link again.
    fn give(&self, order: HolderOrder) {
        // Sent under the lock, so that orders go in the order of their numbers.
        let mut state = self.state.lock();
        state.last_order += 1;
        let id = state.last_order;
        state.unconfirmed.push_back((id, order.clone()));
        if !state.is_resuming {
            self.link.send(&self.order(id, order));
        }
        drop(state);
        self.wake();
    }

    fn receive(&self, from: u64, is_stderr: bool, bytes: &[u8]) {
        let received = {
            let state = self.state.lock();
            if state.exit.is_some() {
                return;
            }
            state.received
        };
        if from > received {
            let host = &self.link.options.name;
            self.lose(
                &format!("more was written than host `{host}` keeps while it cannot be reached; part of it is missing"),
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
        // Whoever hears that it has been received finds it.
        self.show(is_stderr, new);
        let mut state = self.state.lock();
        state.received += new.len() as u64;
        let credit = state.received + WINDOW;
        if credit >= state.credit + CREDIT_STEP {
            state.credit = credit;
            self.link.send(&NearFrame::Credit {
                program: self.number,
                until: credit,
            });
        }
        drop(state);
        self.exit_if_complete();
    }

    fn show(&self, is_stderr: bool, bytes: &[u8]) {
        if self.capture == RemoteCapture::Nothing && !self.has_terminal {
            return;
        }
        if let Some(tap) = &self.tap {
            tap.see(bytes);
        }
        match (&self.errors, is_stderr) {
            (Some(errors), true) => errors.push(Stream::Stderr, bytes),
            (None, true) => self.output.push(Stream::Stderr, bytes),
            (_, false) => self.output.push(Stream::Stdout, bytes),
        }
    }

    /// Tells the exit, if all output before it is here.
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

    /// Whether the newest status is of now: all orders have been carried out, and nothing was written since.
    fn current_status(state: &ProgramState) -> Option<&ProgramStatus> {
        let status = state.status.as_ref()?;
        let is_current = state.exit.is_none()
            && status.orders == state.last_order
            && status.offset == state.received;
        is_current.then_some(status)
    }

    /// Waits until something of the state holds.
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
        // An end that was confirmed has ended everything, and one that is lost cannot be reached.
        let is_over = state.exit.is_some() && state.receipt.is_some();
        let is_lost = matches!(state.started, Some(Err(_)));
        self.link
            .drop_program(self.number, self.grace, is_over || is_lost);
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
