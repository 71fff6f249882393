//! A digest of text output: fewer lines to read, each verbatim and in order.
//!
//! Start at [`Digester`]: rendered lines with their arrival times go in, shown
//! lines and the ranges of left-out lines come out. A line is left out only
//! with evidence that its kind reports progress, and only beside lines of the
//! same kind that are shown. No rule names a command. The crate does no I/O
//! and knows nothing of tools. `docs/design/digest.md` has the rules and what
//! they cannot see.

mod budget;
mod columns;
mod counter;
mod data;
mod diagnostic;
mod digested;
mod digester;
mod evidence;
mod gaps;
mod json_line;
mod keep;
mod kinds;
mod line;
mod marker;
mod names;
mod passage;
mod repeats;
mod scan;
mod stamp;
mod success;
mod table;
mod tokens;
mod trouble;

pub use digested::{Digested, Section, SectionContent};
pub use digester::{DigestSettings, Digester};
pub use scan::find_trouble;
