//! Asking programs to describe their tools.
//!
//! Start at [`Describer`]. A [`SchemaQuestion`] is a command line whose context
//! has the action `schema`; equal questions have one answer, so that a program
//! is asked once however many tools it has. Which answers are remembered, and
//! what a configuration makes of them, is not known here.

mod answer;
mod error;
mod mistakes;
mod question;

pub use answer::SchemaAnswer;
pub use error::DescribeError;
pub use question::{Describer, SchemaQuestion};
