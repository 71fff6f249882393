//! Renders a tool's shape as the JSON Schema for a model.
//!
//! Start at [`render()`]: it writes the canonical `oneOf` form with a branch
//! per action, or the form that a provider accepts, one [`Dialect`] each.
//! [`RenderedShape`] caches each of them. [`restore()`] converts a call's
//! arguments back from a dialect, and [`check()`] rejects a tool before any
//! schema is written. [`derive_arguments()`] works in the other direction: it
//! derives parameters from a Rust struct. This crate does no validation of
//! calls and no I/O.

mod branch;
mod check;
mod derive;
mod dialect;
mod flat;
mod form;
mod gemini;
mod llama;
mod ollama;
mod reference;
mod render;
mod rendered;
mod restore;
mod strict;
mod subschema;

pub use check::{SchemaError, check, check_name};
pub use derive::{DerivedArguments, derive_arguments};
pub use dialect::{Dialect, UnknownDialect};
pub use render::render;
pub use rendered::RenderedShape;
pub use restore::restore;
