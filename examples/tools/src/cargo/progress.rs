//! Cargo's progress bar, folded to a line per tenth.

use std::io::BufRead;

use windlass_sdk::ToolHandle;

/// How many of cargo's other lines are kept.
const KEPT: usize = 20;

/// Tells progress until there is no more; gives the last lines that were
/// something else, which say why cargo failed where no compiler did.
pub(super) fn tell(stderr: impl BufRead, handle: &ToolHandle) -> Vec<String> {
    let mut told = 0;
    let mut kept = Vec::new();
    for line in lines(stderr) {
        match progress_of(&line) {
            Some((done, all)) => {
                let tenth = done * 10 / all.max(1);
                if tenth > told {
                    told = tenth;
                    handle.report(format!("{done} of {all} built"));
                } else if tenth + 1 < told {
                    // Another bar has begun.
                    told = 0;
                }
            }
            None if line.trim().is_empty() => {}
            None => {
                if kept.len() == KEPT {
                    kept.remove(0);
                }
                kept.push(line);
            }
        }
    }
    kept
}

/// Lines, where a carriage return ends one too: that is how a bar is redrawn.
fn lines(stderr: impl BufRead) -> impl Iterator<Item = String> {
    let mut bytes = stderr.bytes().map_while(Result::ok);
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        for byte in bytes.by_ref() {
            if matches!(byte, b'\n' | b'\r') {
                return Some(String::from_utf8_lossy(&line).into_owned());
            }
            line.push(byte);
        }
        (!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned())
    })
}

/// How far the bar on this line is, if there is one.
fn progress_of(line: &str) -> Option<(usize, usize)> {
    let (_, bar) = line.split_once("Building [")?;
    let (_, rest) = bar.split_once("] ")?;
    let (done, rest) = rest.split_once('/')?;
    let all: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((done.trim().parse().ok()?, all.parse().ok()?))
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
