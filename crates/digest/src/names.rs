//! Finds plain words that are names: in `Compiling serde v1.0`, the word that is
//! another one nearly every time. Kinds that differ by it alone become one.

use super::kinds::{HashedMap, Kinds};
use super::line::{LineTraits, TextLine};
use super::tokens::{LineToken, TokenClass, placed};

/// Longer lines are prose, and prose has no kinds.
const MOST_WORDS: usize = 12;
const LONGEST: usize = 400;
/// How many different words make a name.
const LEAST_WORDS: usize = 4;
/// The hash of a word that is a name.
const NAME: u64 = 0x6e61_6d65;

/// Kinds that differ by one word.
#[derive(Default)]
struct NamedKind {
    kinds: usize,
    lines: usize,
}

/// Merges kinds that differ by a name. `is_known` says which merged kinds were
/// found in an earlier part of the output.
pub(crate) fn merge_names(lines: &mut [TextLine<'_>], is_known: impl Fn(u64) -> bool) {
    let kinds = Kinds::of(lines);
    let mut named: HashedMap<NamedKind> = HashedMap::default();
    let mut tokens = Vec::new();
    // The kind, and the kinds that it would be with a name in it.
    let mut candidates: Vec<(u64, usize)> = Vec::new();
    let mut without: Vec<u64> = Vec::new();
    for members in kinds.iter() {
        let line = &lines[members[0]];
        let start = without.len();
        without_a_word(line, &mut tokens, &mut without);
        for kind in &without[start..] {
            let group = named.entry(*kind).or_default();
            group.kinds += 1;
            group.lines += members.len();
        }
        if without.len() > start {
            candidates.push((line.kind, without.len()));
        }
    }
    let mut merged: HashedMap<u64> = HashedMap::default();
    let mut start = 0;
    for (kind, end) in candidates {
        let is_name = |kind: &&u64| {
            let group = &named[*kind];
            let varies = group.kinds >= LEAST_WORDS && group.lines <= 3 * group.kinds;
            varies || is_known(**kind)
        };
        let possible = without[start..end].iter().filter(is_name);
        if let Some(best) = possible.max_by_key(|kind| named[*kind].kinds) {
            merged.insert(kind, *best);
        }
        start = end;
    }
    for line in lines {
        if let Some(kind) = merged.get(&line.kind) {
            line.kind = *kind;
        }
    }
}

/// Adds the kinds that a line would have if one of its words were a name.
fn without_a_word<'a>(line: &TextLine<'a>, tokens: &mut Vec<LineToken<'a>>, kinds: &mut Vec<u64>) {
    let is_fixed = line.traits.has(LineTraits::SUCCEEDED) || line.traits.has(LineTraits::JSON);
    if is_fixed || line.text.len() > LONGEST {
        return;
    }
    tokens.clear();
    tokens.extend(line.tokens().take(4 * MOST_WORDS));
    let is_word = |token: &&LineToken<'_>| token.class == TokenClass::Word;
    let spoken = tokens.iter().filter(|token| token.is_spoken()).count();
    let words = tokens.iter().filter(is_word).count();
    if !(2..=MOST_WORDS).contains(&words) {
        return;
    }
    let stamp = u64::from(line.stamp.is_some());
    for (place, token) in tokens.iter().enumerate() {
        let others = spoken - usize::from(token.is_spoken());
        if token.class == TokenClass::Word && others > 0 {
            let without = (line.kind ^ stamp).wrapping_sub(placed(token.hash, place));
            kinds.push(without.wrapping_add(placed(NAME, place)) ^ stamp);
        }
    }
}
