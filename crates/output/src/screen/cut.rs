//! Cuts a text to a limit: all of it, or its head and tail at line boundaries.
//!
//! Start at [`cut`]. The marker is the one used for streams.

/// A text of at most `limit` bytes, and how many bytes are missing. `lost` bytes were missing at its beginning before.
pub(super) fn cut(text: String, lost: u64, limit: usize) -> (String, u64) {
    if lost == 0 && text.len() <= limit {
        return (text, 0);
    }
    let most = lost + text.len() as u64;
    // With a newline before and one after it.
    let room = limit.checked_sub(marker(most).len() + 2);
    let head = match room {
        // The omission at the beginning is marked there, once.
        Some(room) if lost == 0 => head(&text, room / 2),
        _ => 0,
    };
    let tail = tail(&text, room.map_or(limit, |room| room - head));
    let omitted = lost + (tail - head) as u64;
    let mut told = text[..head].to_owned();
    if room.is_some() {
        if !told.is_empty() && !told.ends_with('\n') {
            told.push('\n');
        }
        told.push_str(&marker(omitted));
        told.push('\n');
    }
    told.push_str(&text[tail..]);
    (told, omitted)
}

/// The end of the head that fits into the budget.
fn head(text: &str, budget: usize) -> usize {
    let most = text.floor_char_boundary(budget);
    let lines = text[..most].rfind('\n').map_or(0, |at| at + 1);
    if lines < budget / 2 { most } else { lines }
}

/// The start of the tail that fits into the budget.
fn tail(text: &str, budget: usize) -> usize {
    if text.len() <= budget {
        return 0;
    }
    let least = text.ceil_char_boundary(text.len() - budget);
    if text.as_bytes()[least - 1] == b'\n' {
        return least;
    }
    let lines = text[least..]
        .find('\n')
        .map_or(text.len(), |at| least + at + 1);
    if text.len() - lines < budget / 2 {
        least
    } else {
        lines
    }
}

fn marker(bytes: u64) -> String {
    format!("[… {} bytes omitted …]", grouped(bytes))
}

/// A number with a comma between every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
