//! Formats and parses durations and ages.

use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use windlass_protocol::Millis;

/// Parses a number and a unit, such as `30d`.
pub(crate) fn read_age(text: &str) -> anyhow::Result<Duration> {
    let units = [
        ("s", 1),
        ("m", 60),
        ("h", 3600),
        ("d", 86_400),
        ("w", 604_800),
    ];
    let age = units.iter().find_map(|(unit, seconds)| {
        let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
        count.checked_mul(*seconds).map(Duration::from_secs)
    });
    age.with_context(|| {
        format!("`{text}` is not a time; give a number and s, m, h, d or w, such as 30d")
    })
}

/// The age of a time, abbreviated.
pub(crate) fn ago(time: Millis) -> String {
    let seconds = Millis::at(SystemTime::now()).0.saturating_sub(time.0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A duration, abbreviated.
pub(crate) fn length(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time.is_zero() => "0s".to_owned(),
        0 => format!("{}ms", time.as_millis().max(1)),
        1..10 => format!("{:.1}s", time.as_secs_f64()),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
#[path = "ages_tests.rs"]
mod tests;
