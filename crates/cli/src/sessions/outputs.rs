//! The outputs of a recorded call: as the assistant read them, and in full.

use std::io::{BufRead as _, BufReader, Write};

use windlass_protocol::{PartState, ToolPart};
use windlass_runtime::output::{Output, OutputOptions, Stream};

use crate::safe_text::SafeText;

/// Prints the reply as the assistant read it.
pub(super) fn print_seen(to: &mut impl Write, part: &ToolPart) -> anyhow::Result<()> {
    let reply = match &part.state {
        PartState::Completed(state) => &state.output,
        PartState::Error(state) => &state.error,
        PartState::Pending(_) | PartState::Running(_) => return Ok(()),
    };
    writeln!(to, "             read by the assistant:")?;
    let mut safe = SafeText::default();
    for line in reply.lines() {
        to.write_all(b"             ")?;
        to.write_all(&safe.push(line.as_bytes()))?;
        to.write_all(b"\n")?;
    }
    Ok(())
}

/// Prints the full output of a digested reply, with the line numbers that its markers use.
pub(super) fn print_whole(to: &mut impl Write, part: &ToolPart) -> anyhow::Result<()> {
    let metadata = match &part.state {
        PartState::Completed(state) => Some(&state.metadata),
        PartState::Error(state) => state.metadata.as_ref(),
        PartState::Pending(_) | PartState::Running(_) => None,
    };
    let log = metadata.and_then(|metadata| metadata.get("digest")?["log"].as_str());
    let Some(log) = log else {
        return Ok(());
    };
    writeln!(to, "             all of it:")?;
    let file = match std::fs::File::open(log) {
        Ok(file) => file,
        Err(error) => {
            writeln!(to, "             {log}: {error}")?;
            return Ok(());
        }
    };
    let mut file = BufReader::new(file);
    let mut numbers = 1_u64..;
    let mut line = Vec::new();
    // Line by line, so that memory use is independent of the length.
    while file.read_until(b'\n', &mut line)? > 0 {
        let output = Output::new(OutputOptions {
            memory: line.len(),
            ..OutputOptions::default()
        });
        output.push(Stream::Stdout, &line);
        output.finish();
        let text = output.read_all(usize::MAX).text;
        let number = numbers.next().unwrap_or(u64::MAX);
        writeln!(to, "{number:>12} {}", text.trim_end_matches('\n'))?;
        line.clear();
    }
    Ok(())
}
