//! An output that is read while it grows, and one that is too large to keep.

use std::time::Duration;

use windlass_digest::{Digester, SectionContent};

use super::support::SETTINGS;

fn push(digester: &mut Digester, steps: std::ops::RangeInclusive<u32>) {
    for step in steps {
        digester.push(
            &format!("[{step}/900] compiled unit {step} of the library"),
            Duration::ZERO,
        );
    }
}

#[test]
fn line_numbers_continue_and_known_kinds_are_not_introduced_again() {
    let mut digester = Digester::default();
    push(&mut digester, 1..=300);
    let first = digester.digest(SETTINGS);
    assert_eq!(first.left_out().collect::<Vec<_>>(), [4..=295]);
    push(&mut digester, 301..=600);
    let second = digester.digest(SETTINGS);
    assert_eq!(second.left_out().collect::<Vec<_>>(), [304..=595]);
    assert_eq!(digester.next_line(), 601);
}

#[test]
fn a_kind_that_was_learnt_needs_no_evidence_again() {
    let names = [
        "amber", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel",
    ];
    let push = |digester: &mut Digester, at: u64, count: u64| {
        for step in 0..count {
            let name = names[usize::try_from(step % 8).unwrap()];
            let line = format!("   Compiling {name} v{at}.{step}.0 (a library of some length)");
            digester.push(&line, Duration::from_millis(at + step * 50));
        }
    };
    let mut digester = Digester::default();
    push(&mut digester, 0, 100);
    assert!(!digester.digest(SETTINGS).is_whole());
    // The same lines in a burst would stay if nothing were known.
    for step in 0..100 {
        let name = names[step % 8];
        let line = format!("   Compiling {name} v9.{step}.0 (a library of some length)");
        digester.push(&line, Duration::from_secs(9));
    }
    assert!(!digester.digest(SETTINGS).is_whole());
}

#[test]
fn of_a_flood_both_ends_and_the_trouble_between_are_shown() {
    const LINES: u64 = 200_000;
    let mut digester = Digester::default();
    for line in 0..LINES {
        let text = match line {
            100_000 => "worker 17 crashed: out of memory".to_owned(),
            _ => format!("2026-11-16T10:00:00Z INFO record {line} was written to the store"),
        };
        digester.push(&text, Duration::ZERO);
    }
    let outcome = digester.digest(SETTINGS);
    let shown = outcome.text();
    assert!(
        shown.contains("worker 17 crashed: out of memory\n"),
        "{shown}"
    );
    assert!(shown.starts_with("2026-11-16T10:00:00Z INFO record 0 "));
    assert!(shown.ends_with("record 199999 was written to the store\n"));
    let mut next = 1;
    for section in &outcome.sections {
        assert_eq!(*section.lines.start(), next);
        next = section.lines.end() + 1;
    }
    assert_eq!(next, LINES + 1);
}

#[test]
fn a_flood_of_short_lines_is_held_in_bounded_memory() {
    let mut digester = Digester::default();
    for _ in 0..3_000_000 {
        digester.push("y", Duration::ZERO);
    }
    let outcome = digester.digest(SETTINGS);
    assert!(outcome.text().len() < 200, "{}", outcome.text());
}

/// The memory of this process that is in use, in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
#[cfg(target_os = "linux")]
fn a_stream_of_a_gigabyte_is_held_in_bounded_memory() {
    const SIZE: u64 = 1 << 30;
    // Far below the stream, and above everything that other tests of this process hold.
    const MOST: u64 = 128 << 20;
    let lines: Vec<String> = (0..4096)
        .map(|line| {
            format!(
                "2026-11-16T10:00:00Z INFO record {line} was written to the store {:0>40}",
                line * 7919
            )
        })
        .collect();
    let before = resident();
    let mut digester = Digester::default();
    let (mut pushed, mut peak) = (0, 0);
    while pushed < SIZE {
        for line in &lines {
            digester.push(line, Duration::ZERO);
            pushed += line.len() as u64 + 1;
        }
        peak = peak.max(resident().saturating_sub(before));
    }
    let outcome = digester.digest(SETTINGS);
    peak = peak.max(resident().saturating_sub(before));
    assert!(peak < MOST, "{} MiB", peak >> 20);
    assert!(outcome.text().len() < SETTINGS.limit);
}

#[test]
fn lines_that_nobody_kept_are_left_out() {
    let mut digester = Digester::default();
    digester.push("first", Duration::ZERO);
    digester.skip(10);
    digester.push("last", Duration::ZERO);
    let outcome = digester.digest(SETTINGS);
    assert_eq!(outcome.left_out().collect::<Vec<_>>(), [2..=11]);
    assert!(matches!(
        &outcome.sections[1].content,
        SectionContent::LeftOut(_)
    ));
}
