//! Words of a shell line, as far as they are known before it runs.

use brush_parser::ParserOptions;
use brush_parser::word::{self, WordPiece, WordPieceWithSource};
use windlass_runtime::UNKNOWN;

/// A word without quotes.
#[derive(Debug, Default)]
pub(super) struct ReadWord {
    /// Its text, with [`UNKNOWN`] for unknown parts.
    pub(super) text: String,
    /// The lines that its expansion runs.
    pub(super) lines: Vec<String>,
    /// It may run a command that was not found.
    pub(super) hides: bool,
}

impl ReadWord {
    pub(super) fn read(raw: &str, options: &ParserOptions) -> Self {
        let mut read = Self::default();
        match word::parse(raw, options) {
            Ok(pieces) => {
                for piece in &pieces {
                    read.add(raw, piece, Quotes::None);
                }
            }
            Err(_) => read.hide(),
        }
        // `{a,b}` makes several words of one.
        if raw.contains('{') && !matches!(raw, "{}" | "{" | "}") {
            read.text = UNKNOWN.to_string();
        }
        read
    }

    fn add(&mut self, raw: &str, piece: &WordPieceWithSource, quotes: Quotes) {
        match &piece.piece {
            WordPiece::Text(text) if quotes == Quotes::None && text.contains(['*', '?', '[']) => {
                self.text.push(UNKNOWN);
            }
            WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => self.text.push_str(text),
            WordPiece::EscapeSequence(text) => match text.strip_prefix('\\') {
                Some("\n") => {}
                Some(escaped) => self.text.push_str(escaped),
                None => self.text.push_str(text),
            },
            WordPiece::AnsiCQuotedText(text) if !text.contains('\\') => self.text.push_str(text),
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                for piece in pieces {
                    self.add(raw, piece, Quotes::Double);
                }
            }
            WordPiece::CommandSubstitution(line) => {
                self.lines.push(line.clone());
                self.text.push(UNKNOWN);
            }
            WordPiece::BackquotedCommandSubstitution(line) => {
                // Quoting inside of backquotes has rules of its own.
                self.hides |= line.contains('\\');
                self.lines.push(line.clone());
                self.text.push(UNKNOWN);
            }
            WordPiece::ArithmeticExpression(expression) if is_plain(&expression.value) => {
                self.text.push(UNKNOWN);
            }
            WordPiece::AnsiCQuotedText(_)
            | WordPiece::TildeExpansion(_)
            | WordPiece::ParameterExpansion(_)
            | WordPiece::ArithmeticExpression(_) => {
                self.text.push(UNKNOWN);
                // The default of a variable and an index may hold commands.
                let source = raw.get(piece.start_index..piece.end_index);
                self.hides |= source.is_none_or(may_run);
            }
        }
    }

    /// Marks the word as unknown.
    fn hide(&mut self) {
        self.text = UNKNOWN.to_string();
        self.hides = true;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

/// Whether the arithmetic contains only numbers. The value of a variable may be
/// an index that runs commands.
fn is_plain(expression: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_digit() || it == ' ' || "+-*/%()<>=!&|^~?:,".contains(it);
    expression.chars().all(is_plain)
}

/// Whether expanding the text may run a command.
pub(super) fn may_run(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("<(") || text.contains(">(")
}

/// Joins words so that their boundaries stay visible.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        let is_plain = |character: char| !character.is_whitespace() && character != '\'';
        if !word.is_empty() && word.chars().all(is_plain) {
            text.push_str(word);
        } else {
            text.push('\'');
            text.push_str(&word.replace('\'', "'\\''"));
            text.push('\'');
        }
    }
    text
}

/// Whether a variable affects only the format of a program's output.
pub(crate) fn is_harmless_variable(name: &str) -> bool {
    const HARMLESS: [&str; 17] = [
        "CARGO_TERM_COLOR",
        "CI",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "FORCE_COLOR",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LC_MESSAGES",
        "LINES",
        "NO_COLOR",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TERM",
        "TZ",
    ];
    HARMLESS.contains(&name)
}
