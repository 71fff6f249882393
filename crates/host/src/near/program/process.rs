//! Implements a process: queries are answered from the last events, and orders go to the far side.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use windlass_hold_wire::{HolderOrder, LONGEST_PIECE, LinkPrompt, NearFrame};
use windlass_output::Output;
use windlass_process::{
    Exit, HeldKey, InputReader, Modes, Prompt, ReadNoter, Receipt, RemoteFuture, RemoteProcess,
    ResourceUse, Signal, SignalError, TerminalSize, UnreachableHost, WriteError,
};
use windlass_sandbox::{LimitKind, ResourceLimits};

use super::{NearProgram, OwnedKept, Ownership, Settling};

/// The maximum number of unconfirmed bytes of input.
const INPUT_LIMIT: usize = 1024 * 1024;

impl RemoteProcess for NearProgram {
    fn pid(&self) -> u32 {
        self.state.lock().pid
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn errors(&self) -> &Output {
        self.errors.as_ref().unwrap_or(&self.output)
    }

    fn exit(&self) -> Option<Exit> {
        self.state.lock().exit.clone()
    }

    fn exceeded(&self) -> Option<LimitKind> {
        self.state.lock().exceeded
    }

    fn limits(&self) -> ResourceLimits {
        self.state.lock().limits
    }

    fn held_key(&self) -> Option<&HeldKey> {
        self.kept.as_ref().map(|kept| &kept.key)
    }

    fn read_noter(&self) -> Option<ReadNoter> {
        self.kept.as_ref().map(OwnedKept::noter)
    }

    fn noted_read(&self) -> u64 {
        self.kept.as_ref().map_or(0, OwnedKept::noted_read)
    }

    fn leave(&self) -> RemoteFuture<'_, ()> {
        Box::pin(async move {
            let Some(kept) = &self.kept else {
                return;
            };
            self.finish_output();
            let mut state = self.state.lock();
            state.ownership = Ownership::Left;
            let left = || Exit::Lost(String::from("it was left running"));
            state.exit.get_or_insert_with(left);
            state.receipt.get_or_insert_default();
            drop(state);
            self.link.send(&NearFrame::Leave {
                program: self.number,
            });
            kept.release();
            self.wake();
        })
    }

    fn hid_last_write(&self) -> bool {
        let state = self.state.lock();
        state.last_write != state.shown_write
    }

    fn allowed(&self) -> Option<String> {
        self.state.lock().allowed.clone()
    }

    fn denied(&self) -> Vec<String> {
        self.state.lock().denied.clone()
    }

    fn unprotected(&self) -> Vec<String> {
        self.state.lock().unprotected.clone()
    }

    fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        if !self.has_input {
            return Err(WriteError::NoInput);
        }
        {
            let state = self.state.lock();
            if state.exit.is_some() {
                return Err(WriteError::Exited);
            }
            if state.input_closed {
                return Err(WriteError::Closed);
            }
            let queued: usize = state
                .unconfirmed
                .iter()
                .map(|(_, order)| match order {
                    HolderOrder::Write(bytes) => bytes.len(),
                    _ => 0,
                })
                .sum();
            if queued + bytes.len() > INPUT_LIMIT {
                return Err(WriteError::Full { queued });
            }
        }
        for piece in bytes.chunks(LONGEST_PIECE) {
            self.send_order(HolderOrder::Write(piece.to_vec()));
        }
        Ok(())
    }

    fn close_stdin(&self) {
        if !self.has_terminal {
            self.state.lock().input_closed = true;
        }
        self.send_order(HolderOrder::CloseInput);
    }

    fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        if self.state.lock().exit.is_some() {
            return Err(SignalError::Exited);
        }
        let number = u8::try_from(signal.number()).unwrap_or(0);
        self.send_order(HolderOrder::Signal(number));
        Ok(())
    }

    fn usage(&self) -> ResourceUse {
        self.link.send(&NearFrame::Ask {
            program: self.number,
        });
        self.state.lock().usage
    }

    fn listeners(&self) -> Option<Vec<InputReader>> {
        let state = self.state.lock();
        let readers = Self::current_status(&state)?.readers.as_ref()?.iter();
        let readers = readers.map(|reader| InputReader {
            names: reader.names.clone(),
            args: reader.args.clone(),
            is_foreground: reader.is_foreground,
        });
        Some(readers.collect())
    }

    fn end(&self, grace: Duration) -> RemoteFuture<'_, Receipt> {
        Box::pin(async move {
            {
                let mut state = self.state.lock();
                let is_lost = matches!(state.exit, Some(Exit::Lost(_)));
                // A complete end is not repeated: its receipt would say that nothing was ended.
                let receipt = state.receipt.as_ref();
                let is_ended = receipt.is_some_and(|it| is_lost || it.survivors.is_empty());
                if state.ownership == Ownership::Ours && !is_ended {
                    state.receipt = None;
                    state.ending = Some(grace);
                    self.link.send(&self.order(0, HolderOrder::End { grace }));
                }
            }
            let receipt = self
                .wait_until(|state| state.receipt.clone().filter(|_| state.exit.is_some()))
                .await;
            // Its whole process tree has ended.
            self.state.lock().remaining = 0;
            receipt
        })
    }

    fn settle(&self, max: Duration) -> RemoteFuture<'_, ()> {
        Box::pin(async move {
            let id = self.link.next_number();
            let settling = Settling {
                deadline: Instant::now() + max,
                at: None,
            };
            let program = self.number;
            let limit = max;
            {
                let mut state = self.state.lock();
                state.settles.insert(id, settling);
                if !state.is_resuming {
                    self.link.send(&NearFrame::Settle { program, id, limit });
                }
            }
            let settled = self.wait_until(|state| {
                let at = state.settles.get(&id).and_then(|settling| settling.at);
                // Wait for an exit that is on its way: the reply must not describe a running program.
                let is_settled =
                    state.exiting.is_none() && at.is_some_and(|at| at <= state.received);
                (state.exit.is_some() || is_settled).then_some(())
            });
            let _ = tokio::time::timeout(max, settled).await;
            self.state.lock().settles.remove(&id);
        })
    }

    fn remaining(&self) -> usize {
        self.state.lock().remaining
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    fn size(&self) -> TerminalSize {
        self.state.lock().size
    }

    fn resize(&self, size: TerminalSize) {
        self.state.lock().size = size;
        self.send_order(HolderOrder::Resize {
            rows: size.rows,
            cols: size.cols,
        });
    }

    fn modes(&self) -> Modes {
        let state = self.state.lock();
        let status = state.status.as_ref();
        Modes {
            canonical: status.is_none_or(|status| status.canonical),
            echo: status.is_none_or(|status| status.echo),
        }
    }

    fn prompt(&self) -> Option<Prompt> {
        let state = self.state.lock();
        Some(match Self::current_status(&state)?.prompt? {
            LinkPrompt::Input => Prompt::Input,
            LinkPrompt::Secret => Prompt::Secret,
        })
    }

    fn port_open(&self, port: u16) -> RemoteFuture<'static, ()> {
        let mut opened = self.link.watch_port(self.number, port);
        Box::pin(async move {
            if opened.wait_for(|is_open| *is_open).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn unreachable(&self) -> Option<UnreachableHost> {
        let lost = self.link.unreachable(self.lease());
        lost.or_else(|| {
            Some(UnreachableHost {
                host: self.link.options.name.clone(),
                since: self.unresumed_since()?,
                lease: Some(self.lease()),
            })
        })
    }
}
