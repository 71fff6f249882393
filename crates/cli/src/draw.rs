//! Renders a screen of the runtime as terminal sequences.

use std::fmt::Write as _;

use windlass_protocol::{ScreenColour, ScreenRun, ScreenUpdate};

/// Switches to an empty alternate screen.
pub(crate) const ENTER: &str = "\x1b[?1049h\x1b[2J";
/// Restores the terminal.
pub(crate) const LEAVE: &str = "\x1b[0m\x1b[?1l\x1b[?2004l\x1b[?25h\x1b[?1049l";

/// Draws the rows that changed, within this many rows and columns.
pub(crate) fn draw(screen: &ScreenUpdate, rows: u16, cols: u16) -> String {
    let mut drawn = String::from("\x1b[?25l\x1b[?7l");
    for row in screen.changed.iter().filter(|row| row.row <= rows) {
        let _ = write!(drawn, "\x1b[{};1H\x1b[0m\x1b[2K", row.row);
        for run in &row.runs {
            draw_run(&mut drawn, run);
        }
    }
    let mode = |set: bool| if set { 'h' } else { 'l' };
    let (row, col) = screen.cursor;
    let _ = write!(
        drawn,
        "\x1b[0m\x1b[?7h\x1b[?1{}\x1b[?2004{}\x1b[{};{}H\x1b[?25{}",
        mode(screen.modes.application_cursor),
        mode(screen.modes.bracketed_paste),
        row.min(rows),
        col.min(cols),
        mode(screen.cursor_visible),
    );
    drawn
}

fn draw_run(drawn: &mut String, run: &ScreenRun) {
    drawn.push_str("\x1b[0");
    for (is_set, code) in [
        (run.bold, 1),
        (run.dim, 2),
        (run.italic, 3),
        (run.underline, 4),
        (run.inverse, 7),
        (run.hidden, 8),
        (run.strikeout, 9),
    ] {
        if is_set {
            let _ = write!(drawn, ";{code}");
        }
    }
    for (colour, code) in [(run.fg, 38), (run.bg, 48)] {
        match colour {
            Some(ScreenColour::Indexed(number)) => {
                let _ = write!(drawn, ";{code};5;{number}");
            }
            Some(ScreenColour::Rgb([red, green, blue])) => {
                let _ = write!(drawn, ";{code};2;{red};{green};{blue}");
            }
            None => {}
        }
    }
    drawn.push('m');
    // Control characters of a program must not reach this terminal.
    drawn.extend(run.text.chars().filter(|character| !character.is_control()));
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
