//! Styled rows, for rendering.
//!
//! Start at [`StyledRow`]. The renderer chooses the actual colours of the
//! palette.

use std::sync::Arc;

/// A row of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyledRow {
    /// The text from left to right, without unstyled blanks at the end.
    pub runs: Vec<StyledRun>,
}

/// Adjacent text with the same style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyledRun {
    /// The text; wide characters fill two columns of the screen.
    pub text: String,
    pub style: Style,
    /// The address that the program has put under it, as it wrote it: it may be of any scheme.
    pub link: Option<Arc<str>>,
}

/// The style of text. The default is unstyled.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an attribute of its own, any mix is possible"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// The colour of the text, unless it is the terminal's own.
    pub foreground: Option<Colour>,
    /// The colour behind the text, unless it is the terminal's own.
    pub background: Option<Colour>,
    /// Bold or bright.
    pub bold: bool,
    /// Faint.
    pub dim: bool,
    /// Slanted.
    pub italic: bool,
    /// Underlined in any way.
    pub underline: bool,
    /// The kind of underline, unless it is a single straight line.
    pub underline_kind: Option<UnderlineKind>,
    /// With foreground and background exchanged.
    pub inverse: bool,
    /// There, but not to be seen.
    pub hidden: bool,
    /// Struck through.
    pub strikeout: bool,
}

/// A line under text other than a single straight one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnderlineKind {
    /// Two lines.
    Double,
    /// A wave.
    Curly,
    /// Dots.
    Dotted,
    Dashed,
}

/// The appearance of the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CursorLook {
    pub shape: CursorShape,
    pub blinks: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CursorShape {
    /// A whole cell.
    #[default]
    Block,
    /// A line under the character.
    Underline,
    /// A line before the character.
    Bar,
}

/// A colour that a program has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Colour {
    /// One of the terminal's 256.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}
