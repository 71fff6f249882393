//! What tests of the `windlass` program are made of: the program, a project to
//! run it in, and the servers around it.
//!
//! [`support::Project`] is a folder with the program in it, [`programs`] finds
//! the program and refuses a stale one, [`processes`] looks at what it left
//! behind. [`ssh_server`] and [`pool_support`] start what connects machines.
//! The tests are in `tests/it`; those that also need our libraries are in
//! `crates/cli/tests/it` and use this crate too. No library of ours is used
//! here.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the program itself is nobody's tool"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written in place, and read better without a borrow"
)]
#![expect(
    clippy::new_without_default,
    clippy::should_implement_trait,
    reason = "tests are the only users"
)]

pub mod kept_support;
pub mod lease_orders;
pub mod mcp_support;
pub mod pool_support;
pub mod processes;
pub mod programs;
pub mod ssh_server;
pub mod support;
