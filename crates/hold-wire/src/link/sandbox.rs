//! The rules and limits of a program, as requested and as applied.
//!
//! Rules are sent as the strings of the configuration. The far side resolves them against its own directories.

use crate::bytes::{ByteReader, ByteWriter};

/// Limits: memory, processes, milliseconds of CPU time, open files, file size, milliseconds since the start, bytes
/// written.
pub type LinkLimits = [Option<u64>; 7];

/// The sandbox of a program, resolved on the machine where it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSandbox {
    /// The project's directory on the far side.
    pub root: Vec<u8>,
    /// The rules of the tool.
    pub rules: SandboxRules,
    /// The minimum: `rules` may not be laxer than these.
    pub floor: Option<SandboxRules>,
}

/// Sandbox rules as the strings of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxRules {
    /// The base mode.
    pub mode: String,
    /// Readable directories and files; `None` if the configuration does not set them.
    pub read: Option<Vec<String>>,
    /// Writable directories and files; `None` if the configuration does not set them.
    pub write: Option<Vec<String>>,
    /// Directories and files that can be neither read nor written.
    pub deny: Vec<String>,
    /// The network.
    pub network: LinkNetwork,
    /// Whether the program is not started if a rule cannot be enforced.
    pub refuses: bool,
}

/// The network of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkNetwork {
    /// No network.
    None,
    /// Only a loopback interface.
    Loopback,
    /// The loopback interface, and these hosts.
    Allow(Vec<String>),
    /// The whole network.
    Full,
}

/// The rules and limits that were applied to a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppliedRules {
    /// Its limits, combined with those of the far side's user.
    pub limits: LinkLimits,
    /// A one-line summary of its sandbox rules, if it has a sandbox.
    pub allowed: Option<String>,
    /// Parts of the sandbox that the far side cannot enforce, one phrase each.
    pub unprotected: Vec<String>,
}

fn write_texts(writer: ByteWriter, texts: &[String]) -> ByteWriter {
    writer.list(texts, |writer, it| writer.bytes(it.as_bytes()))
}

fn read_texts(reader: &mut ByteReader<'_>) -> Option<Vec<String>> {
    reader.list(ByteReader::text)
}

pub(super) fn write_limits(writer: ByteWriter, limits: &LinkLimits) -> ByteWriter {
    writer.list(limits, |writer, limit| {
        writer.option(limit.as_ref(), |writer, limit| writer.u64(*limit))
    })
}

pub(super) fn read_limits(reader: &mut ByteReader<'_>) -> Option<LinkLimits> {
    let limits = reader.list(|reader| reader.option(ByteReader::u64))?;
    limits.try_into().ok()
}

impl LinkSandbox {
    pub(super) fn write(&self, head: ByteWriter) -> ByteWriter {
        let head = self.rules.write(head.bytes(&self.root));
        head.option(self.floor.as_ref(), |writer, floor| floor.write(writer))
    }

    pub(super) fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        Some(Self {
            root: reader.bytes()?.to_vec(),
            rules: SandboxRules::read(reader)?,
            floor: reader.option(SandboxRules::read)?,
        })
    }
}

impl SandboxRules {
    fn write(&self, head: ByteWriter) -> ByteWriter {
        let head = head
            .bytes(self.mode.as_bytes())
            .option(self.read.as_ref(), |writer, it| write_texts(writer, it))
            .option(self.write.as_ref(), |writer, it| write_texts(writer, it));
        let head = write_texts(head, &self.deny);
        let head = match &self.network {
            LinkNetwork::None => head.u8(0),
            LinkNetwork::Loopback => head.u8(1),
            LinkNetwork::Allow(hosts) => write_texts(head.u8(2), hosts),
            LinkNetwork::Full => head.u8(3),
        };
        head.u8(u8::from(self.refuses))
    }

    fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        Some(Self {
            mode: reader.text()?,
            read: reader.option(read_texts)?,
            write: reader.option(read_texts)?,
            deny: read_texts(reader)?,
            network: match reader.u8()? {
                0 => LinkNetwork::None,
                1 => LinkNetwork::Loopback,
                2 => LinkNetwork::Allow(read_texts(reader)?),
                3 => LinkNetwork::Full,
                _ => return None,
            },
            refuses: reader.u8()? != 0,
        })
    }
}

impl AppliedRules {
    pub(super) fn write(&self, head: ByteWriter) -> ByteWriter {
        let head = write_limits(head, &self.limits);
        let allowed = self.allowed.as_ref();
        let head = head.option(allowed, |writer, it| writer.bytes(it.as_bytes()));
        write_texts(head, &self.unprotected)
    }

    pub(super) fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        Some(Self {
            limits: read_limits(reader)?,
            allowed: reader.option(ByteReader::text)?,
            unprotected: read_texts(reader)?,
        })
    }
}
