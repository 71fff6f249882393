//! Assembles a seccomp filter: a binary search for the call's number, and a few
//! tests of arguments.
//!
//! The kernel translates a filter at every program start, and runs it for every
//! call number to find those that are always allowed. Both the filter and the
//! path to a verdict must be short: sequential rules took 0.3 ms of each start.

use std::collections::BTreeMap;

use super::confine_wire::INSTRUCTION;

/// The verdict on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    Refuse,
    /// Fail as if the kernel lacked the call.
    Absent,
    /// Apply the tests with this index.
    ByArguments(usize),
}

/// A test of one half of an argument. The last test of a list leads to one of two verdicts.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArgumentTest {
    /// The index of the half: two per argument, the lower one first.
    pub(super) half: u32,
    pub(super) relation: Relation,
    pub(super) value: u32,
    pub(super) then: TestOutcome,
    pub(super) otherwise: TestOutcome,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Relation {
    Equals,
    HasAnyBitOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestOutcome {
    Allow,
    Refuse,
    NextTest,
}

/// The first number of the x32 system calls of x86-64.
const SECOND_TABLE: u32 = 0x4000_0000;

const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const JUMP_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
const END_PROCESS: u32 = 0x8000_0000;

/// The kernel's number of the architecture; `None` if it is not supported.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xC000_00F3)
} else {
    None
};

/// A filter that judges the given calls and allows all others, as bytes. Empty if this architecture is not supported.
pub(super) fn write(calls: &BTreeMap<u32, Verdict>, tests: &[&[ArgumentTest]]) -> Vec<u8> {
    let Some(architecture) = ARCHITECTURE else {
        return Vec::new();
    };
    let mut program = FilterProgram::default();
    program.load(ARCHITECTURE_AT);
    let foreign = JumpTarget::Label(Label::EndProcess);
    program.jump(JUMP_EQUAL, architecture, JumpTarget::Next, foreign);
    program.load(NUMBER_AT);
    program.search(&ranges(calls));
    for (index, tests) in tests.iter().enumerate() {
        program.define(Label::Tests(index));
        program.test(tests);
    }
    for (label, value) in [
        (Label::Allow, ALLOW),
        (Label::Refuse, ERRNO | libc::EPERM.cast_unsigned()),
        (Label::Absent, ERRNO | libc::ENOSYS.cast_unsigned()),
        (Label::EndProcess, END_PROCESS),
    ] {
        program.define(label);
        program.lines.push(FilterLine::Return(value));
    }
    program.bytes().unwrap_or_default()
}

/// The first number of each range, with its verdict.
fn ranges(calls: &BTreeMap<u32, Verdict>) -> Vec<(u32, Verdict)> {
    let mut ranges = vec![(0, Verdict::Allow)];
    for (number, verdict) in calls {
        match ranges.last_mut() {
            // The range between this number and the previous one is empty.
            Some(last) if last.0 == *number => last.1 = *verdict,
            _ => ranges.push((*number, *verdict)),
        }
        ranges.push((number + 1, Verdict::Allow));
    }
    if cfg!(target_arch = "x86_64") {
        ranges.push((SECOND_TABLE, Verdict::Absent));
    }
    ranges.dedup_by_key(|(_, verdict)| *verdict);
    ranges
}

#[derive(Default)]
struct FilterProgram {
    lines: Vec<FilterLine>,
    labels: Vec<(Label, usize)>,
    searches: usize,
}

enum FilterLine {
    Load(u32),
    Jump {
        code: u16,
        value: u32,
        then: JumpTarget,
        otherwise: JumpTarget,
    },
    Return(u32),
}

#[derive(Clone, Copy)]
enum JumpTarget {
    Next,
    Label(Label),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Allow,
    Refuse,
    Absent,
    EndProcess,
    Tests(usize),
    Search(usize),
}

impl FilterProgram {
    fn load(&mut self, offset: u32) {
        self.lines.push(FilterLine::Load(offset));
    }

    fn jump(&mut self, code: u16, value: u32, then: JumpTarget, otherwise: JumpTarget) {
        self.lines.push(FilterLine::Jump {
            code,
            value,
            then,
            otherwise,
        });
    }

    fn define(&mut self, label: Label) {
        self.labels.push((label, self.lines.len()));
    }

    /// Finds the range of the call's number. There are at least two.
    fn search(&mut self, ranges: &[(u32, Verdict)]) {
        let (below, above) = ranges.split_at(ranges.len() / 2);
        let is_single = |ranges: &[(u32, Verdict)]| ranges.len() == 1;
        let label_above = if is_single(above) {
            label_of(above[0].1)
        } else {
            self.searches += 1;
            Label::Search(self.searches)
        };
        let to_below = if is_single(below) {
            JumpTarget::Label(label_of(below[0].1))
        } else {
            JumpTarget::Next
        };
        self.jump(
            JUMP_AT_LEAST,
            above[0].0,
            JumpTarget::Label(label_above),
            to_below,
        );
        if !is_single(below) {
            self.search(below);
        }
        if !is_single(above) {
            self.define(label_above);
            self.search(above);
        }
    }

    fn test(&mut self, tests: &[ArgumentTest]) {
        let mut loaded = None;
        for test in tests {
            if loaded.replace(test.half) != Some(test.half) {
                self.load(ARGUMENTS_AT + test.half * 4);
            }
            let code = match test.relation {
                Relation::Equals => JUMP_EQUAL,
                Relation::HasAnyBitOf => JUMP_ANY_BIT,
            };
            let target = |outcome| match outcome {
                TestOutcome::Allow => JumpTarget::Label(Label::Allow),
                TestOutcome::Refuse => JumpTarget::Label(Label::Refuse),
                TestOutcome::NextTest => JumpTarget::Next,
            };
            self.jump(code, test.value, target(test.then), target(test.otherwise));
        }
    }

    /// `None` if it is too long for one-byte jumps.
    fn bytes(&self) -> Option<Vec<u8>> {
        let distance = |from: usize, target: JumpTarget| -> Option<u8> {
            let JumpTarget::Label(label) = target else {
                return Some(0);
            };
            let (_, place) = self.labels.iter().find(|(known, _)| *known == label)?;
            u8::try_from(place.checked_sub(from + 1)?).ok()
        };
        let mut bytes = Vec::with_capacity(self.lines.len() * INSTRUCTION);
        for (index, line) in self.lines.iter().enumerate() {
            let (code, jt, jf, k) = match *line {
                FilterLine::Load(offset) => (LOAD, 0, 0, offset),
                FilterLine::Return(value) => (RETURN, 0, 0, value),
                FilterLine::Jump {
                    code,
                    value,
                    then,
                    otherwise,
                } => {
                    let (then, otherwise) = (distance(index, then)?, distance(index, otherwise)?);
                    (code, then, otherwise, value)
                }
            };
            bytes.extend(code.to_ne_bytes());
            bytes.extend([jt, jf]);
            bytes.extend(k.to_ne_bytes());
        }
        Some(bytes)
    }
}

fn label_of(verdict: Verdict) -> Label {
    match verdict {
        Verdict::Allow => Label::Allow,
        Verdict::Refuse => Label::Refuse,
        Verdict::Absent => Label::Absent,
        Verdict::ByArguments(tests) => Label::Tests(tests),
    }
}
