//! Properties that hold for every text.

use std::time::Duration;

use proptest::prelude::*;
use windlass_digest::{DigestSettings, Digester, SectionContent};

use super::support::{SETTINGS, restore};

/// Lines as tools print them, in passages of one kind.
fn texts() -> impl Strategy<Value = String> {
    let passage = (0..12_u8, 1..80_usize, any::<u32>());
    prop::collection::vec(passage, 1..12).prop_map(|passages| {
        let mut text = String::new();
        for (kind, count, seed) in passages {
            for step in 0..count {
                text.push_str(&line(kind, step, count, seed));
                text.push('\n');
            }
        }
        text
    })
}

fn line(kind: u8, step: usize, count: usize, seed: u32) -> String {
    let value = (seed as usize).wrapping_mul(step + 7) % 10007;
    match kind {
        0 => format!("[{}/{count}] compiled unit {value}", step + 1),
        1 => format!(
            "2026-11-16 10:{:02}:{:02} INFO took {value} ms",
            step / 60,
            step % 60
        ),
        2 => format!(
            "test case_{value} ... {}",
            if value.is_multiple_of(31) {
                "FAILED"
            } else {
                "ok"
            }
        ),
        3 => format!("src/a.c:{value}:1: warning: unused variable 'v{value}'"),
        4 => format!("error: cannot open file {value}"),
        5 => format!("  indented below {value}"),
        6 => String::new(),
        7 => "[… 95 lines like these: 4–98 …]".to_owned(),
        8 => format!("{value}, {step}, x"),
        9 => "the same line again".to_owned(),
        10 => format!("ünïcode „{value}“ ✓ ━━━━━━━━━━━━ {step}%"),
        _ => format!("plain words that differ {seed:x} {value}"),
    }
}

fn digest_from(text: &str, first: u64, limit: usize) -> windlass_digest::Digested {
    let mut digester = Digester::starting_at(first);
    for (place, line) in text.lines().enumerate() {
        digester.push(line, Duration::from_millis(place as u64 * 10));
    }
    digester.digest(DigestSettings { limit, ..SETTINGS })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn shown_lines_and_left_out_ranges_are_the_whole(text in texts(), limit in 1000..40_000_usize) {
        let digested = digest_from(&text, 1, limit);
        let mut next = 1;
        for section in &digested.sections {
            prop_assert_eq!(*section.lines.start(), next);
            next = section.lines.end() + 1;
        }
        prop_assert_eq!(next, text.lines().count() as u64 + 1);
        prop_assert_eq!(restore(&digested, &text), text);
    }

    #[test]
    fn every_shown_line_is_verbatim(text in texts()) {
        let lines: Vec<&str> = text.lines().collect();
        for section in digest_from(&text, 1, SETTINGS.limit).sections {
            if let SectionContent::Shown(shown) = section.content {
                for (number, line) in section.lines.zip(shown.lines()) {
                    prop_assert_eq!(line, lines[usize::try_from(number - 1).unwrap()]);
                }
            }
        }
    }

    #[test]
    fn a_digest_is_never_longer_than_its_text_nor_than_the_limit(text in texts(), limit in 1000..40_000_usize) {
        let shown = digest_from(&text, 1, limit).text();
        prop_assert!(shown.len() <= text.len());
        prop_assert!(shown.len() <= limit);
    }

    #[test]
    fn a_digest_is_digested_no_further(text in texts(), first in 1..5000_u64) {
        let once = digest_from(&text, first, SETTINGS.limit).text();
        let twice = digest_from(&once, first, SETTINGS.limit).text();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn any_text_is_digested_without_a_fault(text in "(?s).{0,3000}", limit in 0..3000_usize) {
        let mut digester = Digester::default();
        for line in text.split('\n') {
            digester.push(line, Duration::ZERO);
        }
        let digested = digester.digest(DigestSettings { from: 0, limit });
        prop_assert!(digested.sections.iter().all(|section| section.lines.start() <= section.lines.end()));
    }
}
