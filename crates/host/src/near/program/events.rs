//! Events of the far side about one program.
//!
//! Start at [`NearProgram::take`]. Output is received in [`NearProgram::receive`].

use tokio::time::Instant;
use windlass_hold_wire::{AppliedRules, FarFrame, HolderOrder, LinkExit, NearFrame};
use windlass_process::{Exit, Receipt, ResourceUse, Survivor};
use windlass_sandbox::LimitKind;

use super::NearProgram;
use crate::rules::read_limits;

impl NearProgram {
    /// Handles an event of the far side.
    pub(in crate::near) fn take(&self, frame: FarFrame) {
        match frame {
            FarFrame::Started { pid, rules, .. } => self.note_start(pid, rules),
            FarFrame::Failed { problem, .. } => return self.failed(&problem),
            FarFrame::Resumed {
                pid,
                orders,
                offset,
                terminal,
                input_closed,
                ..
            } => {
                {
                    // Before an adoption is complete, because its caller continues then.
                    let mut state = self.state.lock();
                    state.pid = pid;
                    state.input_closed |= input_closed;
                }
                self.take_up(orders, offset, terminal);
                self.resumed(orders);
            }
            FarFrame::Gone {
                why,
                ended,
                receipt,
                ..
            } => return self.gone(&why, ended as usize, receipt.as_deref()),
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
                // The newest one is valid: a resumed program may have less output than an earlier link announced.
                state.exiting = Some((offset, exit_of(exit)));
                drop(state);
                self.exit_if_complete();
            }
            FarFrame::Ended {
                ended, survivors, ..
            } => self.state.lock().receipt = Some(receipt_of(ended, survivors)),
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

    fn note_start(&self, pid: u32, rules: AppliedRules) {
        let mut state = self.state.lock();
        state.pid = pid;
        state.limits = read_limits(&rules.limits);
        state.allowed = rules.allowed;
        state.unprotected = rules.unprotected;
        state.started = Some(Ok(()));
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
    fn resumed(&self, orders: u64) {
        // Sent under the lock, so that later orders queue behind it.
        let mut state = self.state.lock();
        state.is_resuming = false;
        state.retried_until = None;
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

    /// Handles a program that was not started, or cannot be resumed.
    fn failed(&self, problem: &str) {
        let has_run = matches!(self.state.lock().started, Some(Ok(())));
        if has_run {
            self.lose(problem, 0);
        } else {
            self.fail_start(problem);
        }
    }

    /// Handles a program that the far side does not have.
    fn gone(&self, why: &str, ended: usize, receipt: Option<&[u8]>) {
        if let Some(kept) = self.kept.as_ref().filter(|_| self.origin.is_some()) {
            kept.note_end(receipt);
        }
        let host = &self.link.options.name;
        let is_started = self.state.lock().started.is_some();
        let when = if is_started {
            ""
        } else {
            "the link was lost while the program was started; "
        };
        self.lose(&format!("{when}host `{host}`: {why}"), ended);
    }
}

fn exit_of(exit: LinkExit) -> Exit {
    match exit {
        LinkExit::Code(code) => Exit::Code(code),
        LinkExit::Signal(signal) => Exit::Signal(signal),
        LinkExit::Lost(why) => Exit::Lost(why),
    }
}

fn receipt_of(ended: u32, survivors: Vec<(u32, String)>) -> Receipt {
    let survivors = survivors.into_iter();
    Receipt {
        ended: ended as usize,
        survivors: survivors
            .map(|(pid, name)| Survivor { pid, name })
            .collect(),
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
