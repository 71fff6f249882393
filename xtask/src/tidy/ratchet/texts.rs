//! Expected texts in tests that no snapshot contains.
//!
//! An inline snapshot compares a text whole, and `cargo xtask accept` rewrites it. A literal in `assert_eq!` must be
//! rewritten by hand, and `contains` sees only a part.

use anyhow::anyhow;
use proc_macro2::{Group, TokenStream, TokenTree};

use super::habits::Habit;

/// The length, in bytes, of the longest literal that `assert_eq!` may have.
const LONGEST: usize = 60;

/// The number of characters by which a place is named.
const SHOWN: usize = 40;

/// Each habit, line and shortened text in the source of a test.
pub(super) fn found(source: &str) -> anyhow::Result<Vec<(Habit, usize, String)>> {
    let tokens: TokenStream = source
        .parse()
        .map_err(|error| anyhow!("the source is not Rust: {error}"))?;
    let mut found = Vec::new();
    walk(tokens, &mut found);
    Ok(found)
}

/// Finds macro calls, also within the arguments of others.
fn walk(tokens: TokenStream, found: &mut Vec<(Habit, usize, String)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        if let [.., TokenTree::Ident(name), mark] = &tokens[..index]
            && is(mark, '!')
        {
            let line = name.span().start().line;
            let arguments = arguments(group);
            if name == "assert_eq" || name == "assert_ne" {
                // The third argument is a message.
                let mut compared = arguments.iter().take(2).flatten();
                if let Some(text) = compared.find_map(long_text) {
                    found.push((Habit::LongExpectedText, line, text));
                }
            } else if name == "assert"
                && let Some(condition) = arguments.first()
            {
                for text in clauses(condition).filter_map(contained) {
                    found.push((Habit::ContainedText, line, text));
                }
            }
        }
        walk(group.stream(), found);
    }
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// The arguments of a macro call.
fn arguments(group: &Group) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    tokens
        .split(|token| is(token, ','))
        .map(<[TokenTree]>::to_vec)
        .collect()
}

/// A literal that is too long, at any depth.
fn long_text(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Group(group) => group
            .stream()
            .into_iter()
            .find_map(|token| long_text(&token)),
        TokenTree::Literal(_) => text(token)
            .filter(|text| text.len() > LONGEST)
            .map(|text| shown(&text)),
        _ => None,
    }
}

/// The parts of a condition between `&&` or `||`, without those that begin with `!`: a text that must be absent cannot
/// be seen in a snapshot.
fn clauses(condition: &[TokenTree]) -> impl Iterator<Item = &[TokenTree]> {
    condition
        .split(|token| is(token, '&') || is(token, '|'))
        .filter(|clause| !clause.first().is_some_and(|first| is(first, '!')))
}

/// The text of `.contains("…")`, at any depth.
fn contained(clause: &[TokenTree]) -> Option<String> {
    for (index, token) in clause.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        if let [.., dot, TokenTree::Ident(name)] = &clause[..index]
            && is(dot, '.')
            && name == "contains"
            && let Some(text) = inner.first().and_then(text)
        {
            return Some(shown(&text));
        }
        if let Some(text) = clauses(&inner).find_map(contained) {
            return Some(text);
        }
    }
    None
}

/// The value of a string literal.
fn text(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else {
        return None;
    };
    let text: syn::LitStr = syn::parse_str(&literal.to_string()).ok()?;
    Some(text.value())
}

fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN).collect();
    format!("{short:?}")
}
