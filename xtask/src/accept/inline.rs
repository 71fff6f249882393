//! Inline snapshots in a source file: where they are, and new texts for them.
//!
//! A snapshot is the literal after `@` in a macro call: `assert_snapshot!(reply, @"done")`. [`rewrite`] replaces
//! literals and leaves everything else as it is. It replaces a literal only if its text is the one that the test was
//! compiled with.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use anyhow::{Context, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// One visit of an inline snapshot by a test, as insta records it.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// The line in which the macro call begins.
    line: usize,
    /// The text that the snapshot had, and the one that the test got; absent if they agree.
    texts: Option<Texts>,
}

#[derive(Debug, Clone)]
struct Texts {
    old: String,
    new: String,
}

impl Record {
    /// Reads a line of a file of records.
    pub(super) fn read(line: &str) -> anyhow::Result<Self> {
        let value: serde_json::Value = serde_json::from_str(line)?;
        let text = |key: &str| {
            value[key]["snapshot"]
                .as_str()
                .map(ToOwned::to_owned)
                .with_context(|| format!("`{key}` is not a text"))
        };
        let texts = if value["new"].is_null() {
            None
        } else {
            Some(Texts {
                old: text("old")?,
                new: text("new")?,
            })
        };
        let line = value["line"].as_u64().context("`line` is not a number")?;
        Ok(Self {
            line: usize::try_from(line)?,
            texts,
        })
    }
}

/// Why the text of a snapshot was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No snapshot with the recorded text begins in the line.
    Changed,
    /// Several snapshots with the recorded text begin in the line.
    Ambiguous,
    /// Tests visit the place with different texts.
    Differing,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Changed => {
                "the snapshot is not the one that the test was built with; run this again"
            }
            Self::Ambiguous => {
                "several snapshots with the same text begin in this line; write each in its own line"
            }
            Self::Differing => {
                "the tests visit this snapshot with different texts; give each text its own snapshot"
            }
        })
    }
}

/// A source file with new texts.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// The lines, in the old source, of the calls whose literals were replaced.
    pub(super) changed: Vec<usize>,
    pub(super) refused: Vec<(usize, Refusal)>,
}

/// Puts the new texts of the records into the source.
pub(super) fn rewrite(source: &str, records: &[Record]) -> anyhow::Result<Rewritten> {
    let places = places(source)?;
    let mut visits: BTreeMap<usize, Vec<&Record>> = BTreeMap::new();
    for record in records {
        visits.entry(record.line).or_default().push(record);
    }
    let mut rewritten = Rewritten {
        text: source.to_owned(),
        changed: Vec::new(),
        refused: Vec::new(),
    };
    let mut replacements: Vec<(Range<usize>, String)> = Vec::new();
    for (line, visits) in visits {
        let on_line: Vec<&Place> = places.iter().filter(|place| place.line == line).collect();
        match replacement(&on_line, &visits) {
            Ok(Some((place, new))) => {
                rewritten.changed.push(line);
                let literal = literal(new, &place.indentation);
                replacements.push((place.literal.clone(), literal));
            }
            Ok(None) => {}
            Err(refusal) => rewritten.refused.push((line, refusal)),
        }
    }
    // From the bottom up, so that the ranges above stay true.
    for (range, literal) in replacements.into_iter().rev() {
        rewritten.text.replace_range(range, &literal);
    }
    Ok(rewritten)
}

/// The one place of a line that gets a new text, if any.
fn replacement<'a>(
    places: &[&'a Place],
    visits: &[&'a Record],
) -> Result<Option<(&'a Place, &'a str)>, Refusal> {
    let Some(Texts { old, new }) = visits.iter().find_map(|visit| visit.texts.as_ref()) else {
        return Ok(None);
    };
    let agree = |visit: &&Record| visit.texts.as_ref().is_some_and(|texts| texts.new == *new);
    if !visits.iter().all(agree) {
        return Err(Refusal::Differing);
    }
    let mut same = places.iter().filter(|place| place.text == *old);
    match (same.next(), same.next()) {
        (Some(place), None) => Ok(Some((place, new))),
        (None, _) => Err(Refusal::Changed),
        (Some(_), Some(_)) => Err(Refusal::Ambiguous),
    }
}

/// An inline snapshot in a source file.
#[derive(Debug)]
struct Place {
    /// The line in which the macro call begins.
    line: usize,
    /// The blanks before that line.
    indentation: String,
    /// The bytes of the literal.
    literal: Range<usize>,
    /// The text that insta compares.
    text: String,
}

/// Every inline snapshot of the source, in its order.
fn places(source: &str) -> anyhow::Result<Vec<Place>> {
    let tokens: TokenStream = source
        .parse()
        .map_err(|error| anyhow!("the source is not Rust: {error}"))?;
    let mut places = Vec::new();
    collect(tokens, source, &mut places)?;
    Ok(places)
}

fn collect(tokens: TokenStream, source: &str, places: &mut Vec<Place>) -> anyhow::Result<()> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        if let Some(call) = beginning(&tokens[..index])
            && let Some(literal) = snapshot(group)
        {
            let line = call.span().start().line;
            let value: syn::LitStr = syn::parse_str(&literal.to_string())?;
            places.push(Place {
                line,
                indentation: indentation(source, line),
                literal: literal.span().byte_range(),
                text: normalized(&value.value()),
            });
        }
        collect(group.stream(), source, places)?;
    }
    Ok(())
}

/// The first token of the macro's path, if the tokens end like the beginning of a macro call: `insta::assert_snapshot!`.
fn beginning(before: &[TokenTree]) -> Option<&TokenTree> {
    let (mark, path) = before.split_last()?;
    let is = |token: &TokenTree, sign: char| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign);
    if !is(mark, '!') {
        return None;
    }
    let mut first = path.len().checked_sub(1)?;
    if !matches!(path[first], TokenTree::Ident(_)) {
        return None;
    }
    while first >= 3 && is(&path[first - 1], ':') && is(&path[first - 2], ':') {
        first -= 3;
    }
    Some(&path[first])
}

/// The string literal after `@` among the arguments of a macro call.
fn snapshot(arguments: &Group) -> Option<proc_macro2::Literal> {
    if arguments.delimiter() == Delimiter::None {
        return None;
    }
    let tokens: Vec<TokenTree> = arguments.stream().into_iter().collect();
    tokens.windows(2).find_map(|pair| match pair {
        [TokenTree::Punct(at), TokenTree::Literal(literal)] if at.as_char() == '@' => {
            Some(literal.clone())
        }
        _ => None,
    })
}

fn indentation(source: &str, line: usize) -> String {
    let line = source.lines().nth(line - 1).unwrap_or_default();
    line.chars()
        .take_while(|character| matches!(character, ' ' | '\t'))
        .collect()
}

/// The text that insta compares: without the first line break of a literal of several lines, without common
/// indentation and without blanks at the end.
fn normalized(literal: &str) -> String {
    let literal = literal.replace("\r\n", "\n");
    if literal.trim_end().lines().count() <= 1 {
        return literal.trim_end().to_owned();
    }
    let lines = match literal.strip_prefix('\n') {
        Some(rest) if !is_escaped(&literal) => rest,
        _ => &literal,
    };
    if lines.trim_end().lines().count() <= 1 {
        return lines.trim_end().to_owned();
    }
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = lines
        .trim_end()
        .lines()
        .filter(|line| !line.is_empty())
        .map(blanks)
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = lines
        .lines()
        .map(|line| line.get(common..).unwrap_or_default())
        .collect();
    lines.join("\n").trim_end().to_owned()
}

/// Whether a literal needs escapes, as control characters do.
fn is_escaped(text: &str) -> bool {
    text.chars()
        .any(|character| character.is_control() && !matches!(character, '\n' | '\t' | '\x1b'))
}

/// A literal with this text, as insta writes it.
fn literal(text: &str, indentation: &str) -> String {
    if is_escaped(text) {
        return format!("{text:?}");
    }
    let mut body = String::new();
    if text.contains('\n') {
        for line in text.lines() {
            body.push('\n');
            if !line.is_empty() {
                body.push_str(indentation);
                body.push_str(line);
            }
        }
        body.push('\n');
        body.push_str(indentation);
    } else {
        body.push_str(text);
    }
    if !text.contains(['\\', '"']) {
        return format!("\"{body}\"");
    }
    let hashes = "#".repeat(hashes(text));
    format!("r{hashes}\"{body}\"{hashes}")
}

/// How many `#` a raw string with this text needs.
fn hashes(text: &str) -> usize {
    text.split('"')
        .skip(1)
        .map(|after| after.chars().take_while(|sign| *sign == '#').count() + 1)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
