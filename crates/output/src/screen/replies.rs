//! What the emulator has to say to the program: answers to its queries.
//!
//! Start at [`Replies::take`]. Every query that the emulator understands is answered, so that no program waits in vain;
//! the clipboard is always empty.

use std::sync::Arc;

use alacritty_terminal::event::{Event, EventListener, WindowSize};
use alacritty_terminal::term::color::Colors;
use parking_lot::Mutex;

use super::palette;

/// How much is kept of answers that nobody has taken yet; what a program asks beyond that is not answered.
const LIMIT: usize = 16 * 1024;

/// How large a character is told to be, in pixels: height and width.
const CELL: (u16, u16) = (16, 8);

/// The queries since they were answered last. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Replies(Arc<Mutex<Vec<Event>>>);

impl Replies {
    /// The answers, in the order in which they were asked for.
    pub(super) fn take(&self, colors: &Colors, rows: usize, cols: usize) -> Vec<u8> {
        let mut events = self.0.lock();
        let mut bytes = Vec::new();
        for event in events.drain(..) {
            let answer = match event {
                Event::PtyWrite(text) => text,
                Event::ColorRequest(index, format) => {
                    format(colors[index].unwrap_or_else(|| palette::colour(index)))
                }
                Event::ClipboardLoad(_, format) => format(""),
                Event::TextAreaSizeRequest(format) => format(window_size(rows, cols)),
                _ => continue,
            };
            if bytes.len() + answer.len() <= LIMIT {
                bytes.extend_from_slice(answer.as_bytes());
            }
        }
        if events.capacity() > 64 {
            events.shrink_to_fit();
        }
        bytes
    }
}

impl EventListener for Replies {
    fn send_event(&self, event: Event) {
        let is_query = matches!(
            event,
            Event::PtyWrite(_)
                | Event::ColorRequest(..)
                | Event::ClipboardLoad(..)
                | Event::TextAreaSizeRequest(_)
        );
        let mut events = self.0.lock();
        // The shortest answer has four bytes, so a longer list could not be told anyway.
        if is_query && events.len() < LIMIT / 4 {
            events.push(event);
        }
    }
}

fn window_size(rows: usize, cols: usize) -> WindowSize {
    let (cell_height, cell_width) = CELL;
    WindowSize {
        num_lines: u16::try_from(rows).unwrap_or(u16::MAX),
        num_cols: u16::try_from(cols).unwrap_or(u16::MAX),
        cell_width,
        cell_height,
    }
}
