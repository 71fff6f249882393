//! A terminal and its program at one moment.

use crate::bytes::{ByteReader, ByteWriter};

/// The kind of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPrompt {
    /// The program waits for anything.
    Input,
    /// The program waits for a line that is not shown.
    Secret,
}

/// A program that may read what is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkReader {
    /// Its names.
    pub names: Vec<String>,
    /// The words that it was started with, after the first.
    pub args: Vec<String>,
    /// It gets what is typed now.
    pub is_foreground: bool,
}

/// A terminal and its program at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramStatus {
    /// The offset in the output.
    pub offset: u64,
    /// The number of the last order that had been carried out.
    pub orders: u64,
    /// The prompt at which the program waits, if it does.
    pub prompt: Option<LinkPrompt>,
    /// The terminal takes whole lines.
    pub canonical: bool,
    /// The terminal shows typed text.
    pub echo: bool,
    /// Those that may read what is typed, where that can be seen.
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
