//! Executes the orders of the near side, each at most once.
//!
//! Start at [`FarProgram::obey`]. The numbers in [`OrderNotes`] are in memory that is shared with the program's holder, and
//! survive this process. They are written before an order is executed, so an order is never repeated. Input is written in
//! steps, and the rest of an order is noted after each: the near side resends an order whose input was not taken
//! completely, and the next far end continues it. Only a far end that is killed within a step loses that step.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc;
use windlass_hold_wire::{FarFrame, HolderOrder, NearFrame};
use windlass_process::{OwnerNotes, Process, ReadNoter, Signal, TerminalSize};

use super::FarProgram;

/// The length of a step: a pipe takes that much entirely or not at all (`PIPE_BUF`).
const STEP: usize = 4096;

/// The index of the note about the last write: its number, and how many of its bytes are left.
const LEFT: usize = 0;
/// The index of the note about the last order that was executed before an earlier write.
const PASSED: usize = 1;
/// The index of the note about the near program whose orders these are.
const ORDERER: usize = 2;
/// The number of bits for the bytes that are left. A frame has less than 2^24 bytes.
const LEFT_BITS: u32 = 24;

/// The progress of a program's orders, for the next far end.
pub(super) struct OrderNotes {
    /// Notes the last order whose execution has begun.
    begun: Option<ReadNoter>,
    last_begun: u64,
    notes: Option<OwnerNotes>,
}

impl OrderNotes {
    pub(super) fn of(process: &Process) -> Self {
        Self {
            begun: process.read_noter(),
            last_begun: process.noted_read(),
            notes: process.owner_notes(),
        }
    }

    /// Notes the near program that orders.
    pub(super) fn started_by(&self, orderer: u64) {
        self.set(ORDERER, orderer);
    }

    /// The number of the last order that the near program need not resend.
    pub(super) fn resumed_by(&self, orderer: u64) -> u64 {
        let (id, left) = self.left();
        if self.get(ORDERER) != orderer {
            // The near program that sent the earlier orders is gone, and the new one continues their numbers.
            let last = self.last_begun.max(id).max(self.get(PASSED));
            self.begin(last);
            self.set(LEFT, 0);
            self.set(ORDERER, orderer);
            return last;
        }
        if left > 0 && id == self.last_begun {
            id - 1
        } else {
            self.last_begun
        }
    }

    fn begin(&self, id: u64) {
        if let Some(begun) = &self.begun {
            begun(id);
        }
    }

    /// The last write, and how many of its bytes are left.
    fn left(&self) -> (u64, usize) {
        let note = self.get(LEFT);
        let left = note & ((1 << LEFT_BITS) - 1);
        (note >> LEFT_BITS, usize::try_from(left).unwrap_or_default())
    }

    fn set_left(&self, id: u64, left: usize) {
        self.set(LEFT, id << LEFT_BITS | left as u64);
    }

    fn get(&self, index: usize) -> u64 {
        self.notes.as_ref().map_or(0, |notes| notes.get(index))
    }

    fn set(&self, index: usize, note: u64) {
        if let Some(notes) = &self.notes {
            notes.set(index, note);
        }
    }
}

/// The frames of a program.
struct OrderQueue {
    frames: mpsc::UnboundedReceiver<NearFrame>,
    /// Frames that arrived during a write, in order.
    later: VecDeque<NearFrame>,
}

impl FarProgram {
    /// Executes frames in order.
    pub(super) async fn obey(self: Arc<Self>, frames: mpsc::UnboundedReceiver<NearFrame>) {
        let notes = OrderNotes::of(&self.process);
        let mut queue = OrderQueue {
            frames,
            later: VecDeque::new(),
        };
        loop {
            let next = match queue.later.pop_front() {
                Some(frame) => Some(frame),
                None => queue.frames.recv().await,
            };
            let Some(frame) = next else { return };
            if let NearFrame::Order { id, order, .. } = frame {
                self.execute(id, order, &notes, &mut queue).await;
            } else {
                self.answer(&frame);
            }
        }
    }

    /// Executes an order, unless it was executed already.
    async fn execute(
        self: &Arc<Self>,
        id: u64,
        order: HolderOrder,
        notes: &OrderNotes,
        queue: &mut OrderQueue,
    ) {
        if id <= self.orders.load(Ordering::Acquire) {
            // The outcome of the earlier execution is unknown.
            self.send(&self.done(id, None, true));
            return;
        }
        let is_write = matches!(order, HolderOrder::Write(_));
        let is_hidden = is_write && self.hides_typing();
        let error = match order {
            HolderOrder::Write(bytes) => self.write(id, &bytes, notes, queue).await,
            order => {
                if order == HolderOrder::CloseInput && self.process.terminal().is_some() {
                    // The key is typed at once then.
                    self.wait_for_room(notes, queue).await;
                }
                // Noted first, so that the order is not executed twice if this process is killed now.
                notes.begin(id);
                let has_passed = is_apart(&order) && id <= notes.get(PASSED);
                if has_passed {
                    None
                } else {
                    self.carry_out(&order)
                }
            }
        };
        self.orders.store(id, Ordering::Release);
        self.ordered.notify_waiters();
        self.send(&self.done(id, error, is_hidden));
    }

    /// Writes the rest of an order's input, as the program reads.
    async fn write(
        self: &Arc<Self>,
        id: u64,
        bytes: &[u8],
        notes: &OrderNotes,
        queue: &mut OrderQueue,
    ) -> Option<String> {
        let mut rest = bytes;
        match notes.left() {
            // An earlier far end has begun it.
            (begun, left) if begun == id => rest = &bytes[bytes.len().saturating_sub(left)..],
            _ => notes.set_left(id, bytes.len()),
        }
        notes.begin(id);
        while !rest.is_empty() {
            let step = &rest[..rest.len().min(STEP)];
            // Noted first, so that it is not written twice if this process is killed now.
            notes.set_left(id, rest.len() - step.len());
            let length = match self.process.offer(step) {
                Ok(length) => length,
                Err(error) => {
                    notes.set_left(id, 0);
                    return Some(error.to_string());
                }
            };
            rest = &rest[length..];
            notes.set_left(id, rest.len());
            if length < step.len() {
                self.wait_for_room(notes, queue).await;
            }
        }
        None
    }

    /// Waits until the program's input may take more, or the program has exited. Meanwhile it receives signals.
    async fn wait_for_room(self: &Arc<Self>, notes: &OrderNotes, queue: &mut OrderQueue) {
        loop {
            tokio::select! {
                biased;
                Some(frame) = queue.frames.recv() => {
                    if let NearFrame::Order { id, order, .. } = &frame {
                        self.pass(*id, order, notes);
                        queue.later.push_back(frame);
                    } else {
                        self.answer(&frame);
                    }
                }
                () = self.process.input_room() => return,
                _ = self.process.wait() => return,
            }
        }
    }

    /// Executes an order that does not concern the input before earlier ones that do.
    fn pass(&self, id: u64, order: &HolderOrder, notes: &OrderNotes) {
        let is_new = id > self.orders.load(Ordering::Acquire) && id > notes.get(PASSED);
        if is_apart(order) && is_new {
            notes.set(PASSED, id);
            if let Some(error) = self.carry_out(order) {
                tracing::debug!(error, "an order was not carried out");
            }
            // It is confirmed in turn, without being executed again. The near side must not drop it before: after a lost
            // link, the numbers of orders would end below its number.
        }
    }

    /// Handles a frame that is no order.
    fn answer(self: &Arc<Self>, frame: &NearFrame) {
        match frame {
            NearFrame::Settle { id, limit, .. } => {
                self.settling.send_modify(|count| *count += 1);
                windlass_task::spawn(Arc::clone(self).settle(*id, *limit));
            }
            NearFrame::Ask { .. } => {
                let usage = self.process.usage();
                self.send(&FarFrame::Usage {
                    program: self.number,
                    cpu: usage.cpu,
                    memory: usage.memory,
                    processes: u32::try_from(usage.processes).unwrap_or(u32::MAX),
                });
            }
            _ => {}
        }
    }

    fn done(&self, id: u64, error: Option<String>, is_hidden: bool) -> FarFrame {
        FarFrame::Done {
            program: self.number,
            id,
            error,
            is_hidden,
        }
    }

    /// Executes an order other than a write; returns the error.
    fn carry_out(&self, order: &HolderOrder) -> Option<String> {
        match *order {
            HolderOrder::CloseInput => self.process.close_stdin(),
            HolderOrder::Resize { rows, cols } => {
                // Resized first, because the program may send a query as soon as its terminal has the new size.
                if let Some(screen) = &self.screen {
                    screen.resize(rows, cols);
                }
                let resized = self
                    .process
                    .terminal()
                    .map(|terminal| terminal.resize(TerminalSize { rows, cols }));
                return resized?.err().map(|error| error.to_string());
            }
            HolderOrder::Signal(number) => {
                let signal = signal_of(number)?;
                let sent = self.process.signal(signal);
                return sent.err().map(|error| error.to_string());
            }
            // An end was executed on arrival, and a write is written in steps.
            HolderOrder::End { .. } | HolderOrder::Write(_) => {}
        }
        None
    }
}

/// Whether an order does not concern the input.
fn is_apart(order: &HolderOrder) -> bool {
    matches!(order, HolderOrder::Signal(_) | HolderOrder::Resize { .. })
}

fn signal_of(number: u8) -> Option<Signal> {
    let all = [
        Signal::Interrupt,
        Signal::Quit,
        Signal::Terminate,
        Signal::Hangup,
        Signal::Kill,
        Signal::Stop,
        Signal::Continue,
        Signal::User1,
        Signal::User2,
    ];
    let number = i32::from(number);
    all.into_iter().find(|signal| signal.number() == number)
}
