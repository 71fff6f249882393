//! From a tool's shape to the JSON Schema that a model is given.
//!
//! Start at [`render()`]: it writes the `oneOf` form, which has a branch per
//! action and is the canonical one, or the form that a provider accepts, one
//! [`Dialect`] each. [`RenderedShape`] renders each of them once. [`restore()`]
//! undoes in a call's arguments what a dialect made of the parameters, and
//! [`check()`] refuses a tool before any schema is written.
//! [`derive_arguments()`] goes the other way: it makes parameters of a Rust
//! struct. Nothing here validates a call or does I/O.

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
