//! The beginning of a seccomp filter: a binary search that lets through the calls that no rule is about.
//!
//! The kernel runs a new filter for every number of a call, to find the numbers that it always allows. With rules that
//! stand one after the other that took longer than everything else that confines a program. The rules still judge every
//! call that they are about; the search only leaves out those that they would allow.

use std::collections::BTreeSet;

use super::filter::{bytes, instruction};

/// The numbers of calls from here on are the second table of x86-64. The rules refuse them.
const SECOND_TABLE: u32 = 0x4000_0000;

/// The architecture as the kernel tells it to a filter; `None` where it is not known here, and the rules judge all calls.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// Instructions that allow all calls but those of these numbers, which go on behind them. Empty where that cannot be done.
pub(super) fn shortcut(judged: &BTreeSet<u32>) -> Vec<u8> {
    let Some(architecture) = ARCHITECTURE else {
        return Vec::new();
    };
    let mut search = Vec::new();
    if !find(&ranges(judged), &mut search) {
        return Vec::new();
    }
    let Ok(length) = u8::try_from(search.len() + 1) else {
        return Vec::new();
    };
    let mut program = bytes(instruction::LOAD, 0, 0, instruction::ARCHITECTURE_AT).to_vec();
    program.extend(bytes(instruction::JUMP_EQUAL, 0, length, architecture));
    program.extend(bytes(instruction::LOAD, 0, 0, instruction::NUMBER_AT));
    let end = search.len();
    for (index, step) in search.into_iter().enumerate() {
        program.extend(match step {
            Step::AtLeast { number, skip } => bytes(instruction::JUMP_AT_LEAST, skip, 0, number),
            Step::Allow => bytes(instruction::RETURN, 0, 0, instruction::ALLOW),
            Step::Judge => {
                let rest = u32::try_from(end - index - 1).expect("at most 255 steps");
                bytes(instruction::JUMP, 0, 0, rest)
            }
        });
    }
    program
}

enum Step {
    /// Passes over `skip` steps if the call's number is this or higher.
    AtLeast {
        number: u32,
        skip: u8,
    },
    Allow,
    Judge,
}

/// The first number of each range, and whether the rules judge it.
fn ranges(judged: &BTreeSet<u32>) -> Vec<(u32, bool)> {
    let mut ranges = vec![(0, false)];
    for number in judged.iter().copied() {
        match ranges.last_mut() {
            // The range behind the number before this one has nothing in it.
            Some(last) if last.0 == number => last.1 = true,
            _ => ranges.push((number, true)),
        }
        ranges.push((number + 1, false));
    }
    ranges.push((SECOND_TABLE, true));
    ranges.dedup_by_key(|(_, is_judged)| *is_judged);
    ranges
}

/// Adds the search among these ranges; `false` if it is too long.
fn find(ranges: &[(u32, bool)], search: &mut Vec<Step>) -> bool {
    let [(_, is_judged)] = ranges else {
        let (below, above) = ranges.split_at(ranges.len() / 2);
        let place = search.len();
        search.push(Step::Judge);
        if !find(below, search) {
            return false;
        }
        let Ok(skip) = u8::try_from(search.len() - place - 1) else {
            return false;
        };
        let (number, _) = above[0];
        search[place] = Step::AtLeast { number, skip };
        return find(above, search);
    };
    search.push(if *is_judged { Step::Judge } else { Step::Allow });
    true
}
