//! The programs of `examples/embed`, run as their users would run them.
//!
//! Each must succeed, and must fail when what it shows was not called.
#![expect(
    clippy::disallowed_methods,
    reason = "the program under test is nobody's tool"
)]

mod guide;
mod programs;
