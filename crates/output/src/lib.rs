//! The output of one tool, bounded: bytes in, text and screens out.
//!
//! Start at [`Output`]: the producer pushes bytes into it, readers take text since a [`Cursor`] or wait for a line.
//! Bytes are addressed by their offset from the start of the output. [`Screen`] emulates a terminal over such bytes.
//! This crate opens no terminal, starts no program, task or thread, and does not know processes or tools.
//!
//! | module | content |
//! |---|---|
//! | `output` | [`Output`]: pushing, finishing, holding an object |
//! | `read`, `excerpt` | text since a cursor, cut to a limit |
//! | `lines`, `arrivals` | lines since a cursor, with the time at which they came |
//! | `middle` | notable lines in the middle of a flood |
//! | `line_range` | lines by their numbers |
//! | `find`, `matcher` | waiting for a line |
//! | `render`, `line` | bytes to the lines a terminal would show |
//! | `store`, `log`, `logged` | the newest bytes in memory, all of them in a file |
//! | `object`, `last_line`, `whole` | recognised in the bytes as they are pushed |
//! | `screen` | the emulated terminal and its readers |

mod arrivals;
mod excerpt;
mod find;
mod forgetting;
mod last_line;
mod line;
mod line_range;
mod lines;
mod log;
mod logged;
mod matcher;
mod middle;
mod object;
mod output;
mod read;
mod render;
mod screen;
mod store;
mod whole;

pub use excerpt::{Cursor, Excerpt};
pub use lines::{NotableFinder, RenderedLine};
pub use logged::LoggedOutput;
pub use output::{Checkpoint, Output, OutputOptions, Stream};
pub use screen::{
    Colour, CursorLine, CursorLook, CursorShape, MouseTracking, Screen, ScreenModes, ScreenReader,
    ScreenText, ScreenView, Style, StyledRow, StyledRun, UnderlineKind,
};
