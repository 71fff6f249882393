//! The widths of a list's columns on a terminal. Pure.

use super::ListColumn;

/// Between two columns.
const GAP: usize = 2;

/// The width of each column, `None` for those that are left out. Without a
/// terminal every column is as wide as its texts.
pub(super) fn fit(
    columns: &[ListColumn],
    natural: &[usize],
    room: Option<usize>,
) -> Vec<Option<usize>> {
    let mut widths: Vec<Option<usize>> = natural.iter().copied().map(Some).collect();
    let Some(room) = room else {
        return widths;
    };
    // The fewest columns each can be shown in.
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

/// Takes the columns that are too wide together back, the widest first.
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
        // One at a time, so that columns that are equally wide stay so.
        widths[place] = Some(width - 1);
    }
}
