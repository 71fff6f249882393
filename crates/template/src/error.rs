//! Errors of templates: those that a check finds, and those of one call.

use std::fmt;

use minijinja::Error;

/// An error of a command that prevents it from running. The messages complete
/// "the command …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateFault {
    /// A template cannot be parsed.
    #[error("has an invalid template, `{template}`: {message}")]
    Syntax {
        /// The word that contains it.
        template: String,
        /// The parser's message.
        message: String,
    },
    /// A name is unknown to templates.
    #[error("uses `{name}`, which is unknown; {hint}")]
    UnknownName {
        /// The dotted name.
        name: String,
        /// The nearest known name, or all of them.
        hint: String,
    },
    /// A field is accessed on a value without fields.
    #[error("uses `{name}`, but `{parent}` is {kind} and has no fields")]
    NoFields {
        /// The dotted name.
        name: String,
        /// The value that has no fields.
        parent: String,
        /// The value's JSON type, with its article.
        kind: String,
    },
    /// A filter, a test or a function does not exist.
    #[error("uses the {kind} `{name}`, which is unknown; {hint}")]
    UnknownOperation {
        /// `filter`, `test` or `function`.
        kind: &'static str,
        name: String,
        /// The nearest one, or an alternative.
        hint: String,
    },
    /// A value is in a place where quoting does not protect the shell.
    #[error("has the template `{template}` {place}; {}", .place.way_out())]
    Unquotable {
        template: String,
        /// The place.
        place: ShellPlace,
    },
    /// The branches of a block open or close quotes differently.
    #[error(
        "has a `{{% … %}}` block that opens a quote or a bracket without closing it; close it within the block"
    )]
    UnevenBlock,
    /// The context and the tool cannot be appended to a line with this end.
    #[error(
        "has parameters and no template, and its line ends {0}, where arguments cannot follow; write {{{{context}}}} and {{{{tool}}}} where they belong"
    )]
    NoRoomForCall(ShellPlace),
}

/// A place of a shell line where a quoted value is not one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellPlace {
    /// Between single quotes.
    SingleQuotes,
    /// Between double quotes.
    DoubleQuotes,
    /// Between backticks.
    Backticks,
    /// Inside `${…}`.
    Parameter,
    /// Inside `$((…))`.
    Arithmetic,
    Comment,
    /// In a here-document or after one.
    HereDocument,
    /// After a backslash.
    Backslash,
    /// After a dollar sign.
    Dollar,
    /// After `$'…'`, which shells read differently.
    DollarQuote,
    /// After a `case` within quotes, or other unsupported text.
    Unclear,
    /// Inside `$(…)` or `(…)` that is not closed.
    Bracket,
}

impl ShellPlace {
    fn way_out(self) -> &'static str {
        match self {
            Self::SingleQuotes | Self::DoubleQuotes => {
                "values are quoted automatically, so write it outside the quotes"
            }
            Self::Backticks => "write $(…) instead of the backticks",
            Self::Parameter | Self::Arithmetic => {
                "assign it to a variable first, as in `x={{…}}; …`, and use `$x` there"
            }
            Self::Comment => "remove it",
            Self::HereDocument => {
                "give the value as an argument, or pipe it with `printf '%s' {{…}} |` before it"
            }
            Self::Backslash => "remove the backslash, because values are quoted automatically",
            Self::Dollar => "remove the `$`, because a value is not the name of a variable",
            Self::DollarQuote | Self::Unclear | Self::Bracket => {
                "write it earlier, or put the line into a script that takes the value as an \
                 argument"
            }
        }
    }
}

impl fmt::Display for ShellPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SingleQuotes => "inside single quotes",
            Self::DoubleQuotes => "inside double quotes",
            Self::Backticks => "inside backticks",
            Self::Parameter => "inside `${…}`",
            Self::Arithmetic => "inside `$((…))`",
            Self::Comment => "in a comment",
            Self::HereDocument => "in or after a here-document",
            Self::Backslash => "after a backslash",
            Self::Dollar => "after a `$`",
            Self::DollarQuote => "after `$'…'`, which shells quote differently",
            Self::Unclear => "after shell syntax whose quotes are ambiguous",
            Self::Bracket => "inside an unclosed bracket",
        })
    }
}

/// A command that cannot be rendered for one call.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A value is not given, and the command has no default for it.
    #[error("{}", not_given(.name))]
    NotGiven {
        /// The dotted name.
        name: String,
    },
    /// A template failed.
    #[error("the command's template `{template}` cannot be rendered: {source}")]
    Failed {
        /// The word that contains it.
        template: String,
        /// The engine's error.
        #[source]
        source: Error,
    },
}

fn not_given(name: &str) -> String {
    match name.strip_prefix("tool.arguments.") {
        Some(argument) => format!("the tool's command needs `{argument}`, which was not given"),
        None => format!("the tool's command needs `{name}`, which is not set in this call"),
    }
}
