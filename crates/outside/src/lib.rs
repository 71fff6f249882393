//! Stand-ins for the surroundings of Windlass in tests.
//!
//! [`needs!`] skips a test whose program is missing. [`model`] is a model
//! server that follows a script, and [`load`] a load generator. Nothing here
//! uses a crate of ours, so that a test that only drives the program is not
//! compiled again when a library changes.

#![warn(missing_docs)]

pub mod load;
pub mod model;
mod programs;

#[doc(hidden)]
pub use programs::{has_program, skip};
