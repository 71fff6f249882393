//! What a terminal shows, and what somebody reads of it.
//!
//! Start at [`Screen`]: bytes of a program go in, rows come out. [`Screen::read`] tells a [`ScreenReader`] what is new
//! to it. Nothing here opens a terminal, starts a program or waits: bytes in, text and replies out.
//!
//! The emulation itself is `alacritty_terminal`, which only `emulator` and the files it names know.

mod cells;
mod cut;
mod echo;
mod emulator;
mod frame;
mod ground;
mod guard;
mod handler;
mod lines;
mod moves;
mod palette;
mod read;
#[cfg(test)]
mod recording;
mod replies;
mod rows;
mod skim;
mod span;
mod store;
mod style;
mod terminal;

pub use read::{ScreenReader, ScreenText, ScreenView};
pub use style::{Colour, Style, StyledRow, StyledRun};
pub use terminal::{Screen, ScreenModes};
