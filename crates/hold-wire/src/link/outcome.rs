//! How a start failed, and how a program ended.

use crate::bytes::{ByteReader, ByteWriter};

/// The kind of a failed start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartFailure {
    /// The program does not exist.
    NotFound,
    /// The permission to execute it is missing.
    Permission,
    /// The file is not executable.
    NotExecutable,
    /// The working directory cannot be entered.
    Cwd,
    /// Anything else.
    Other,
}

/// The end of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkExit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// How it ended is unknown; the text is the reason.
    Lost(String),
}

impl StartFailure {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::NotFound => 0,
            Self::Permission => 1,
            Self::NotExecutable => 2,
            Self::Cwd => 3,
            Self::Other => 4,
        }
    }

    pub(super) fn of(number: u8) -> Self {
        match number {
            0 => Self::NotFound,
            1 => Self::Permission,
            2 => Self::NotExecutable,
            3 => Self::Cwd,
            _ => Self::Other,
        }
    }
}

impl LinkExit {
    pub(super) fn write(&self, head: ByteWriter) -> ByteWriter {
        match self {
            Self::Code(code) => head.u8(0).u32(code.cast_unsigned()),
            Self::Signal(signal) => head.u8(1).u32(signal.cast_unsigned()),
            Self::Lost(why) => head.u8(2).bytes(why.as_bytes()),
        }
    }

    pub(super) fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        Some(match reader.u8()? {
            0 => Self::Code(reader.u32()?.cast_signed()),
            1 => Self::Signal(reader.u32()?.cast_signed()),
            _ => Self::Lost(reader.text()?),
        })
    }
}
