//! The table: the measurement, the floor of the same run, and the goal.

use std::fmt;

use super::samples::Samples;

/// All lines, printed in aligned columns.
#[derive(Debug, Default)]
pub(super) struct Table {
    lines: Vec<Line>,
}

/// One line.
#[derive(Debug)]
pub(super) struct Line {
    /// The name of the measurement.
    pub(super) what: String,
    /// Our result.
    pub(super) measured: Quantity,
    /// The result without Windlass.
    pub(super) floor: Option<Quantity>,
    /// The goal.
    pub(super) goal: Goal,
}

/// A number with its unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantity {
    value: f64,
    unit: Unit,
    /// The 10th and the 90th percentile.
    spread: Option<(f64, f64)>,
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Micros,
    Millis,
    KiB,
    PerSecond,
    MegabytesPerSecond,
    Pieces,
    Percent,
}

/// The goal of a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Goal {
    /// At most this many times the floor.
    Times(f64),
    /// At least this many times the floor.
    TimesAtLeast(f64),
    /// At most this much more than the floor, in the unit of both.
    Over(f64),
    /// At most this, in the unit of the measurement.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// No goal.
    Nothing,
}

impl Quantity {
    /// The median and the spread of samples.
    pub(super) fn of(samples: &Samples, unit: Unit) -> Self {
        Self {
            value: samples.median(),
            unit,
            spread: Some(samples.spread()),
        }
    }

    /// A number that was measured once.
    pub(super) fn once(value: f64, unit: Unit) -> Self {
        Self {
            value,
            unit,
            spread: None,
        }
    }

    fn shown_spread(&self) -> String {
        self.spread.map_or_else(String::new, |(low, high)| {
            format!("{}–{}", self.unit.number(low), self.unit.number(high))
        })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.unit.number(self.value), self.unit.sign())
    }
}

impl Unit {
    /// Times are measured in microseconds and printed in this unit.
    fn number(self, value: f64) -> String {
        match self {
            Self::Millis => format!("{:.1}", value / 1e3),
            Self::KiB | Self::MegabytesPerSecond => format!("{value:.1}"),
            Self::Micros | Self::PerSecond | Self::Pieces | Self::Percent => format!("{value:.0}"),
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Micros => " µs",
            Self::Millis => " ms",
            Self::KiB => " KiB",
            Self::PerSecond => "/s",
            Self::MegabytesPerSecond => " MB/s",
            Self::Pieces => "",
            Self::Percent => " %",
        }
    }
}

impl Line {
    /// The ratio of the measurement to the floor, if there is a floor.
    fn ratio(&self) -> Option<f64> {
        let floor = self.floor.as_ref()?;
        (floor.value > 0.0).then(|| self.measured.value / floor.value)
    }

    /// The difference between the measurement and the floor, if there is a
    /// floor.
    fn over(&self) -> Option<f64> {
        Some(self.measured.value - self.floor.as_ref()?.value)
    }

    /// Whether the goal is reached; `None` if there is no goal.
    fn reached(&self) -> Option<bool> {
        match self.goal {
            Goal::Times(times) => Some(self.ratio().is_some_and(|ratio| ratio <= times)),
            Goal::TimesAtLeast(times) => Some(self.ratio().is_some_and(|ratio| ratio >= times)),
            Goal::Over(most) => Some(self.over().is_some_and(|over| over <= most)),
            Goal::AtMost(most) => Some(self.measured.value <= most),
            Goal::AtLeast(least) => Some(self.measured.value >= least),
            Goal::Nothing => None,
        }
    }

    fn cells(&self) -> [String; 8] {
        let number = |value| Quantity::once(value, self.measured.unit).to_string();
        let goal = match self.goal {
            Goal::Times(times) => format!("≤ {times} ×"),
            Goal::TimesAtLeast(times) => format!("≥ {times} ×"),
            Goal::Over(most) => format!("≤ floor + {}", number(most)),
            Goal::AtMost(most) => format!("≤ {}", number(most)),
            Goal::AtLeast(least) => format!("≥ {}", number(least)),
            Goal::Nothing => String::new(),
        };
        let reached = self
            .reached()
            .map_or("", |reached| if reached { "reached" } else { "MISSED" });
        let floor = self.floor.as_ref();
        let ratio = self.ratio().map(|ratio| format!("{ratio:.2} ×"));
        [
            self.what.clone(),
            self.measured.to_string(),
            self.measured.shown_spread(),
            floor.map(Quantity::to_string).unwrap_or_default(),
            floor.map(Quantity::shown_spread).unwrap_or_default(),
            ratio.unwrap_or_default(),
            goal,
            reached.to_owned(),
        ]
    }
}

impl Extend<Line> for Table {
    fn extend<T: IntoIterator<Item = Line>>(&mut self, lines: T) {
        self.lines.extend(lines);
    }
}

const HEAD: [&str; 8] = [
    "what", "measured", "spread", "floor", "spread", "ratio", "goal", "",
];

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows =
            || std::iter::once(HEAD.map(str::to_owned)).chain(self.lines.iter().map(Line::cells));
        let width = |column: usize| rows().map(|row| row[column].chars().count()).max();
        let widths: [usize; 8] = std::array::from_fn(|column| width(column).unwrap_or_default());
        for row in rows() {
            let first = format!("{:width$}", row[0], width = widths[0]);
            let rest = row.iter().zip(widths).skip(1);
            let rest = rest.map(|(cell, width)| format!("{cell:>width$}"));
            let text: Vec<String> = std::iter::once(first).chain(rest).collect();
            writeln!(f, "{}", text.join("  ").trim_end())?;
        }
        writeln!(f, "Medians; eight of ten samples lie within the spread.")
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
