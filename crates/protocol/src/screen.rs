//! The content of a terminal, for programs that draw it.
//!
//! Start at [`ScreenUpdate`]: the rows that changed since the reader's
//! generation, or all rows. The drawing program chooses the colours of the
//! palette.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A screen's state, with the rows that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenUpdate {
    /// A counter that grows with every change; a reader names the last one it
    /// has seen.
    pub generation: u64,
    /// The number of rows.
    pub rows: u16,
    /// The number of columns.
    pub cols: u16,
    /// Row and column of the cursor, from 1 on.
    pub cursor: (u16, u16),
    /// The program shows the cursor.
    pub cursor_visible: bool,
    /// The cursor's look; default: a block that does not blink.
    #[serde(default, skip_serializing_if = "ScreenCursor::is_default")]
    pub cursor_look: ScreenCursor,
    /// The program has the whole screen to itself.
    pub full_screen: bool,
    /// The keyboard modes that the program has set.
    pub modes: KeyboardModes,
    /// The window's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The rows that changed.
    pub changed: Vec<ScreenRow>,
}

/// The keyboard and mouse modes that a program has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a mode of its own, any mix is possible"
)]
pub struct KeyboardModes {
    /// Arrow keys send `ESC O A` instead of `ESC [ A`.
    pub application_cursor: bool,
    /// Pasted text is sent between `ESC [200~` and `ESC [201~`.
    pub bracketed_paste: bool,
    /// Mouse events are sent too.
    pub mouse: bool,
    /// The mouse events to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mouse_reports: Option<MouseReports>,
    /// Mouse events are sent as `ESC [ < … M`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mouse_sgr: bool,
    /// Focus changes are sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub focus: bool,
}

/// The mouse events that a program requests. Each includes the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MouseReports {
    /// Buttons that are pressed.
    Presses,
    /// Buttons that are let go, and the wheel.
    Clicks,
    /// Movements while a button is down.
    Drags,
    /// All movements.
    Motion,
}

/// The look of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ScreenCursor {
    /// Its shape.
    #[serde(default)]
    pub shape: ScreenCursorShape,
    /// Whether it blinks.
    #[serde(default)]
    pub blinks: bool,
}

impl ScreenCursor {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The shape of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScreenCursorShape {
    /// A whole cell.
    #[default]
    Block,
    /// A line under the character.
    Underline,
    /// A line before the character.
    Bar,
}

/// The rows that have left a screen, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ScreenPast {
    /// The runs of each row.
    pub rows: Vec<Vec<ScreenRun>>,
}

/// One row of a screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenRow {
    /// Its place, from 1 on.
    pub row: u16,
    /// Its text from left to right, without unstyled blanks at the end.
    pub runs: Vec<ScreenRun>,
}

/// Adjacent text of one style. Absent fields have the terminal's default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an attribute of its own, any mix is possible"
)]
pub struct ScreenRun {
    /// The text; wide characters fill two columns.
    pub text: String,
    /// The colour of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fg: Option<ScreenColour>,
    /// The colour behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bg: Option<ScreenColour>,
    /// Bold or bright.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bold: bool,
    /// Faint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dim: bool,
    /// Slanted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub italic: bool,
    /// Underlined in any way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub underline: bool,
    /// The underline style, unless it is a single straight line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underline_kind: Option<ScreenUnderline>,
    /// The hyperlink that the program set, verbatim: it may have any scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// With foreground and background exchanged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inverse: bool,
    /// There, but not to be seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Struck through.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strikeout: bool,
}

/// An underline style other than a single straight line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScreenUnderline {
    /// Two lines.
    Double,
    /// A wave.
    Curly,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

/// A colour: a number of the terminal's 256, or red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ScreenColour {
    /// One of the terminal's 256.
    Indexed(u8),
    /// Red, green and blue.
    Rgb([u8; 3]),
}
