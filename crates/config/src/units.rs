//! Sizes and durations, as people write them.

use std::ops::RangeInclusive;
use std::time::Duration;

use windlass_protocol::Lifecycle;

use crate::expected::ExpectedValue;
use crate::node::{Node, Value};

/// The longest time that can be configured; it also keeps deadlines computable.
const YEAR_SECS: f64 = 365.0 * 24.0 * 3600.0;

/// Reads seconds, with or without a fraction, from 0 to a year.
pub(crate) fn seconds(node: &Node) -> Result<Duration, ExpectedValue> {
    let seconds = match node.value {
        #[expect(
            clippy::cast_precision_loss,
            reason = "what is too large to be exact is refused below"
        )]
        Value::Integer(number) => number as f64,
        Value::Float(number) => number,
        _ => return Err(ExpectedValue::Seconds),
    };
    if (0.0..=YEAR_SECS).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(ExpectedValue::Seconds)
    }
}

/// Seconds, but not none.
pub(crate) fn some_seconds(node: &Node) -> Result<Duration, ExpectedValue> {
    match seconds(node) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(ExpectedValue::SomeSeconds),
    }
}

/// The time for which a handle outlives its runtime.
pub(crate) fn lease(node: &Node) -> Result<Duration, ExpectedValue> {
    match seconds(node) {
        Ok(duration) if duration <= Lifecycle::LONGEST_LEASE => Ok(duration),
        _ => Err(ExpectedValue::Lease),
    }
}

/// The time between heartbeats of a link.
pub(crate) fn heartbeat(node: &Node) -> Result<Duration, ExpectedValue> {
    let limits = Duration::from_millis(100)..=Duration::from_hours(1);
    match seconds(node) {
        Ok(duration) if limits.contains(&duration) => Ok(duration),
        _ => Err(ExpectedValue::Heartbeat),
    }
}

/// Reads bytes: a whole number, or a string such as `"32KiB"`; not 0.
pub(crate) fn size(node: &Node) -> Result<u64, ExpectedValue> {
    let bytes = match &node.value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::String(text) => parse_size(text),
        _ => None,
    };
    bytes.filter(|bytes| *bytes > 0).ok_or(ExpectedValue::Size)
}

/// Reads bytes like [`size`], or 0 for none.
pub(crate) fn size_or_none(node: &Node) -> Result<u64, ExpectedValue> {
    match &node.value {
        Value::Integer(0) => Ok(0),
        _ => size(node).map_err(|_| ExpectedValue::SizeOrNone),
    }
}

/// Rows of a terminal.
pub(crate) fn rows(node: &Node) -> Result<u16, ExpectedValue> {
    cells(node, 1..=512).ok_or(ExpectedValue::Rows)
}

/// Columns of a terminal.
pub(crate) fn columns(node: &Node) -> Result<u16, ExpectedValue> {
    cells(node, 2..=1024).ok_or(ExpectedValue::Columns)
}

fn cells(node: &Node, limits: RangeInclusive<u16>) -> Option<u16> {
    let Value::Integer(number) = node.value else {
        return None;
    };
    let number = u16::try_from(number).ok()?;
    limits.contains(&number).then_some(number)
}

fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let factor: u64 = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
