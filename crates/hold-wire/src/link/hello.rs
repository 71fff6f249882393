//! The description of the far side's machine.

use super::LINK_MAGIC;
use crate::bytes::{ByteReader, ByteWriter};

/// The first frame of the far side. It describes the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FarHello {
    /// The protocol version that it speaks.
    pub version: u8,
    /// The version of its executable, for display.
    pub program: String,
    /// The name of the machine.
    pub machine: String,
    /// The operating system.
    pub os: String,
    /// The architecture of its CPUs.
    pub arch: String,
    /// The number of CPUs.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// The load average of the last minute, times 1000.
    pub load: u32,
    /// The user's home directory.
    pub home: String,
    /// Whether process trees are tracked there.
    pub holds_trees: bool,
    /// The requested programs, with their paths if they were found.
    pub programs: Vec<(String, Option<String>)>,
    /// The parts of a sandbox, and whether each is enforced there; empty unless programs were requested.
    pub sandbox: Vec<(bool, String)>,
    /// The labels that its user gave to the machine. Older programs do not send them.
    pub labels: Vec<String>,
}

impl FarHello {
    pub(super) fn write(&self, head: ByteWriter) -> Vec<u8> {
        let head = head.raw(LINK_MAGIC).u8(self.version);
        let texts = [&self.program, &self.machine, &self.os, &self.arch];
        texts
            .iter()
            .fold(head, |writer, text| writer.bytes(text.as_bytes()))
            .u32(self.cpus)
            .u64(self.memory)
            .u32(self.load)
            .bytes(self.home.as_bytes())
            .u8(u8::from(self.holds_trees))
            .list(&self.programs, |writer, (name, file)| {
                let writer = writer.bytes(name.as_bytes());
                writer.option(file.as_ref(), |writer, it| writer.bytes(it.as_bytes()))
            })
            .list(&self.sandbox, |writer, (is_enforced, part)| {
                writer.u8(u8::from(*is_enforced)).bytes(part.as_bytes())
            })
            .list(&self.labels, |writer, label| writer.bytes(label.as_bytes()))
            .0
    }

    pub(super) fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        if reader.array()? != *LINK_MAGIC {
            return None;
        }
        Some(Self {
            version: reader.u8()?,
            program: reader.text()?,
            machine: reader.text()?,
            os: reader.text()?,
            arch: reader.text()?,
            cpus: reader.u32()?,
            memory: reader.u64()?,
            load: reader.u32()?,
            home: reader.text()?,
            holds_trees: reader.u8()? != 0,
            programs: reader
                .list(|reader| Some((reader.text()?, reader.option(ByteReader::text)?)))?,
            sandbox: reader.list(|reader| Some((reader.u8()? != 0, reader.text()?)))?,
            labels: if reader.0.is_empty() {
                Vec::new()
            } else {
                reader.list(ByteReader::text)?
            },
        })
    }
}
