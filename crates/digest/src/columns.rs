//! The values of lines of one kind, column by column.

use super::kinds::HashedMap;
use super::line::TextLine;
use super::tokens::{after_number, hash};

/// Rare values are told from common ones among at least this many lines.
const LEAST_FOR_RARE: usize = 10;
/// Outliers are told among at least this many.
const LEAST_FOR_OUTLIER: usize = 20;
/// The most lines that are kept for one column.
const MOST_RARE: usize = 8;
const MOST_OUTLIERS: usize = 5;

/// A table of the values of some lines; all have the same number of them.
pub(crate) struct Columns<'a> {
    width: usize,
    values: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    /// The columns of some lines. None if their number of values differs.
    pub(crate) fn of(lines: &[TextLine<'a>], members: &[usize]) -> Option<Self> {
        let mut values = Vec::new();
        lines[*members.first()?].collect_values(&mut values);
        let width = values.len();
        values.reserve(width * members.len());
        for member in &members[1..] {
            let before = values.len();
            lines[*member].collect_values(&mut values);
            if values.len() != before + width {
                return None;
            }
        }
        Some(Self { width, values })
    }

    fn column(&self, place: usize) -> impl Iterator<Item = &'a str> {
        self.values[place..].iter().step_by(self.width).copied()
    }

    fn varies(&self, place: usize) -> bool {
        let first = self.values[place];
        self.column(place).any(|value| value != first)
    }

    /// Whether the lines are about their numbers: some column before the last
    /// `aside` ones has numbers that do not just count up.
    pub(crate) fn has_payload(&self, aside: usize) -> bool {
        (0..self.width.saturating_sub(aside)).any(|place| {
            self.varies(place)
                && numbers(self.column(place), IsWhole::Yes)
                    .is_some_and(|numbers| !is_rising(&numbers))
        })
    }

    /// The rows that differ from the others in more than name and number.
    pub(crate) fn unusual(&self) -> Vec<usize> {
        let rows = self.values.len() / self.width.max(1);
        let mut unusual = Vec::new();
        if rows < LEAST_FOR_RARE {
            return unusual;
        }
        for place in (0..self.width).filter(|place| self.varies(*place)) {
            self.rare(place, rows, &mut unusual);
            if rows >= LEAST_FOR_OUTLIER {
                self.outliers(place, rows, &mut unusual);
            }
        }
        unusual
    }

    /// Rows with a rare value in a column of few values, one of them common.
    fn rare(&self, place: usize, rows: usize, unusual: &mut Vec<usize>) {
        let most = 2.max(rows / 10);
        let mut counts: HashedMap<usize> = HashedMap::default();
        for value in self.column(place) {
            *counts.entry(hash(value.as_bytes())).or_default() += 1;
            if counts.len() > most {
                return;
            }
        }
        let common = counts.values().copied().max().unwrap_or(0);
        if common * 2 <= rows && counts.len() != 2 {
            return;
        }
        let rare = 2.max(rows / 50);
        let is_rare = |value: &str| counts[&hash(value.as_bytes())] <= rare;
        let rows = self.column(place).enumerate();
        let rows = rows.filter(|(_, value)| is_rare(value));
        unusual.extend(rows.map(|(row, _)| row).take(MOST_RARE));
    }

    /// Rows with a number ten times as large as nearly all others.
    fn outliers(&self, place: usize, rows: usize, unusual: &mut Vec<usize>) {
        let Some(numbers) = numbers(self.column(place), IsWhole::No) else {
            return;
        };
        let mut ranked: Vec<f64> = numbers.iter().map(|number| number.abs()).collect();
        let (_, high, _) = ranked.select_nth_unstable_by(rows * 95 / 100, f64::total_cmp);
        let high = *high;
        if high <= 0.0 || is_rising(&numbers) {
            return;
        }
        let outliers = numbers
            .iter()
            .enumerate()
            .filter(|(_, number)| number.abs() > 10.0 * high);
        unusual.extend(outliers.map(|(row, _)| row).take(MOST_OUTLIERS));
    }
}

/// Whether a value must be a number from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IsWhole {
    Yes,
    No,
}

/// All values as numbers, if all are numbers. Of `key=value` the value counts.
fn numbers<'a>(values: impl Iterator<Item = &'a str>, is_whole: IsWhole) -> Option<Vec<f64>> {
    values
        .map(|value| {
            let value = value.rsplit('=').next().unwrap_or(value);
            let rest = after_number(value)?;
            if is_whole == IsWhole::Yes && !rest.is_empty() {
                return None;
            }
            let digits = &value[..value.len() - rest.len()];
            // A version such as 1.2.3 is a number that tells nothing.
            Some(digits.replace(',', "").parse().unwrap_or(0.0))
        })
        .collect()
}

/// Whether nine of ten steps do not go down.
pub(crate) fn is_rising(numbers: &[f64]) -> bool {
    let steps = numbers.len().saturating_sub(1);
    let rising = numbers.windows(2).filter(|pair| pair[1] >= pair[0]);
    rising.count() * 10 >= steps * 9
}
