//! A digest of text output: fewer lines to read, each verbatim and in order.
//!
//! Start at [`Digester`]: its input are rendered lines with their arrival
//! times, its output are shown lines and ranges of omitted lines. A line is
//! omitted only with evidence that its kind reports progress, and only beside
//! shown lines of the same kind. No rule names a command. The crate does no I/O
//! and does not depend on tools. `docs/design/digest.md` has the rules and
//! their blind spots.

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
