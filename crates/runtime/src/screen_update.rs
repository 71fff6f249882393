//! A screen in the words of the protocol, for people who look on.

use windlass_output::{Colour, Screen, StyledRow, StyledRun};
use windlass_protocol::{KeyboardModes, ScreenColour, ScreenRow, ScreenRun, ScreenUpdate};

/// The rows that changed since a generation, or all of them.
pub fn screen_update(screen: &mut Screen, since: Option<u64>) -> ScreenUpdate {
    let (rows, cols) = screen.size();
    let modes = screen.modes();
    let changed = match since {
        Some(generation) => screen.changed_since(generation),
        None => (0..rows).collect(),
    };
    let rows_of = changed.into_iter().filter_map(|row| {
        let styled = screen.styled_row(row)?;
        Some(to_row(row + 1, styled))
    });
    let changed = rows_of.collect();
    ScreenUpdate {
        generation: screen.generation(),
        rows,
        cols,
        cursor: screen.cursor(),
        cursor_visible: screen.cursor_visible(),
        full_screen: screen.is_full_screen(),
        modes: KeyboardModes {
            application_cursor: modes.application_cursor,
            bracketed_paste: modes.bracketed_paste,
            mouse: modes.mouse,
        },
        title: screen.title().map(str::to_owned),
        changed,
    }
}

fn to_row(row: u16, styled: StyledRow) -> ScreenRow {
    ScreenRow {
        row,
        runs: styled.runs.into_iter().map(to_run).collect(),
    }
}

fn to_run(run: StyledRun) -> ScreenRun {
    let style = run.style;
    ScreenRun {
        text: run.text,
        fg: style.foreground.map(to_colour),
        bg: style.background.map(to_colour),
        bold: style.bold,
        dim: style.dim,
        italic: style.italic,
        underline: style.underline,
        inverse: style.inverse,
        hidden: style.hidden,
        strikeout: style.strikeout,
    }
}

fn to_colour(colour: Colour) -> ScreenColour {
    match colour {
        Colour::Indexed(number) => ScreenColour::Indexed(number),
        Colour::Rgb(red, green, blue) => ScreenColour::Rgb([red, green, blue]),
    }
}

#[cfg(test)]
#[path = "screen_update_tests.rs"]
mod tests;
