//! What a terminal shows, and what somebody reads of it.
//!
//! Start at [`Screen`]: bytes of a program go in, rows come out. [`Screen::read`] tells a [`ScreenReader`] what is new
//! to it. Nothing here opens a terminal, starts a program or waits: bytes in, text and replies out.
//!
//! The grid of cells and the parser are those of `alacritty_terminal`. The meaning of every sequence is ours: `control` reads
//! them, and the files that `emulator` names carry them out. `docs/reference/terminal.md` tells which are understood.

mod cells;
mod colours;
mod control;
mod cursor;
mod cut;
mod damage;
mod echo;
mod emulator;
mod erase;
mod frame;
mod ground;
mod guard;
mod lines;
mod links;
mod looks;
mod mode;
mod moves;
mod palette;
mod read;
#[cfg(test)]
mod recording;
mod rectangle;
mod rendition;
mod replies;
mod report;
mod request;
mod reset;
mod rows;
mod scroll;
mod skim;
mod span;
mod store;
mod style;
mod terminal;
mod write;

pub use read::{ScreenReader, ScreenText, ScreenView};
pub use style::{Colour, CursorLook, CursorShape, Style, StyledRow, StyledRun, UnderlineKind};
pub use terminal::{CursorLine, MouseTracking, Screen, ScreenModes};
