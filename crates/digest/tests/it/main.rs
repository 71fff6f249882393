//! Tests of the digest as its callers see it.

mod parts;
mod probes;
mod properties;
mod rules;
mod support;
