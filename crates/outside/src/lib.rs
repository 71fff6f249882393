//! Stand-ins for the surroundings of Windlass in tests.
//!
//! [`needs!`] and [`skip!`] leave a test that cannot run here. [`model`] is a model
//! server that follows a script, and [`load`] a load generator. Nothing here
//! uses a crate of ours, so that a test that only drives the program is not
//! compiled again when a library changes.

#![warn(missing_docs)]

pub mod load;
pub mod model;

pub use windlass_skip::{needs, skip};
