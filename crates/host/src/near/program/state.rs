//! The state of a program at the near end.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use windlass_hold_wire::{HolderOrder, ProgramStatus};
use windlass_process::{Exit, Rebuild, Receipt, ResourceUse, TerminalSize};
use windlass_sandbox::{LimitKind, ResourceLimits};

use super::{NotStarted, WINDOW};

/// The state of a program as far as the near side knows it.
pub(super) struct ProgramState {
    pub(super) pid: u32,
    /// Whether it runs, or why it was not started; `None` until the far side has said.
    pub(super) started: Option<Result<(), NotStarted>>,
    /// How many bytes of its output have come.
    pub(super) received: u64,
    /// The offset up to which the far side may send.
    pub(super) credit: u64,
    /// The number of the last order.
    pub(super) last_order: u64,
    /// There is a new link, and the far side has not yet said that the program goes on over it. What is asked of the
    /// program waits until then, so that nothing overtakes what was asked while there was no link.
    pub(super) is_resuming: bool,
    /// The number of the last order to type something.
    pub(super) last_write: u64,
    /// The number of the last such order that the terminal has shown.
    pub(super) shown_write: u64,
    /// Orders that the far side has not confirmed.
    pub(super) unconfirmed: VecDeque<(u64, HolderOrder)>,
    pub(super) input_closed: bool,
    pub(super) status: Option<ProgramStatus>,
    pub(super) size: TerminalSize,
    pub(super) settles: HashMap<u64, Settling>,
    /// It is being ended, with this grace.
    pub(super) ending: Option<Duration>,
    /// Its exit, which counts once all output up to its offset is here.
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
    /// It was left for another runtime.
    pub(super) left: bool,
    /// Its output is being sent again.
    pub(super) again: Option<ReplayedOutput>,
}

/// Output of a program that was taken over, which comes again.
pub(super) struct ReplayedOutput {
    /// The length of the output when the program was taken over, once that is known.
    pub(super) until: Option<u64>,
    pub(super) rebuild: Option<Rebuild>,
}

/// Somebody waits for the program to settle.
pub(super) struct Settling {
    pub(super) deadline: Instant,
    /// The offset in the output at which it settled.
    pub(super) at: Option<u64>,
}

impl ProgramState {
    pub(super) fn new(size: TerminalSize, limits: ResourceLimits) -> Self {
        Self {
            pid: 0,
            started: None,
            received: 0,
            credit: WINDOW,
            last_order: 0,
            is_resuming: false,
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
            left: false,
            again: None,
        }
    }
}
