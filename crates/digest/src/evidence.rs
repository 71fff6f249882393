//! The evidence that lines of one kind report progress.
//!
//! Without evidence nothing is omitted: a list of files looks as regular as a
//! list of compiled files, but it is the requested data.

use super::columns::{Columns, is_rising};
use super::counter::{Counter, has_bar};
use super::diagnostic::is_located;
use super::line::{LineTraits, TextLine};

/// Lines that arrive one by one over at least this time show progress.
const TRICKLE_MILLISECONDS: u32 = 500;

/// Why lines of a kind may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// They carry time stamps that go forward.
    Stamp,
    /// They carry a level below a warning.
    LowLevel,
    /// They draw a bar.
    Bar,
    /// They count up to a total.
    Count,
    /// They report success.
    Success,
    /// They announce an item whose success the next line reports, by the same
    /// name.
    Announced,
    /// They arrived one by one.
    Trickle,
}

impl Evidence {
    /// Whether it comes from a log, in which troubled lines repeat as others
    /// do.
    pub(crate) fn is_of_log(self) -> bool {
        matches!(self, Self::Stamp | Self::LowLevel)
    }

    /// Whether it applies to one line of its kind. Lines to which it does not
    /// are kept.
    pub(crate) fn holds_for(self, lines: &[TextLine<'_>], line: usize) -> bool {
        match self {
            Self::Success => lines[line].traits.has(LineTraits::SUCCEEDED),
            Self::Announced => is_announced(lines, line),
            _ => true,
        }
    }

    /// The evidence for some lines of one kind. `is_forward` says whether the
    /// time stamps of the whole text go forward.
    pub(crate) fn find(
        lines: &[TextLine<'_>],
        members: &[usize],
        is_forward: bool,
    ) -> Option<Self> {
        let most = |is: &dyn Fn(&TextLine<'_>) -> bool| {
            let count = members.iter().filter(|member| is(&lines[**member])).count();
            count * 10 >= members.len() * 9
        };
        if is_forward && most(&|line| line.is_logged() && !line.traits.has(LineTraits::BARE)) {
            return Some(Self::Stamp);
        }
        if most(&|line| line.traits.has(LineTraits::LOW_LEVEL)) {
            return Some(Self::LowLevel);
        }
        let located = members
            .iter()
            .filter(|member| is_located(lines[**member].text));
        if located.count() * 2 >= members.len() {
            return None;
        }
        let (first, last) = (members[0], members[members.len() - 1]);
        if Counter::find(lines[last].text).is_some() && most(&|line| has_bar(line.text)) {
            return Some(Self::Bar);
        }
        let is_spoken = || lines[first].tokens().any(|token| token.is_spoken());
        if counts_up(lines, members) && is_spoken() && !has_payload(lines, members) {
            return Some(Self::Count);
        }
        if most(&|line| line.traits.has(LineTraits::SUCCEEDED)) {
            return Some(Self::Success);
        }
        let announced = members
            .iter()
            .filter(|member| is_announced(lines, **member));
        if announced.count() * 10 >= members.len() * 9 {
            return Some(Self::Announced);
        }
        if trickles(lines, members) && is_spoken() && !has_payload(lines, members) {
            return Some(Self::Trickle);
        }
        None
    }
}

/// Whether the time stamps of a text go forward, as in a log and unlike in a
/// listing.
pub(crate) fn is_forward(lines: &[TextLine<'_>]) -> bool {
    let stamps = lines.iter().filter_map(|line| line.stamp);
    let seconds: Vec<f64> = stamps.map(|stamp| f64::from(stamp.seconds)).collect();
    is_rising(&seconds)
}

/// Whether the next line reports success and has the last word of this one.
fn is_announced(lines: &[TextLine<'_>], line: usize) -> bool {
    let Some(next) = lines.get(line + 1) else {
        return false;
    };
    let name = lines[line].text.split_whitespace().next_back();
    next.traits.has(LineTraits::SUCCEEDED)
        && name.is_some_and(|name| next.text.split_whitespace().any(|word| word == name))
}

/// Whether every line counts towards the same total.
fn counts_up(lines: &[TextLine<'_>], members: &[usize]) -> bool {
    let mut values = Vec::with_capacity(members.len());
    let mut total = None;
    for member in members {
        let Some(counter) = Counter::find(lines[*member].text) else {
            return false;
        };
        if *total.get_or_insert(counter.total) != counter.total {
            return false;
        }
        values.push(counter.value);
    }
    is_rising(&values) && values.last() > values.first()
}

/// Whether the lines arrived at many different times.
fn trickles(lines: &[TextLine<'_>], members: &[usize]) -> bool {
    let (first, last) = (members[0], members[members.len() - 1]);
    if lines[last].at.saturating_sub(lines[first].at) < TRICKLE_MILLISECONDS {
        return false;
    }
    let pairs = members.windows(2);
    let moments = 1 + pairs
        .filter(|pair| lines[pair[0]].at != lines[pair[1]].at)
        .count();
    moments >= 3 && moments * 3 >= members.len()
}

fn has_payload(lines: &[TextLine<'_>], members: &[usize]) -> bool {
    let aside = aside(lines[members[0]].text);
    Columns::of(lines, members).is_some_and(|columns| columns.has_payload(aside))
}

/// The number of tokens in brackets at the end of a line, such as a size or a
/// duration.
fn aside(text: &str) -> usize {
    let text = text.trim_end();
    let Some(inner) = text.strip_suffix([')', ']']) else {
        return 0;
    };
    match inner.rfind(['(', '[', ')', ']']) {
        Some(open) if inner[open..].starts_with(['(', '[']) => {
            inner[open..].split_whitespace().count()
        }
        _ => 0,
    }
}
