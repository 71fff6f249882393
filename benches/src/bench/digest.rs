//! The time of a digest: of a log, of unstructured prose, of numbered lines, and of four times as much.

use std::time::{Duration, Instant};

use windlass_digest::{DigestSettings, Digester};

use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

const MEBIBYTE: usize = 1 << 20;
/// In microseconds.
const MOST_PER_MEBIBYTE: f64 = 20_000.0;
const SETTINGS: DigestSettings = DigestSettings {
    from: 2 << 10,
    limit: 32 << 10,
};

pub(super) fn measure(pace: Pace) -> Vec<Line> {
    let rounds = pace.pick(30, 5);
    let mut lines = Vec::new();
    for (name, text) in [
        ("a log", log_lines as fn(usize) -> Vec<String>),
        ("prose", prose),
        ("numbered lines", numbered_lines),
    ] {
        let (one, four) = (text(MEBIBYTE), text(4 * MEBIBYTE));
        let (mut small, mut fourfold, mut large) =
            (Samples::default(), Samples::default(), Samples::default());
        for _ in 0..rounds {
            let taken = digest(&one);
            small.push_time(taken);
            fourfold.push_time(taken * 4);
            large.push_time(digest(&four));
        }
        lines.push(Line {
            what: format!("digest of 1 MiB of {name}"),
            measured: Quantity::of(&small, Unit::Millis),
            floor: None,
            goal: Goal::AtMost(MOST_PER_MEBIBYTE),
        });
        lines.push(Line {
            what: format!("… of 4 MiB of {name}, against four times that"),
            measured: Quantity::of(&large, Unit::Millis),
            floor: Some(Quantity::of(&fourfold, Unit::Millis)),
            goal: Goal::Times(1.3),
        });
    }
    lines
}

fn digest(lines: &[String]) -> Duration {
    let start = Instant::now();
    let mut digester = Digester::default();
    for line in lines {
        digester.push(line, Duration::ZERO);
    }
    assert!(digester.digest(SETTINGS).text().len() <= SETTINGS.limit);
    start.elapsed()
}

fn log_lines(size: usize) -> Vec<String> {
    let line = |number: usize| {
        let (minute, second) = (number / 60 % 60, number % 60);
        format!(
            "2026-11-16T10:{minute:02}:{second:02}Z INFO record {number} was written to the store"
        )
    };
    (0..size / line(10_000).len()).map(line).collect()
}

/// Lines without a time stamp that differ in a number.
fn numbered_lines(size: usize) -> Vec<String> {
    let line = |number: usize| format!("{number:08} a line that a build writes, of about 80 bytes");
    (0..size / line(0).len()).map(line).collect()
}

/// Lines of words in a pseudorandom order.
fn prose(size: usize) -> Vec<String> {
    const WORDS: [&str; 16] = [
        "handle", "of", "the", "output", "which", "reads", "and", "then", "a", "tool", "with",
        "its", "own", "lines", "before", "cursor",
    ];
    let mut state = 1_usize;
    let mut line = || {
        let mut line = String::new();
        while line.len() < 72 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            line.push_str(WORDS[(state >> 33) & 15]);
            line.push(' ');
        }
        line
    };
    let mut lines = Vec::new();
    let mut written = 0;
    while written < size {
        let next = line();
        written += next.len() + 1;
        lines.push(next);
    }
    lines
}
