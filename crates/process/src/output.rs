//! One child's output, bounded: bytes in, text out.
//!
//! Start at [`Output`]: whoever reads the child's pipes pushes into it, others
//! read text since a [`Cursor`], or wait for a line. It knows nothing of
//! processes or tools, and starts no task or thread.
//!
//! | room | what is in it |
//! |---|---|
//! | `shared` | [`Output`]: pushing, finishing, holding an object |
//! | `read`, `excerpt` | text since a cursor, cut to a limit |
//! | `find`, `matcher` | waiting for a line |
//! | `render`, `line` | bytes to the lines a terminal would show |
//! | `store`, `log` | the newest bytes in memory, all of them in a file |
//! | `object`, `last_line`, `whole` | what is noticed in the bytes as they come |

mod excerpt;
mod find;
mod last_line;
mod line;
mod log;
mod matcher;
mod object;
mod read;
mod render;
mod shared;
mod store;
mod whole;

pub use excerpt::{Cursor, Excerpt};
pub use shared::{Output, OutputOptions, Stream};
