//! A snapshot of a terminal and its program.

use crate::bytes::{ByteReader, ByteWriter};

/// The kind of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPrompt {
    /// The program waits for any input.
    Input,
    /// The program waits for a line that is not echoed.
    Secret,
}

/// A process that may read the terminal's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkReader {
    /// Its names.
    pub names: Vec<String>,
    /// Its arguments, without the program name.
    pub args: Vec<String>,
    /// Whether it is in the foreground and receives typed input.
    pub is_foreground: bool,
}

/// A snapshot of a terminal and its program at an output offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramStatus {
    /// The offset in the output.
    pub offset: u64,
    /// The number of the last order executed before it.
    pub orders: u64,
    /// The prompt at which the program waits, if any.
    pub prompt: Option<LinkPrompt>,
    /// Whether the terminal is in line mode.
    pub canonical: bool,
    /// Whether the terminal echoes typed text.
    pub echo: bool,
    /// The processes that may read typed input, if they can be determined.
    pub readers: Option<Vec<LinkReader>>,
}

impl ProgramStatus {
    pub(super) fn write(&self, head: ByteWriter) -> ByteWriter {
        let prompt = match self.prompt {
            None => 0,
            Some(LinkPrompt::Input) => 1,
            Some(LinkPrompt::Secret) => 2,
        };
        head.u64(self.offset)
            .u64(self.orders)
            .u8(prompt)
            .u8(u8::from(self.canonical) | u8::from(self.echo) << 1)
            .option(self.readers.as_ref(), |writer, readers| {
                writer.list(readers, |writer, reader| {
                    let text = |writer: ByteWriter, text: &String| writer.bytes(text.as_bytes());
                    writer
                        .list(&reader.names, text)
                        .list(&reader.args, text)
                        .u8(u8::from(reader.is_foreground))
                })
            })
    }

    pub(super) fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        let offset = reader.u64()?;
        let orders = reader.u64()?;
        let prompt = match reader.u8()? {
            1 => Some(LinkPrompt::Input),
            2 => Some(LinkPrompt::Secret),
            _ => None,
        };
        let modes = reader.u8()?;
        let readers = reader.option(|reader| {
            reader.list(|reader| {
                Some(LinkReader {
                    names: reader.list(ByteReader::text)?,
                    args: reader.list(ByteReader::text)?,
                    is_foreground: reader.u8()? != 0,
                })
            })
        })?;
        Some(Self {
            offset,
            orders,
            prompt,
            canonical: modes & 1 != 0,
            echo: modes & 2 != 0,
            readers,
        })
    }
}
