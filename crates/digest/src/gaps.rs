//! Removes gaps that are shorter than their markers, and extends gaps over
//! blank lines between omitted lines.

use super::line::TextLine;

/// Fewer lines than this are not worth a marker.
const LEAST: usize = 3;
/// The length of a marker without places.
const MARKER: usize = 34;

/// Adjusts the choice of lines.
pub(crate) fn even_out(
    lines: &[TextLine<'_>],
    keep: &mut [bool],
    is_folded: impl Fn(usize) -> bool,
) {
    let count = lines.len();
    let mut at = 0;
    while at < count {
        if keep[at] {
            at += 1;
            continue;
        }
        let mut end = at;
        while end < count {
            let is_between = lines[end].is_blank() && keep.get(end + 1) == Some(&false);
            if keep[end] && !is_between {
                break;
            }
            end += 1;
        }
        let gap = at..end;
        let bytes: usize = lines[gap.clone()]
            .iter()
            .map(|line| line.text.len() + 1)
            .sum();
        let is_worth = gap.len() >= LEAST || gap.clone().any(&is_folded);
        keep[gap].fill(!is_worth || bytes <= MARKER);
        at = end;
    }
}
