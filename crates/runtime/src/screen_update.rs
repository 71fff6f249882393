//! Converts a screen to the protocol, for observers.

use windlass_output::{
    Colour, CursorShape, MouseTracking, Screen, StyledRow, StyledRun, UnderlineKind,
};
use windlass_protocol::{
    KeyboardModes, MouseReports, ScreenColour, ScreenCursor, ScreenCursorShape, ScreenPast,
    ScreenRow, ScreenRun, ScreenUnderline, ScreenUpdate,
};

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
        cursor_look: cursor_look(screen),
        full_screen: screen.is_full_screen(),
        modes: KeyboardModes {
            application_cursor: modes.application_cursor,
            bracketed_paste: modes.bracketed_paste,
            mouse: modes.mouse.is_some(),
            mouse_reports: modes.mouse.map(mouse_reports),
            mouse_sgr: modes.mouse_sgr,
            focus: modes.focus,
        },
        title: screen.title().map(str::to_owned),
        changed,
    }
}

/// The rows that have left the screen, as far as they are stored.
pub fn screen_past(screen: &mut Screen) -> ScreenPast {
    let rows = screen.styled_scrollback().into_iter();
    let to_runs = |row: StyledRow| row.runs.into_iter().map(to_run).collect();
    ScreenPast {
        rows: rows.map(to_runs).collect(),
    }
}

fn cursor_look(screen: &Screen) -> ScreenCursor {
    let look = screen.cursor_look();
    ScreenCursor {
        shape: match look.shape {
            CursorShape::Block => ScreenCursorShape::Block,
            CursorShape::Underline => ScreenCursorShape::Underline,
            CursorShape::Bar => ScreenCursorShape::Bar,
        },
        blinks: look.blinks,
    }
}

fn mouse_reports(tracking: MouseTracking) -> MouseReports {
    match tracking {
        MouseTracking::Presses => MouseReports::Presses,
        MouseTracking::Clicks => MouseReports::Clicks,
        MouseTracking::Drags => MouseReports::Drags,
        MouseTracking::Motion => MouseReports::Motion,
    }
}

fn underline(kind: UnderlineKind) -> ScreenUnderline {
    match kind {
        UnderlineKind::Double => ScreenUnderline::Double,
        UnderlineKind::Curly => ScreenUnderline::Curly,
        UnderlineKind::Dotted => ScreenUnderline::Dotted,
        UnderlineKind::Dashed => ScreenUnderline::Dashed,
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
        underline_kind: style.underline_kind.map(underline),
        link: run.link.map(|link| link.to_string()),
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
