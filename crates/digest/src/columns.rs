//! The values of lines of one kind, column by column.

use super::kinds::HashedMap;
use super::line::TextLine;
use super::tokens::{after_number, hash};

/// Minimum number of lines to distinguish rare values from common ones.
const LEAST_FOR_RARE: usize = 10;
/// Minimum number of lines to detect outliers.
const LEAST_FOR_OUTLIER: usize = 20;
/// In a column with at most this many values, each is shown.
const FEW_VALUES: usize = 6;
/// The most lines that are kept for one column.
const MOST_RARE: usize = 8;
const MOST_OUTLIERS: usize = 5;
/// The minimum ratio of common values to a rare one, if several are common.
const MUCH_MORE: usize = 10;
/// An order of magnitude.
const ORDER: f64 = 10.0;

/// A table of the values of some lines. Lines with an unusual number of values
/// are excluded.
pub(crate) struct Columns<'a> {
    width: usize,
    values: Vec<&'a str>,
    /// The positions of the table's lines among the given ones.
    rows: Vec<usize>,
    /// The places of the others.
    aside: Vec<usize>,
}

impl<'a> Columns<'a> {
    /// The columns of some lines; `None` if their number of values differs.
    pub(crate) fn of(lines: &[TextLine<'a>], members: &[usize]) -> Option<Self> {
        let mut values = Vec::new();
        let mut ends = Vec::with_capacity(members.len());
        for member in members {
            lines[*member].collect_values(&mut values);
            ends.push(values.len());
        }
        let starts = || std::iter::once(0).chain(ends.iter().copied());
        let widths: Vec<usize> = starts()
            .zip(&ends)
            .map(|(start, end)| end - start)
            .collect();
        let width = common_width(&widths)?;
        let (rows, aside) = (0..members.len()).partition(|row| widths[*row] == width);
        let mut columns = Self {
            width,
            values,
            rows,
            aside,
        };
        if !columns.aside.is_empty() {
            let rows = columns.rows.iter();
            columns.values = rows
                .flat_map(|row| &columns.values[ends[*row] - width..ends[*row]])
                .copied()
                .collect();
        }
        Some(columns)
    }

    fn column(&self, place: usize) -> impl Iterator<Item = &'a str> {
        self.values[place..].iter().step_by(self.width).copied()
    }

    fn varies(&self, place: usize) -> bool {
        let first = self.values[place];
        self.column(place).any(|value| value != first)
    }

    /// Whether the lines carry data: some column before the last `aside` ones
    /// has numbers that do not just count up.
    pub(crate) fn has_payload(&self, aside: usize) -> bool {
        (0..self.width.saturating_sub(aside)).any(|place| {
            self.varies(place)
                && numbers(self.column(place), NumberShape::Bare)
                    .is_some_and(|numbers| !is_rising(&numbers))
        })
    }

    /// The positions of the lines that differ from the others in more than name
    /// and number.
    pub(crate) fn unusual(&self) -> Vec<usize> {
        let rows = self.rows.len();
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
        let places = unusual.into_iter().map(|row| self.rows[row]);
        places
            .chain(self.aside.iter().copied().take(MOST_RARE))
            .collect()
    }

    /// Rows with a rare value in a column of few values: one of them is common, or all others
    /// are much more common than the rare ones.
    fn rare(&self, place: usize, rows: usize, unusual: &mut Vec<usize>) {
        let most = 2.max(rows / 10);
        let mut counts: HashedMap<usize> = HashedMap::default();
        for value in self.column(place) {
            *counts.entry(hash(value.as_bytes())).or_default() += 1;
            if counts.len() > most {
                return;
            }
        }
        if counts.len() <= FEW_VALUES {
            self.first_of_each(place, counts.len(), unusual);
        }
        let common = counts.values().copied().max().unwrap_or(0);
        let mut rare = 2.max(rows / 50);
        if common * 2 <= rows && counts.len() != 2 {
            let Some(below) = below_gap(counts.values().copied().collect(), rare) else {
                return;
            };
            rare = below;
        }
        let is_rare = |value: &str| counts[&hash(value.as_bytes())] <= rare;
        let rows = self.column(place).enumerate();
        let rows = rows.filter(|(_, value)| is_rare(value));
        unusual.extend(rows.map(|(row, _)| row).take(MOST_RARE));
    }

    /// The first row of each value. Otherwise a value that is neither rare nor
    /// the most common one would not be seen, such as status 500 for every
    /// twentieth request.
    fn first_of_each(&self, place: usize, values: usize, unusual: &mut Vec<usize>) {
        let mut seen: Vec<&str> = Vec::with_capacity(values);
        for (row, value) in self.column(place).enumerate() {
            if !seen.contains(&value) {
                seen.push(value);
                unusual.push(row);
                if seen.len() == values {
                    return;
                }
            }
        }
    }

    /// Rows with a number ten times as large as nearly all others, or a tenth
    /// of them if the others are alike.
    fn outliers(&self, place: usize, rows: usize, unusual: &mut Vec<usize>) {
        let Some(numbers) = numbers(self.column(place), NumberShape::WithUnit) else {
            return;
        };
        let mut ranked: Vec<f64> = numbers.iter().map(|number| number.abs()).collect();
        let (_, high, _) = ranked.select_nth_unstable_by(rows * 95 / 100, f64::total_cmp);
        let high = *high;
        if high <= 0.0 || is_rising(&numbers) {
            return;
        }
        let (_, low, _) = ranked.select_nth_unstable_by(rows * 5 / 100, f64::total_cmp);
        let low = if high <= ORDER * *low { *low } else { 0.0 };
        let outliers = numbers.iter().enumerate().filter(|(_, number)| {
            let number = number.abs();
            number > ORDER * high || number * ORDER < low
        });
        unusual.extend(outliers.map(|(row, _)| row).take(MOST_OUTLIERS));
    }
}

/// The number of values that nine of ten lines have.
fn common_width(widths: &[usize]) -> Option<usize> {
    let mut ranked = widths.to_vec();
    let middle = ranked.len().checked_sub(1)? / 2;
    let (_, width, _) = ranked.select_nth_unstable(middle);
    let width = *width;
    let same = widths.iter().filter(|other| **other == width).count();
    (same * 10 >= widths.len() * 9).then_some(width)
}

/// The largest count of the rare values, if they are few and all other values are much more
/// common than any of them.
fn below_gap(mut counts: Vec<usize>, rare: usize) -> Option<usize> {
    counts.sort_unstable();
    let split = counts.partition_point(|count| *count <= rare);
    let (below, above) = counts.split_at(split);
    let (highest, lowest) = (*below.last()?, *above.first()?);
    let is_few = below.iter().sum::<usize>() <= MOST_RARE;
    (is_few && highest * MUCH_MORE <= lowest).then_some(highest)
}

/// The text that may follow a number in its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberShape {
    /// Nothing.
    Bare,
    /// Letters and signs: `29ms`, `4%`. An identifier such as `46fdd8b0` has digits again.
    WithUnit,
}

impl NumberShape {
    fn takes(self, rest: &str) -> bool {
        match self {
            Self::Bare => rest.is_empty(),
            Self::WithUnit => !rest.bytes().any(|byte| byte.is_ascii_digit()),
        }
    }
}

/// All values as numbers, if all are numbers. In `key=value` the value is used.
fn numbers<'a>(values: impl Iterator<Item = &'a str>, shape: NumberShape) -> Option<Vec<f64>> {
    values
        .map(|value| {
            let value = value.rsplit('=').next().unwrap_or(value);
            let rest = after_number(value)?;
            if !shape.takes(rest) {
                return None;
            }
            let digits = &value[..value.len() - rest.len()];
            // A version such as 1.2.3 is not a measured number.
            Some(digits.replace(',', "").parse().unwrap_or(0.0))
        })
        .collect()
}

/// Whether at least nine of ten steps do not go down.
pub(crate) fn is_rising(numbers: &[f64]) -> bool {
    let steps = numbers.len().saturating_sub(1);
    let rising = numbers.windows(2).filter(|pair| pair[1] >= pair[0]);
    rising.count() * 10 >= steps * 9
}
