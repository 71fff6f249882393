//! Computes the widths of a list's columns on a terminal. Pure functions.

use super::ListColumn;

/// The gap between two columns.
const GAP: usize = 2;

/// The width of each column; `None` if it is left out. Without a terminal every
/// column is as wide as its texts.
pub(super) fn fit(
    columns: &[ListColumn],
    natural: &[usize],
    room: Option<usize>,
) -> Vec<Option<usize>> {
    let mut widths: Vec<Option<usize>> = natural.iter().copied().map(Some).collect();
    let Some(room) = room else {
        return widths;
    };
    // The minimum width of each column.
    let least = |place: usize| columns[place].least.min(natural[place]);
    loop {
        let shown = widths.iter().enumerate();
        let shown: Vec<usize> = shown
            .filter_map(|(place, width)| width.map(|_| place))
            .collect();
        let needed: usize = shown.iter().map(|place| least(*place) + GAP).sum();
        if needed <= room + GAP {
            break;
        }
        let spare = shown.iter().filter(|place| columns[**place].spare > 0);
        let Some(place) = spare.max_by_key(|place| columns[**place].spare) else {
            break;
        };
        widths[*place] = None;
    }
    cut(&mut widths, room, least);
    widths
}

/// Shortens columns until they fit, the widest first.
fn cut(widths: &mut [Option<usize>], room: usize, least: impl Fn(usize) -> usize) {
    loop {
        let total: usize = widths.iter().flatten().map(|width| width + GAP).sum();
        if total <= room + GAP {
            return;
        }
        let shown = widths.iter().enumerate();
        let wide = shown.filter_map(|(place, width)| Some((place, (*width)?)));
        let wide = wide.filter(|(place, width)| *width > least(*place));
        let Some((place, width)) = wide.max_by_key(|(_, width)| *width) else {
            return;
        };
        // One at a time, so that equally wide columns stay equal.
        widths[place] = Some(width - 1);
    }
}
