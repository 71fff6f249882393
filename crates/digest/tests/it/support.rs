//! Digests in one call.

use std::fmt::Write as _;
use std::time::Duration;

use windlass_digest::{DigestSettings, Digested, Digester, SectionContent};

pub(crate) const SETTINGS: DigestSettings = DigestSettings {
    from: 2 << 10,
    limit: 32 << 10,
};

/// Digests lines that came in one burst.
pub(crate) fn digest(text: &str) -> Digested {
    digest_slowly(text, Duration::ZERO)
}

/// Digests lines of which one came every `step`.
pub(crate) fn digest_slowly(text: &str, step: Duration) -> Digested {
    let mut digester = Digester::default();
    let mut at = Duration::ZERO;
    for line in text.lines() {
        at += step;
        digester.push(line, at);
    }
    digester.digest(SETTINGS)
}

/// Puts the left-out lines back from the original.
pub(crate) fn restore(digested: &Digested, original: &str) -> String {
    let lines: Vec<&str> = original.lines().collect();
    let mut text = String::new();
    for section in &digested.sections {
        if let SectionContent::Shown(shown) = &section.content {
            text.push_str(shown);
            continue;
        }
        for number in section.lines.clone() {
            let index = usize::try_from(number - 1).expect("a small number");
            writeln!(text, "{}", lines[index]).expect("a string takes all");
        }
    }
    text
}

/// A text of many lines.
pub(crate) fn lines(count: usize, line: impl FnMut(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Scatter(pub(crate) u64);

impl Scatter {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
