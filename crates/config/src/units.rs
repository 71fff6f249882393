//! Sizes and durations, as people write them.

use std::time::Duration;

use crate::expected::ExpectedValue;
use crate::node::{Node, Value};

/// Nothing waits longer than this; it also keeps deadlines computable.
const YEAR_SECS: f64 = 365.0 * 24.0 * 3600.0;

/// Seconds, whole or not, from none at all to a year.
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

/// Bytes: a whole number, or a string such as `"32KiB"`; not none.
pub(crate) fn size(node: &Node) -> Result<u64, ExpectedValue> {
    let bytes = match &node.value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::String(text) => parse_size(text),
        _ => None,
    };
    bytes.filter(|bytes| *bytes > 0).ok_or(ExpectedValue::Size)
}

/// Rows or columns of a terminal.
pub(crate) fn cells(node: &Node) -> Result<u16, ExpectedValue> {
    match node.value {
        Value::Integer(number) if (2..=1000).contains(&number) => {
            Ok(u16::try_from(number).expect("1000 fits"))
        }
        _ => Err(ExpectedValue::Cells),
    }
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
