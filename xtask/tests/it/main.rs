//! Runs the commands on simulated machines.

#![expect(
    clippy::disallowed_methods,
    reason = "the chores are programs, and run to their end"
)]

mod counts;
mod guard;
