//! Limits the size of several handles in one reply.
//!
//! Each view is within its tool's limit, but many together may be too large.
//! [`within_limit`] leaves short ones unchanged and divides the remaining space
//! among the long ones. Fetching a handle returns all of it.

use windlass_protocol::{HandleId, HandleView};

use crate::cut;

/// The minimum size of a shortened view.
const LEAST: usize = 400;

/// Shortens views that exceed `limit` bytes together. Returns the shortened
/// handles.
pub(crate) fn within_limit(views: &mut [HandleView], limit: usize) -> Vec<HandleId> {
    let mut cut = Vec::new();
    let most = largest_share(views.iter().map(length).collect(), limit).max(LEAST);
    for view in views.iter_mut().filter(|view| length(view) > most) {
        shorten(view, most);
        cut.push(view.id.clone());
    }
    cut
}

/// The maximum view size at which all views fit.
fn largest_share(mut lengths: Vec<usize>, limit: usize) -> usize {
    lengths.sort_unstable();
    let mut room = limit;
    for (place, length) in lengths.iter().enumerate() {
        let share = room / (lengths.len() - place);
        if *length > share {
            return share;
        }
        room -= length;
    }
    limit
}

fn length(view: &HandleView) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let trace = view.error.iter().flat_map(|error| &error.trace);
    text(&view.content) + text(&view.result) + trace.map(String::len).sum::<usize>()
}

/// Shortens a view. The result and the causes of an error may take half of the
/// space; the output gets the rest.
fn shorten(view: &mut HandleView, most: usize) {
    let before = length(view);
    let half = if view.content.is_some() {
        most / 2
    } else {
        most
    };
    if let Some(error) = &mut view.error {
        let mut room = half / 2;
        error.trace.retain(|cause| {
            let fits = cause.len() <= room;
            room = if fits { room - cause.len() } else { 0 };
            fits
        });
    }
    let causes = view.error.iter().flat_map(|error| &error.trace);
    let causes: usize = causes.map(String::len).sum();
    shorten_text(&mut view.result, half.saturating_sub(causes));
    let taken = view.result.as_ref().map_or(0, String::len) + causes;
    shorten_text(&mut view.content, most.saturating_sub(taken));
    let omitted = before.saturating_sub(length(view)) as u64;
    *view.omitted_bytes.get_or_insert_default() += omitted;
    view.note = Some(
        "cut, because this reply covers several handles; fetch it to read it whole".to_owned(),
    );
}

fn shorten_text(text: &mut Option<String>, most: usize) {
    if let Some(text) = text.as_mut().filter(|text| text.len() > most) {
        *text = cut::excerpt(text, most, None).text;
    }
}

#[cfg(test)]
#[path = "share_tests.rs"]
mod tests;
