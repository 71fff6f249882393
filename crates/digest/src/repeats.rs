//! Repeated blocks of lines, such as the frames of a recursion: the first and
//! the last are shown.

use super::line::TextLine;
use super::tokens::hash;

/// The longest block that is looked for.
const LONGEST: usize = 12;
/// The minimum number of repetitions.
const LEAST_TIMES: usize = 4;
/// The minimum number of lines of a repetition.
const LEAST_LINES: usize = 6;

/// The lines between the first and the last repetition of each block.
pub(crate) fn repeated(lines: &[TextLine<'_>]) -> Vec<std::ops::Range<usize>> {
    let texts = lines.iter().map(|line| hash(line.text.as_bytes()));
    let texts: Vec<u64> = texts.collect();
    // Of troubled lines only exact repetitions count: a number in them may matter.
    let echoes = lines.iter().zip(&texts).map(|(line, text)| {
        if line.is_troubled() {
            *text
        } else {
            echo(line.text)
        }
    });
    let echoes: Vec<u64> = echoes.collect();
    let runs = runs(lines, &echoes);
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let best = (1..=LONGEST)
            .filter_map(|length| {
                let times = 1 + runs[length - 1][at] as usize / length;
                let block = lines.get(at..at + length)?;
                let is_block = times >= LEAST_TIMES
                    && times * length >= LEAST_LINES
                    && block.iter().any(|line| !line.is_blank())
                    && is_mostly_equal(&texts[at..], length);
                is_block.then_some((times * length, length))
            })
            .max_by_key(|(total, length)| (*total, LONGEST - length));
        match best {
            Some((total, length)) => {
                found.push(at + length..at + total - length);
                at += total;
            }
            None => at += 1,
        }
    }
    found
}

/// For each length, the number of lines from each line on that recur that many
/// lines later.
fn runs(lines: &[TextLine<'_>], echoes: &[u64]) -> Vec<Vec<u32>> {
    let count = lines.len();
    let is_echoed = |at: usize, length: usize| {
        echoes[at] == echoes[at + length] && counts_up(lines[at].text, lines[at + length].text)
    };
    // How many lines from each line on echo the one before: then all of them count up,
    // and no two have to be compared again.
    let mut rises = vec![0; count];
    for at in (0..count.saturating_sub(1)).rev() {
        if is_echoed(at, 1) {
            rises[at] = rises[at + 1] + 1;
        }
    }
    let mut runs = vec![vec![0; count]; LONGEST];
    for (place, run) in runs.iter_mut().enumerate() {
        let length = place + 1;
        for at in (0..count.saturating_sub(length)).rev() {
            if rises[at] >= length || is_echoed(at, length) {
                run[at] = run[at + 1] + 1;
            }
        }
    }
    runs
}

/// Whether at most half the lines of the first block differ from the block after it.
fn is_mostly_equal(texts: &[u64], length: usize) -> bool {
    let (first, second) = texts[..2 * length].split_at(length);
    let pairs = first.iter().zip(second);
    pairs.filter(|(first, second)| first != second).count() * 2 <= length
}

/// A hash of a line in which all numbers that stand alone are equal.
fn echo(text: &str) -> u64 {
    let mut sum = 0_u64;
    let mut start = 0;
    let bytes = text.as_bytes();
    for end in memchr::memchr_iter(b' ', bytes).chain([bytes.len()]) {
        let word = &bytes[start..end];
        let is_number = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
        let word = if is_number { 7 } else { hash(word) };
        sum = sum.rotate_left(11).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word;
        start = end + 1;
    }
    sum
}

/// Whether no number that stands alone is smaller in the second line.
fn counts_up(first: &str, second: &str) -> bool {
    let (first, second) = without_common_start(first.as_bytes(), second.as_bytes());
    let is_space = |byte: &u8| *byte == b' ';
    let mut words = first.split(is_space).zip(second.split(is_space));
    words.all(|(first, second)| {
        first.len() < second.len() || first.len() == second.len() && first <= second
    })
}

/// Both texts from the first word on that differs.
fn without_common_start<'a>(first: &'a [u8], second: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let pairs = first.iter().zip(second);
    let common = pairs.take_while(|(first, second)| first == second).count();
    let start = memchr::memrchr(b' ', &first[..common]).map_or(0, |space| space + 1);
    (&first[start..], &second[start..])
}
