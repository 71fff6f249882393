//! `windlass logs`: the output of a handle.

use std::io;
use std::process::ExitCode;

use anyhow::Context as _;
use regex::Regex;
use serde_json::json;
use windlass_control::{EventReader, PeerError};
use windlass_protocol::{HandleInfo, HandleState, LineRange};

use crate::ages::read_age;
use crate::args::{Global, LogsArgs};
use crate::print::{self, Printer};
use crate::reach::{self, HandleTarget};
use crate::safe_text::SafeText;
use crate::stdout::{self, errln};

/// The maximum size of one response of the interface.
const STEP: u64 = 1 << 20;
/// How much is read at a time to find the last lines.
const BACK: u64 = 64 << 10;

pub(crate) async fn run(global: &Global, args: LogsArgs) -> anyhow::Result<ExitCode> {
    let printer = Printer::new(global);
    let since = args.since.as_deref().map(read_age).transpose()?;
    let pattern = args.grep.as_deref().map(Regex::new).transpose();
    let pattern =
        pattern.context("`--grep` needs a valid regular expression, such as 'error|warn'")?;
    let target = reach::find(&args.handle).await?;
    if let Some(lines) = args.lines {
        return print_lines(printer, &target, lines, args.numbers).await;
    }
    // Subscribe before reading, so that nothing is missed in between.
    let mut events = if args.follow {
        Some(target.peer.events(&target.events(false), None).await?)
    } else {
        None
    };
    let mut writer = LogWriter {
        printer,
        pattern,
        is_raw: args.raw,
        by_line: args.grep.is_some() || printer.is_json,
        follows: args.follow,
        safe: SafeText::default(),
        rest: Vec::new(),
        lines: Vec::new(),
        numbers: args.numbers.then(LineNumbers::default),
    };
    let reader = LogReader {
        target: &target,
        since: since.map(|since| since.as_secs_f64()),
        plain: args.plain || printer.is_json,
    };
    let copied = reader.copy_all(args.last, events.as_mut(), &mut writer);
    match copied.await {
        // The end of a runtime is also the end of its handles.
        Err(error) if args.follow && is_end_of_runtime(&error) => {
            errln!(
                "windlass: the runtime of `{}` has ended; the last output may be missing",
                args.handle
            );
        }
        copied => copied?,
    }
    writer.finish(&target)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the runtime ended after it was found.
fn is_end_of_runtime(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<PeerError>();
    matches!(
        error,
        Some(PeerError::Unreachable(..) | PeerError::Broken(_))
    )
}

/// Reads a handle's log.
struct LogReader<'a> {
    target: &'a HandleTarget,
    /// Only bytes that arrived within this many seconds.
    since: Option<f64>,
    plain: bool,
}

impl LogReader<'_> {
    /// Copies the last lines, or everything; with events, until the handle has stopped.
    async fn copy_all(
        &self,
        last: Option<usize>,
        mut events: Option<&mut EventReader>,
        writer: &mut LogWriter,
    ) -> anyhow::Result<()> {
        let mut at = None;
        loop {
            // Checked first, so that all output before the end is read.
            let info: HandleInfo = self.target.peer.get(&self.target.path("")).await?;
            let from = match (at, last) {
                (Some(at), _) => at,
                (None, Some(count)) => self.last_lines(info.written, count).await?,
                (None, None) => 0,
            };
            self.copy(from, info.written, writer).await?;
            at = Some(info.written);
            let is_running = info.state != HandleState::Stopped;
            let Some(events) = events.as_mut().filter(|_| is_running) else {
                return Ok(());
            };
            // Any event may mean more output.
            if events.next().await?.is_none() {
                return Ok(());
            }
        }
    }

    async fn copy(&self, mut at: u64, end: u64, writer: &mut LogWriter) -> anyhow::Result<()> {
        while at < end {
            let to = end.min(at + STEP);
            writer.write(&self.read(at, to, self.plain).await?)?;
            at = to;
        }
        Ok(())
    }

    async fn read(&self, from: u64, to: u64, plain: bool) -> anyhow::Result<Vec<u8>> {
        let since = self
            .since
            .map_or_else(String::new, |since| format!("&since_secs={since}"));
        let path = format!("/log?from={from}&to={to}&plain={plain}{since}");
        Ok(self
            .target
            .peer
            .bytes(&self.target.path(&path))
            .await?
            .into())
    }

    /// The offset at which the last `count` lines begin.
    async fn last_lines(&self, end: u64, count: usize) -> anyhow::Result<u64> {
        let mut at = end;
        let mut lines = 0;
        while at > 0 {
            let from = at.saturating_sub(BACK);
            let path = format!("/log?from={from}&to={at}");
            let bytes = self.target.peer.bytes(&self.target.path(&path)).await?;
            for (place, byte) in bytes.iter().enumerate().rev() {
                // The newline of the last line does not start another line.
                if *byte == b'\n' && from + place as u64 + 1 < end {
                    lines += 1;
                    if lines == count {
                        return Ok(from + place as u64 + 1);
                    }
                }
            }
            at = from;
        }
        Ok(if count == 0 { end } else { 0 })
    }
}

/// Writes a log according to the options.
struct LogWriter {
    printer: Printer,
    pattern: Option<Regex>,
    is_raw: bool,
    /// Whether the output is processed line by line.
    by_line: bool,
    follows: bool,
    safe: SafeText,
    /// An incomplete line.
    rest: Vec<u8>,
    /// Lines for the JSON document.
    lines: Vec<String>,
    numbers: Option<LineNumbers>,
}

impl LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_raw {
            return stdout::write(bytes);
        }
        let safe = self.safe.push(bytes);
        if !self.by_line {
            return match &mut self.numbers {
                Some(numbers) => stdout::write(&numbers.push(&safe)),
                None => stdout::write(&safe),
            };
        }
        self.rest.extend(safe);
        while let Some(length) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=length).collect();
            self.line(&line[..length])?;
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches('\r');
        let plain = anstream::adapter::strip_str(text).to_string();
        if self
            .pattern
            .as_ref()
            .is_some_and(|pattern| !pattern.is_match(&plain))
        {
            return Ok(());
        }
        if !self.printer.is_json {
            return stdout::write(format!("{text}\n").as_bytes());
        }
        if self.follows {
            return print::json_line(&json!({ "line": plain }));
        }
        self.lines.push(plain);
        Ok(())
    }

    fn finish(mut self, target: &HandleTarget) -> io::Result<()> {
        if !self.rest.is_empty() {
            let rest = std::mem::take(&mut self.rest);
            self.line(&rest)?;
        }
        if self.printer.is_json && !self.follows {
            print::json(&json!({
                "session": target.session.id,
                "handle": target.handle.id,
                "lines": self.lines,
            }))?;
        }
        Ok(())
    }
}

/// Writes lines by their numbers.
async fn print_lines(
    printer: Printer,
    target: &HandleTarget,
    lines: LineRange,
    numbers: bool,
) -> anyhow::Result<ExitCode> {
    /// About the maximum size of one response of the interface.
    const STEP: u64 = 1000;
    let (mut first, last) = lines.numbers().into_inner();
    let mut texts: Vec<String> = Vec::new();
    loop {
        let to = last.min(first.saturating_add(STEP - 1));
        let path = target.path(&format!("/log?lines={first}-{to}"));
        let bytes = target.peer.bytes(&path).await?;
        let count = bytes.split(|byte| *byte == b'\n').count() as u64 - 1;
        if printer.is_json {
            let text = String::from_utf8_lossy(&bytes);
            texts.extend(text.lines().map(str::to_owned));
        } else if numbers {
            let mut numbers = LineNumbers::from(first);
            stdout::write(&numbers.push(&bytes))?;
        } else {
            stdout::write(&bytes)?;
        }
        if to == last || count < STEP {
            if printer.is_json {
                print::json(&json!({
                    "session": target.session.id,
                    "handle": target.handle.id,
                    "lines": texts,
                }))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        first = to + 1;
    }
}

/// Prefixes each line of a text with its number. The text arrives in pieces.
struct LineNumbers {
    next: u64,
    is_at_start: bool,
}

impl Default for LineNumbers {
    fn default() -> Self {
        Self::from(1)
    }
}

impl LineNumbers {
    fn from(next: u64) -> Self {
        Self {
            next,
            is_at_start: true,
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut numbered = Vec::with_capacity(bytes.len() * 5 / 4);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.is_at_start {
                numbered.extend_from_slice(format!("{:>6}  ", self.next).as_bytes());
                self.next += 1;
            }
            numbered.extend_from_slice(line);
            self.is_at_start = line.ends_with(b"\n");
        }
        numbered
    }
}

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;
