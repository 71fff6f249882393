//! The state of a program at the near end.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;
use windlass_hold_wire::{HolderOrder, ProgramStatus};
use windlass_process::{Exit, Rebuild, Receipt, ResourceUse, TerminalSize};
use windlass_sandbox::{LimitKind, ResourceLimits};

use super::{NotStarted, WINDOW};

/// The state of a program, as known to the near side.
pub(super) struct ProgramState {
    pub(super) pid: u32,
    /// Whether it runs, or why it did not start; `None` until the far side has replied.
    pub(super) started: Option<Result<(), NotStarted>>,
    /// The number of bytes of output received.
    pub(super) received: u64,
    /// The offset up to which the far side may send.
    pub(super) credit: u64,
    /// The number of the last order.
    pub(super) last_order: u64,
    /// There is a new link, and the far side has not yet resumed the program. Requests wait until then, so that they do
    /// not overtake requests made while there was no link.
    pub(super) is_resuming: bool,
    /// Until when failed attempts to resume it are repeated; set by the first one.
    pub(super) retried_until: Option<Instant>,
    /// The number of the last write order.
    pub(super) last_write: u64,
    /// The number of the last write order that the terminal has echoed.
    pub(super) shown_write: u64,
    /// Orders that the far side has not confirmed.
    pub(super) unconfirmed: VecDeque<(u64, HolderOrder)>,
    pub(super) input_closed: bool,
    pub(super) status: Option<ProgramStatus>,
    pub(super) size: TerminalSize,
    pub(super) settles: HashMap<u64, Settling>,
    /// The grace period, if it is being ended.
    pub(super) ending: Option<Duration>,
    /// Its exit, which takes effect once all output up to its offset has arrived.
    pub(super) exiting: Option<(u64, Exit)>,
    pub(super) exit: Option<Exit>,
    pub(super) remaining: usize,
    pub(super) exceeded: Option<LimitKind>,
    pub(super) receipt: Option<Receipt>,
    pub(super) usage: ResourceUse,
    pub(super) limits: ResourceLimits,
    pub(super) allowed: Option<String>,
    pub(super) unprotected: Vec<String>,
    pub(super) denied: Vec<String>,
    pub(super) ownership: Ownership,
    /// The replay of its output, if one is in progress.
    pub(super) again: Option<ReplayedOutput>,
}

/// The owner of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// This runtime.
    Ours,
    /// It was left for another runtime.
    Left,
    /// The far side has it no longer, or was given up: no order reaches it any more.
    Gone,
}

/// The replay of an adopted program's output.
pub(super) struct ReplayedOutput {
    /// The length of the output when the program was adopted, once known.
    pub(super) until: Option<u64>,
    pub(super) rebuild: Option<Rebuild>,
}

/// A pending settle request.
pub(super) struct Settling {
    pub(super) deadline: Instant,
    /// The offset in the output at which it settled.
    pub(super) at: Option<u64>,
}

impl ProgramState {
    /// Whether anything depends on the output that is received: an event at a later offset, or the validity of a prompt.
    pub(super) fn is_output_awaited(&self) -> bool {
        self.exiting.is_some() || self.status.is_some() || !self.settles.is_empty()
    }

    /// Whether the far side has it for this runtime, and its tree was not ended.
    pub(super) fn is_wanted(&self) -> bool {
        self.ownership == Ownership::Ours && self.receipt.is_none()
    }

    pub(super) fn new(size: TerminalSize, limits: ResourceLimits) -> Self {
        Self {
            pid: 0,
            started: None,
            received: 0,
            credit: WINDOW,
            last_order: 0,
            is_resuming: false,
            retried_until: None,
            last_write: 0,
            shown_write: 0,
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
            limits,
            allowed: None,
            unprotected: Vec::new(),
            denied: Vec::new(),
            ownership: Ownership::Ours,
            again: None,
        }
    }
}
