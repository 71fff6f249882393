//! An emulated terminal screen, and readers of it.
//!
//! Start at [`Screen`]: it takes the bytes of a program and maintains rows.
//! [`Screen::read`] returns the changes since a [`ScreenReader`] last read.
//! Nothing here opens a terminal, starts a program or blocks.
//!
//! The grid of cells and the parser come from `alacritty_terminal`. The control
//! sequences are interpreted here: `control` dispatches them to the modules
//! that `emulator` lists. `docs/reference/terminal.md` lists the supported
//! sequences.

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
