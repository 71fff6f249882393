//! Groups lines by kind.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::line::TextLine;

/// A map whose keys are hashes already.
pub(crate) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<KeyHasher>>;

/// A set of hashes.
pub(crate) type HashedSet = HashSet<u64, BuildHasherDefault<KeyHasher>>;

/// Uses a hash unchanged.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = super::tokens::hash(bytes);
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The kinds of a text and their members, in order of their first line.
pub(crate) struct Kinds {
    /// The kind of each line; blank lines have none.
    of_line: Vec<u32>,
    starts: Vec<usize>,
    members: Vec<usize>,
}

const NO_KIND: u32 = u32::MAX;

impl Kinds {
    pub(crate) fn of(lines: &[TextLine<'_>]) -> Self {
        let mut ids: HashedMap<u32> = HashedMap::default();
        let mut counts: Vec<usize> = Vec::new();
        let mut of_line = Vec::with_capacity(lines.len());
        for line in lines {
            if line.is_blank() {
                of_line.push(NO_KIND);
                continue;
            }
            let next = u32::try_from(counts.len()).expect("a text has fewer lines");
            let id = *ids.entry(line.kind).or_insert(next);
            if id == next {
                counts.push(0);
            }
            counts[id as usize] += 1;
            of_line.push(id);
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0;
        for count in &counts {
            starts.push(total);
            total += count;
        }
        starts.push(total);
        let mut next = starts.clone();
        let mut members = vec![0; total];
        for (index, id) in of_line.iter().enumerate() {
            if *id != NO_KIND {
                let place = &mut next[*id as usize];
                members[*place] = index;
                *place += 1;
            }
        }
        Self {
            of_line,
            starts,
            members,
        }
    }

    /// The lines of each kind.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let bounds = self.starts.windows(2);
        bounds.map(|bounds| &self.members[bounds[0]..bounds[1]])
    }

    /// All lines of the kind of one line. A blank line is alone.
    pub(crate) fn like(&self, line: usize) -> &[usize] {
        match self.of_line[line] {
            NO_KIND => &[],
            id => &self.members[self.starts[id as usize]..self.starts[id as usize + 1]],
        }
    }
}
