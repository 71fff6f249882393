//! The chores as they are run, on made-up machines.

#![expect(
    clippy::disallowed_methods,
    reason = "the chores are programs, and run to their end"
)]

mod counts;
