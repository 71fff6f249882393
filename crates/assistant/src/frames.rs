//! Splits the bytes of a stream into frames.
//!
//! A frame is the data of a server-sent event, or a line if the provider sends
//! one JSON value per line. Bytes may be split anywhere.

/// The separation of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    Lines,
}

/// The maximum size of a frame.
const LARGEST: usize = 64 << 20;

/// Buffers bytes and returns frames.
#[derive(Debug)]
pub(crate) struct Frames {
    framing: Framing,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The data of the unfinished event.
    data: Option<String>,
}

/// More came than any frame is long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            data: None,
        }
    }

    /// Adds the frames that these bytes complete to `frames`.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        frames: &mut Vec<String>,
    ) -> Result<(), TooLarge> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            frames.extend(self.end_line());
        }
        self.line.extend_from_slice(bytes);
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > LARGEST {
            return Err(TooLarge);
        }
        Ok(())
    }

    /// Ends the stream and returns an unterminated frame.
    pub(crate) fn end(&mut self, frames: &mut Vec<String>) {
        if !self.line.is_empty() {
            frames.extend(self.end_line());
        }
        frames.extend(self.data.take());
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        match self.framing {
            Framing::Lines => (!line.trim().is_empty()).then(|| line.to_owned()),
            Framing::Events if line.is_empty() => self.data.take(),
            Framing::Events => {
                if let Some(data) = line.strip_prefix("data:") {
                    let data = data.strip_prefix(' ').unwrap_or(data);
                    match &mut self.data {
                        Some(held) => {
                            held.push('\n');
                            held.push_str(data);
                        }
                        None => self.data = Some(data.to_owned()),
                    }
                }
                // Names repeat what the data says; comments say nothing.
                None
            }
        }
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
