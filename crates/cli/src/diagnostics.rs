//! Diagnostics on stderr, for people who look for a fault.

use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::print;
use crate::stdout::errln;

/// Enables diagnostics on stderr if `WINDLASS_LOG` is set. A bare level applies
/// to this program; dependencies must be named.
pub(crate) fn start() {
    let asked = std::env::var("WINDLASS_LOG").unwrap_or_default();
    if asked.trim().is_empty() {
        return;
    }
    let filter = match filter(&asked) {
        Ok(filter) => filter,
        Err(error) => {
            errln!("windlass: WINDLASS_LOG is invalid ({error}); use a level such as `debug`");
            return;
        }
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(print::stderr_colour())
        .with_writer(std::io::stderr);
    tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .init();
    tracing::debug!(version = env!("CARGO_PKG_VERSION"), "windlass starts");
}

/// The filter of a value of `WINDLASS_LOG`: a level, or `TARGET=LEVEL` pairs
/// with commas between.
fn filter(asked: &str) -> Result<Targets, ParseError> {
    let asked = asked.trim();
    if asked.parse::<tracing::Level>().is_ok() {
        return format!("windlass={asked}").parse();
    }
    let pairs: Vec<&str> = asked
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty())
        .collect();
    pairs.join(",").parse()
}

#[cfg(test)]
#[path = "diagnostics_tests.rs"]
mod tests;
