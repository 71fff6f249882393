//! Replies to a program's queries, until the caller writes them.
//!
//! Start at [`Replies::push`]. Replies keep the order of the queries.

use std::fmt;
use std::io::Write;

/// The maximum size of pending replies; further queries are not answered.
const LIMIT: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct Replies(Vec<u8>);

impl Replies {
    /// Adds a reply. A reply that does not fit is omitted.
    pub(super) fn push(&mut self, reply: fmt::Arguments<'_>) {
        let before = self.0.len();
        write!(self.0, "{reply}").expect("memory takes everything");
        if self.0.len() > LIMIT {
            self.0.truncate(before);
        }
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}
