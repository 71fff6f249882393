//! Properties of the schemas of all dialects, over generated tools and calls.
//!
//! `shapes` makes the tools, `calls` makes calls of them, and the other
//! modules hold the properties.

mod admission;
mod calls;
mod reading;
mod shapes;
mod wellformed;

/// Enough cases to meet every kind of parameter in every dialect. Failures
/// are shown with their seed and not written beside the tests.
fn config() -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        cases: 100,
        failure_persistence: None,
        ..Default::default()
    }
}
