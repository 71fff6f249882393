//! Orders to the holder of an adopted program, and its reports.

use std::time::Duration;

use crate::bytes::{ByteReader, ByteWriter};
use crate::receipt::SURVIVOR_LIMIT;

const SIGNAL: u8 = 3;
const END: u8 = 4;
const EXITED: u8 = 7;
const ENDED: u8 = 8;
const IDLE: u8 = 9;
const WRITE: u8 = 21;
const CLOSE_INPUT: u8 = 22;
const RESIZE: u8 = 23;
const NUMBERED: u8 = 24;
const OUTCOME: u8 = 25;

/// The maximum length of a survivor's name.
const NAME: usize = 16;

/// An order to a holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HolderOrder {
    /// Sends a signal to the program's process group.
    Signal(u8),
    /// Ends the whole process tree.
    End {
        /// The time between `SIGTERM` and `SIGKILL`.
        grace: Duration,
    },
    /// Writes to the program's input. Only for a holder that does not hand over the streams.
    Write(Vec<u8>),
    /// Closes the program's input. A holder that hands over the streams drops its own copy; one of an earlier version
    /// ignores the order.
    CloseInput,
    /// Resizes the program's terminal. Only for a holder that does not hand over the streams.
    Resize {
        /// The rows.
        rows: u16,
        /// The columns.
        cols: u16,
    },
}

impl HolderOrder {
    /// Encodes the order.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Signal(number) => vec![SIGNAL, *number],
            Self::End { grace } => {
                let grace = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
                ByteWriter::new(END).u32(grace).0
            }
            Self::Write(bytes) => ByteWriter::new(WRITE).bytes(bytes).0,
            Self::CloseInput => vec![CLOSE_INPUT],
            Self::Resize { rows, cols } => ByteWriter::new(RESIZE).u16(*rows).u16(*cols).0,
        }
    }

    /// Decodes an order; `None` if it is invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        Some(match reader.u8()? {
            SIGNAL => Self::Signal(reader.u8()?),
            END => Self::End {
                grace: Duration::from_millis(reader.u32()?.into()),
            },
            WRITE => Self::Write(reader.bytes()?.to_vec()),
            CLOSE_INPUT => Self::CloseInput,
            RESIZE => Self::Resize {
                rows: reader.u16()?,
                cols: reader.u16()?,
            },
            _ => return None,
        })
    }
}

/// An order with an id. It is idempotent: a repeated order is not executed again and returns the same outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedOrder {
    /// The id.
    pub id: String,
    /// The order.
    pub order: HolderOrder,
}

impl NumberedOrder {
    /// Encodes the order.
    pub fn write(&self) -> Vec<u8> {
        let head = ByteWriter::new(NUMBERED).bytes(self.id.as_bytes());
        head.raw(&self.order.write()).0
    }

    /// Decodes an order; `None` if it is invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        if reader.u8()? != NUMBERED {
            return None;
        }
        let id = std::str::from_utf8(reader.bytes()?).ok()?.to_owned();
        let order = HolderOrder::read(reader.0)?;
        Some(Self { id, order })
    }
}

/// The outcome of a [`NumberedOrder`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderOutcome {
    /// The order's id.
    pub id: String,
    /// The error, if the order failed.
    pub error: Option<String>,
}

impl OrderOutcome {
    /// Encodes the outcome.
    pub fn write(&self) -> Vec<u8> {
        let head = ByteWriter::new(OUTCOME).bytes(self.id.as_bytes());
        let error = self.error.as_deref();
        head.u8(u8::from(error.is_some()))
            .bytes(error.unwrap_or_default().as_bytes())
            .0
    }

    /// Decodes an outcome; `None` if it is invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        if reader.u8()? != OUTCOME {
            return None;
        }
        let id = std::str::from_utf8(reader.bytes()?).ok()?.to_owned();
        let failed = reader.u8()? != 0;
        let error = String::from_utf8_lossy(reader.bytes()?).into_owned();
        Some(Self {
            id,
            error: failed.then_some(error),
        })
    }
}

/// A holder's report to the owner of its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HolderReport {
    /// The program exited.
    Exited {
        /// Its wait status.
        status: i32,
        /// Whether its process tree is empty and the holder waits for its next program.
        idle: bool,
    },
    /// The last process of the tree ended some time after the program. The holder waits for its next program.
    Idle,
    /// The process tree has been ended.
    Ended {
        /// How many processes were ended.
        ended: u32,
        /// Processes that could not be ended, with pid and name.
        survivors: Vec<(u32, Vec<u8>)>,
    },
}

impl HolderReport {
    /// Encodes the report.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Exited { status, idle } => {
                let head = ByteWriter::new(EXITED).u32(status.cast_unsigned());
                head.u8(u8::from(*idle)).0
            }
            Self::Idle => vec![IDLE],
            Self::Ended { ended, survivors } => {
                let mut writer = ByteWriter::new(ENDED).u32(*ended);
                for (pid, name) in survivors.iter().take(SURVIVOR_LIMIT) {
                    let mut fixed = [0; NAME];
                    let length = name.len().min(NAME);
                    fixed[..length].copy_from_slice(&name[..length]);
                    writer = writer.u32(*pid).raw(&fixed);
                }
                writer.0
            }
        }
    }

    /// Decodes a report; `None` if it is invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        Some(match reader.u8()? {
            EXITED => Self::Exited {
                status: reader.u32()?.cast_signed(),
                idle: reader.u8()? == 1,
            },
            IDLE => Self::Idle,
            ENDED => {
                let ended = reader.u32()?;
                let mut survivors = Vec::new();
                while let (Some(pid), Some(name)) = (reader.u32(), reader.take(NAME)) {
                    let name = name.split(|&byte| byte == 0).next();
                    survivors.push((pid, name.unwrap_or_default().to_vec()));
                }
                Self::Ended { ended, survivors }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
#[path = "orders_tests.rs"]
mod tests;
