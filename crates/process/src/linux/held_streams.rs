//! The streams of a held program, read by its holder instead of a runtime.
//!
//! Start at [`StreamReader::new`].

use std::os::fd::OwnedFd;

use windlass_output::{Output, OutputOptions, Screen, Stream};

use super::keep_wire::{KeepOrder, KeptDescriptors};
use super::retained::{Retained, TakeOutcome};

/// The number of bytes read from a stream before others get a turn.
const TURN: usize = 1024 * 1024;
/// The number of bytes of output from which the screen of a held program is
/// drawn.
const REDRAWN: u64 = 64 * 1024;

/// Reads the streams into the memory and the log that the dead runtime used.
pub(super) struct StreamReader {
    retained: Retained,
    pub(super) output: Output,
    screen: Option<Screen>,
    /// Whether each stream is open: stdout or the terminal, and stderr.
    pub(super) open: [bool; 2],
}

impl StreamReader {
    /// Continues where the dead runtime stopped.
    pub(super) fn new(order: &KeepOrder, descriptors: &KeptDescriptors) -> std::io::Result<Self> {
        let [memory, read, write] = &descriptors.memory;
        let retained = Retained::go_on(memory.try_clone()?, read.try_clone()?, write.try_clone()?)?;
        let options = OutputOptions {
            log: order.log.clone(),
            log_limit: order.log_limit,
            hold_object: order.hold_object,
            ..OutputOptions::default()
        };
        let output = Output::resume(options, &retained.checkpoint());
        output.keep_log();
        retained.replay(&output);
        let screen = order.streams.terminal.then(|| {
            let size = rustix::termios::tcgetwinsize(&descriptors.stdout);
            let (rows, cols) = size.map_or((24, 80), |size| (size.ws_row, size.ws_col));
            let mut screen = Screen::new(rows, cols);
            // The dead runtime has answered the queries in this output.
            let end = output.position();
            screen.feed(&output.raw(end.saturating_sub(REDRAWN)..end));
            screen
        });
        Ok(Self {
            retained,
            output,
            screen,
            open: [true, descriptors.stderr.is_some()],
        })
    }

    /// Reads the available output of a stream.
    pub(super) fn read(&mut self, stream: Stream, fd: &OwnedFd) {
        let Self {
            retained,
            output,
            screen,
            open,
        } = self;
        let mut left = TURN;
        while open[stream as usize] && left > 0 {
            if !retained.has_room() {
                retained.publish(&output.checkpoint());
            }
            let taken = retained.take(fd, stream, |stream, bytes| {
                output.push(stream, bytes);
                let answer = screen.as_mut().map(|screen| screen.feed(bytes));
                if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
                    // If the program does not read, the answer is dropped.
                    let _ = rustix::io::write(fd, &answer);
                }
            });
            match taken {
                TakeOutcome::Some(length) => left = left.saturating_sub(length),
                TakeOutcome::Empty => return,
                TakeOutcome::End => open[stream as usize] = false,
            }
        }
    }
}
