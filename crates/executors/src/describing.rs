//! Asks programs to describe their tools.
//!
//! Start at [`Describer`]. A [`SchemaQuestion`] is a command line whose context
//! has the action `schema`. Equal questions have equal answers, so a program is
//! asked once for all of its tools. The caller caches answers and applies the
//! configuration.

mod answer;
mod error;
mod mistakes;
mod question;

pub use answer::SchemaAnswer;
pub use error::SelfDescriptionError;
pub use question::{Describer, SchemaQuestion};
