//! Detects plain words that are names: in `Compiling serde v1.0`, the word that
//! differs nearly every time. Kinds that differ only by it are merged.

use super::kinds::{HashedMap, Kinds};
use super::line::{COUNTED_TOKENS, LineTraits, TextLine};
use super::tokens::{LineToken, TokenClass, placed};

/// Longer lines are prose, and prose has no kinds.
const MOST_WORDS: u8 = 12;
const LONGEST: usize = 400;
/// The minimum number of different words of a name.
const LEAST_WORDS: usize = 4;
/// The hash of a word that is a name.
const NAME: u64 = 0x6e61_6d65;

/// Kinds that differ by one word.
#[derive(Default)]
struct NamedKind {
    kinds: usize,
    lines: usize,
}

/// A kind, and the end of its range in the list of kinds that it could merge
/// into.
struct Candidate {
    kind: u64,
    lines: usize,
    end: usize,
}

/// Approximate counts of hashes, never too small. It keeps the words of prose,
/// which occur once each, out of a map.
struct RoughCounts {
    counts: Vec<u8>,
}

impl RoughCounts {
    fn of(hashes: &[u64]) -> Self {
        let size = (2 * hashes.len()).next_power_of_two();
        let mut rough = Self {
            counts: vec![0; size],
        };
        for hash in hashes {
            let slot = rough.slot(*hash);
            rough.counts[slot] = rough.counts[slot].saturating_add(1);
        }
        rough
    }

    fn slot(&self, hash: u64) -> usize {
        // The size is a power of two, so the lower bits say it all.
        usize::try_from(hash & (self.counts.len() as u64 - 1)).unwrap_or(0)
    }

    fn may_be_many(&self, hash: u64) -> bool {
        usize::from(self.counts[self.slot(hash)]) >= LEAST_WORDS
    }
}

/// Merges kinds that differ by a name. `is_known` says which merged kinds were
/// found in an earlier part of the output.
pub(crate) fn merge_names(lines: &mut [TextLine<'_>], is_known: impl Fn(u64) -> bool) {
    let kinds = Kinds::of(lines);
    let mut tokens = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut without: Vec<u64> = Vec::new();
    for members in kinds.iter() {
        let line = &lines[members[0]];
        let start = without.len();
        without_a_word(line, &mut tokens, &mut without);
        if without.len() > start {
            candidates.push(Candidate {
                kind: line.kind,
                lines: members.len(),
                end: without.len(),
            });
        }
    }
    let rough = RoughCounts::of(&without);
    let mut named: HashedMap<NamedKind> = HashedMap::default();
    let mut start = 0;
    for candidate in &candidates {
        let kinds = without[start..candidate.end].iter();
        for kind in kinds.filter(|kind| rough.may_be_many(**kind) || is_known(**kind)) {
            let group = named.entry(*kind).or_default();
            group.kinds += 1;
            group.lines += candidate.lines;
        }
        start = candidate.end;
    }
    let mut merged: HashedMap<u64> = HashedMap::default();
    let mut start = 0;
    for candidate in &candidates {
        let groups = without[start..candidate.end].iter();
        let groups = groups.filter_map(|kind| named.get(kind).map(|group| (*kind, group)));
        let possible = groups.filter(|(kind, group)| {
            let varies = group.kinds >= LEAST_WORDS && group.lines <= 3 * group.kinds;
            varies || is_known(*kind)
        });
        if let Some((best, _)) = possible.max_by_key(|(_, group)| group.kinds) {
            merged.insert(candidate.kind, best);
        }
        start = candidate.end;
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
    let is_prose = line.text.len() > LONGEST || !(2..=MOST_WORDS).contains(&line.words);
    if is_fixed || is_prose {
        return;
    }
    tokens.clear();
    tokens.extend(line.tokens().take(COUNTED_TOKENS));
    let spoken = tokens.iter().filter(|token| token.is_spoken()).count();
    let stamp = u64::from(line.stamp.is_some());
    for (place, token) in tokens.iter().enumerate() {
        let others = spoken - usize::from(token.is_spoken());
        if token.class == TokenClass::Word && others > 0 {
            let without = (line.kind ^ stamp).wrapping_sub(placed(token.hash, place));
            kinds.push(without.wrapping_add(placed(NAME, place)) ^ stamp);
        }
    }
}
