//! Reads of a session by its driver. The assistant's cursor does not move.

use std::str::FromStr as _;

use anstream::adapter::strip_bytes;
use windlass_protocol::{
    DriverRequest, DriverScreen, DriverSession, DriverValue, HandleId, OutputPiece, ToolOffer,
};
use windlass_runtime::{HandleRef, Session};
use windlass_schema::{Dialect, render};

use super::fault::DriveFault;

/// The maximum number of bytes of output in one reply.
const MOST: u64 = 256 << 10;

pub(crate) fn session(session: &Session) -> DriverValue {
    DriverValue::Session(DriverSession {
        id: session.id().clone(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        root: session.root().to_owned(),
        trusted: session.is_trusted(),
        last_event: session.journal().last(),
    })
}

/// The offered tools, with their parameters in a dialect.
pub(crate) fn tools(session: &Session, dialect: Option<&str>) -> Result<DriverValue, DriveFault> {
    let dialect = dialect.map_or(Ok(Dialect::JsonSchema), Dialect::from_str)?;
    let tools = session.tools().offered().map(|tool| {
        let tool = tool.definition();
        let description = tool.summary.as_ref().or(tool.description.as_ref());
        ToolOffer {
            name: tool.name.clone(),
            description: description.cloned().unwrap_or_default(),
            parameters: render(&tool.shape, dialect),
        }
    });
    Ok(DriverValue::Tools(tools.collect()))
}

/// Reads a handle; waits for news if the request says so.
pub(crate) async fn wait_for(
    session: &Session,
    request: DriverRequest,
) -> Result<DriverValue, DriveFault> {
    match request {
        DriverRequest::Screen {
            handle,
            since,
            wait,
        } => screen(session, &handle, since, wait).await,
        DriverRequest::Output {
            handle,
            from,
            wait,
            lines,
        } => {
            let handle = session.handle(handle.as_str())?;
            let piece = output(handle, from, wait, lines).await;
            Ok(DriverValue::Output(piece))
        }
        _ => unreachable!("only these read a handle"),
    }
}

async fn screen(
    session: &Session,
    id: &HandleId,
    since: Option<u64>,
    wait: bool,
) -> Result<DriverValue, DriveFault> {
    let handle = session.handle(id.as_str())?;
    if wait && let Some(since) = since {
        tokio::select! {
            () = handle.screen_changed(since) => {}
            () = handle.stopped() => {}
        }
    }
    // Checked first, so that a screen drawn before the end is included.
    let ended = handle.is_stopped();
    let screen = handle.screen(since);
    let screen = screen.ok_or_else(|| DriveFault::NoScreen(id.clone()))?;
    let screen = DriverScreen { screen, ended };
    Ok(DriverValue::Screen(Box::new(screen)))
}

async fn output(handle: HandleRef, from: u64, wait: bool, lines: bool) -> OutputPiece {
    let mut seen = from;
    loop {
        if wait {
            handle.written_past(seen).await;
        }
        // Checked first, so that all output before the end is included.
        let stopped = handle.is_stopped();
        let written = handle.written();
        let end = written.min(from.saturating_add(MOST)).max(from);
        let bytes = handle.log(from..end);
        let omitted = (end - from).saturating_sub(bytes.len() as u64);
        let last = stopped && end == written;
        let length = match (last, lines) {
            (true, _) => bytes.len(),
            (false, true) => whole_lines(&bytes),
            (false, false) => whole_characters(&bytes),
        };
        // A line that is longer than a reply is split.
        let length = match length {
            0 if end - from == MOST => whole_characters(&bytes),
            length => length,
        };
        if length > 0 || omitted > 0 || last || !wait {
            let text = &bytes[..length];
            return OutputPiece {
                from,
                to: from + omitted + length as u64,
                text: if lines { plain(text) } else { lossy(text) },
                omitted_bytes: omitted,
                ended: last,
            };
        }
        seen = written;
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Lines without control sequences. A redrawn line has its final text.
fn plain(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (line, end) = match line.strip_suffix(b"\n") {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let redrawn = line.rsplit(|byte| *byte == b'\r').next();
        let line = strip_bytes(redrawn.unwrap_or(line)).into_vec();
        text.push_str(&lossy(&line));
        text.push_str(end);
    }
    text
}

fn whole_lines(bytes: &[u8]) -> usize {
    let newline = bytes.iter().rposition(|byte| *byte == b'\n');
    newline.map_or(0, |at| at + 1)
}

/// The number of bytes before an incomplete character.
fn whole_characters(bytes: &[u8]) -> usize {
    // A character has at most three bytes after its first.
    let tail = bytes.len().saturating_sub(4);
    let continues = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    let Some(last) = bytes[tail..].iter().rposition(|byte| !continues(byte)) else {
        return bytes.len();
    };
    match std::str::from_utf8(&bytes[tail + last..]) {
        Err(error) if error.error_len().is_none() => tail + last,
        _ => bytes.len(),
    }
}

#[cfg(test)]
#[path = "reads_tests.rs"]
mod tests;
