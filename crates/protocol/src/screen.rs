//! What a terminal shows, for somebody who draws it.
//!
//! Start at [`ScreenUpdate`]: the rows that changed since a generation that
//! the reader names, or all of them. What an indexed colour looks like is left
//! to who draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a screen stands, and those of its rows that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenUpdate {
    /// Grows with every change; names what the reader has seen.
    pub generation: u64,
    /// How many rows there are.
    pub rows: u16,
    /// How many columns there are.
    pub cols: u16,
    /// Row and column of the cursor, from 1 on.
    pub cursor: (u16, u16),
    /// The program shows the cursor.
    pub cursor_visible: bool,
    /// How it is to be drawn; default: a block that does not blink.
    #[serde(default, skip_serializing_if = "ScreenCursor::is_default")]
    pub cursor_look: ScreenCursor,
    /// The program has the whole screen to itself.
    pub full_screen: bool,
    /// What the program wants of the keyboard.
    pub modes: KeyboardModes,
    /// The window's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The rows that changed.
    pub changed: Vec<ScreenRow>,
}

/// What a program has asked of the keyboard and the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a mode of its own, any mix is possible"
)]
pub struct KeyboardModes {
    /// Arrow keys send `ESC O A` instead of `ESC [ A`.
    pub application_cursor: bool,
    /// Pasted text is to come between `ESC [200~` and `ESC [201~`.
    pub bracketed_paste: bool,
    /// The mouse is to be sent too.
    pub mouse: bool,
    /// The use of the mouse that is to be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mouse_reports: Option<MouseReports>,
    /// The mouse is to be sent as `ESC [ < … M`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mouse_sgr: bool,
    /// Gaining and losing the focus is to be sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub focus: bool,
}

/// The use of the mouse that a program wants to hear of. Each includes the one
/// before it.
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

/// How a cursor is drawn.
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

/// Neighbouring text that looks the same. Absent fields are how a terminal
/// looks when nothing was said.
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
    /// How it is underlined, unless with a single straight line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underline_kind: Option<ScreenUnderline>,
    /// The address that the program has put under it, as it wrote it: it may be
    /// of any scheme.
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

/// A line under text other than a single straight one.
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
