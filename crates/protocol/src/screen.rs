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
pub struct KeyboardModes {
    /// Arrow keys send `ESC O A` instead of `ESC [ A`.
    pub application_cursor: bool,
    /// Pasted text is to come between `ESC [200~` and `ESC [201~`.
    pub bracketed_paste: bool,
    /// The mouse is to be sent too.
    pub mouse: bool,
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

/// A colour: a number of the terminal's 256, or red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ScreenColour {
    /// One of the terminal's 256.
    Indexed(u8),
    /// Red, green and blue.
    Rgb([u8; 3]),
}
