//! Frames of the far side.

use std::time::Duration;

use super::{AppliedRules, FarHello, FramedOutput, LinkExit, ProgramStatus, StartFailure};
use crate::bytes::{ByteReader, ByteWriter};

const HELLO: u8 = 96;
const STARTED: u8 = 97;
const FAILED: u8 = 98;
const RESUMED: u8 = 99;
const GONE: u8 = 100;
const DONE: u8 = 101;
pub(super) const OUTPUT: u8 = 102;
const STATUS: u8 = 103;
const SETTLED: u8 = 104;
const EXITED: u8 = 105;
const ENDED: u8 = 106;
const USAGE: u8 = 107;
const PORT: u8 = 108;
const BEAT: u8 = 109;
const REFUSED: u8 = 110;

/// A frame of the far side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FarFrame {
    /// The first frame.
    Hello(FarHello),
    /// A program runs.
    Started {
        /// The program.
        program: u64,
        /// Its process id.
        pid: u32,
        /// The rules and limits that were applied to it.
        rules: AppliedRules,
    },
    /// A program was not started.
    Failed {
        /// The program.
        program: u64,
        /// The kind of failure.
        failure: StartFailure,
        /// The reason, as text.
        problem: String,
    },
    /// A program was resumed.
    Resumed {
        /// The program.
        program: u64,
        /// Its process id.
        pid: u32,
        /// The number of the last order that was executed.
        orders: u64,
        /// The current length of its output.
        offset: u64,
        /// Rows and columns of its terminal, if it has one.
        terminal: Option<(u16, u16)>,
        /// Whether it takes no more input. An older far end does not say so.
        input_closed: bool,
    },
    /// A program that was to be resumed no longer exists.
    Gone {
        /// The program.
        program: u64,
        /// The reason, as text.
        why: String,
        /// How many processes were ended.
        ended: u32,
        /// The receipt of its holder, verbatim.
        receipt: Option<Vec<u8>>,
    },
    /// An order was executed, or failed.
    Done {
        /// The program.
        program: u64,
        /// The order's number.
        id: u64,
        /// The error, if it failed.
        error: Option<String>,
        /// The terminal did not echo the typed text.
        is_hidden: bool,
    },
    /// Output of a program.
    Output {
        /// The program.
        program: u64,
        /// The offset of the first byte.
        from: u64,
        /// Whether it was written to stderr.
        is_stderr: bool,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The state of a terminal.
    Status {
        /// The program.
        program: u64,
        /// The state.
        status: ProgramStatus,
    },
    /// A program has gone quiet.
    Settled {
        /// The program.
        program: u64,
        /// The number of the request.
        id: u64,
        /// The offset in its output.
        offset: u64,
    },
    /// A program has exited.
    Exited {
        /// The program.
        program: u64,
        /// The length of its output.
        offset: u64,
        /// How it ended.
        exit: LinkExit,
        /// How many processes it has left running.
        remaining: u32,
        /// The exceeded limit, as an index into [`ProgramStart::limits`](super::ProgramStart::limits).
        exceeded: Option<u8>,
        /// The denials of its sandbox, one phrase each.
        denied: Vec<String>,
    },
    /// The process tree of a program was ended.
    Ended {
        /// The program.
        program: u64,
        /// How many processes were ended.
        ended: u32,
        /// Processes that could not be ended, with pid and name.
        survivors: Vec<(u32, String)>,
    },
    /// The resource usage of a program.
    Usage {
        /// The program.
        program: u64,
        /// CPU time.
        cpu: Duration,
        /// Bytes of memory.
        memory: u64,
        /// The number of running processes.
        processes: u32,
    },
    /// A port is being listened on.
    Port {
        /// The number of the request.
        id: u64,
    },
    /// A heartbeat.
    Beat,
    /// The far side refuses this link.
    Refused {
        /// The reason, as text.
        why: String,
    },
}

impl FarFrame {
    /// The program and the offset after the last byte, if the bytes are an output frame. Nothing is copied.
    pub fn output_end(bytes: &[u8]) -> Option<(u64, u64)> {
        let piece = FramedOutput::read(bytes)?;
        let end = piece.from.checked_add(piece.bytes.len() as u64)?;
        Some((piece.program, end))
    }

    /// Encodes the frame, without its length prefix.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => hello.write(ByteWriter::new(HELLO)),
            Self::Started {
                program,
                pid,
                rules,
            } => {
                let head = ByteWriter::new(STARTED).u64(*program).u32(*pid);
                rules.write(head).0
            }
            Self::Failed {
                program,
                failure,
                problem,
            } => {
                let head = ByteWriter::new(FAILED).u64(*program);
                head.u8(failure.number()).bytes(problem.as_bytes()).0
            }
            Self::Resumed {
                program,
                pid,
                orders,
                offset,
                terminal,
                input_closed,
            } => {
                let head = ByteWriter::new(RESUMED).u64(*program);
                let head = head.u32(*pid).u64(*orders).u64(*offset);
                let head = head.option(terminal.as_ref(), |writer, (rows, cols)| {
                    writer.u16(*rows).u16(*cols)
                });
                head.u8((*input_closed).into()).0
            }
            Self::Gone {
                program,
                why,
                ended,
                receipt,
            } => {
                let head = ByteWriter::new(GONE).u64(*program);
                let head = head.bytes(why.as_bytes()).u32(*ended);
                head.option(receipt.as_ref(), |writer, it| writer.bytes(it))
                    .0
            }
            Self::Beat => vec![BEAT],
            Self::Refused { why } => ByteWriter::new(REFUSED).bytes(why.as_bytes()).0,
            Self::Port { id } => ByteWriter::new(PORT).u64(*id).0,
            _ => self.write_news(),
        }
    }

    /// Encodes the events of a running program.
    fn write_news(&self) -> Vec<u8> {
        match self {
            Self::Done {
                program,
                id,
                error,
                is_hidden,
            } => {
                let head = ByteWriter::new(DONE).u64(*program).u64(*id);
                let error = error.as_ref();
                head.option(error, |writer, it| writer.bytes(it.as_bytes()))
                    .u8(u8::from(*is_hidden))
                    .0
            }
            Self::Output {
                program,
                from,
                is_stderr,
                bytes,
            } => {
                let head = ByteWriter::new(OUTPUT).u64(*program).u64(*from);
                head.u8(u8::from(*is_stderr)).bytes(bytes).0
            }
            Self::Status { program, status } => {
                status.write(ByteWriter::new(STATUS).u64(*program)).0
            }
            Self::Settled {
                program,
                id,
                offset,
            } => {
                let head = ByteWriter::new(SETTLED).u64(*program);
                head.u64(*id).u64(*offset).0
            }
            Self::Exited {
                program,
                offset,
                exit,
                remaining,
                exceeded,
                denied,
            } => {
                let head = ByteWriter::new(EXITED).u64(*program).u64(*offset);
                exit.write(head)
                    .u32(*remaining)
                    .option(exceeded.as_ref(), |writer, it| writer.u8(*it))
                    .list(denied, |writer, it| writer.bytes(it.as_bytes()))
                    .0
            }
            Self::Ended {
                program,
                ended,
                survivors,
            } => {
                let head = ByteWriter::new(ENDED).u64(*program).u32(*ended);
                head.list(survivors, |writer, (pid, name)| {
                    writer.u32(*pid).bytes(name.as_bytes())
                })
                .0
            }
            Self::Usage {
                program,
                cpu,
                memory,
                processes,
            } => {
                let head = ByteWriter::new(USAGE).u64(*program);
                head.duration(*cpu).u64(*memory).u32(*processes).0
            }
            Self::Hello(_)
            | Self::Started { .. }
            | Self::Failed { .. }
            | Self::Resumed { .. }
            | Self::Gone { .. }
            | Self::Port { .. }
            | Self::Beat
            | Self::Refused { .. } => unreachable!("`write` has written it"),
        }
    }

    /// Decodes a frame; `None` if it is invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        let reader = &mut reader;
        Some(match reader.u8()? {
            HELLO => Self::Hello(FarHello::read(reader)?),
            STARTED => Self::Started {
                program: reader.u64()?,
                pid: reader.u32()?,
                rules: AppliedRules::read(reader)?,
            },
            FAILED => Self::Failed {
                program: reader.u64()?,
                failure: StartFailure::of(reader.u8()?),
                problem: reader.text()?,
            },
            RESUMED => Self::Resumed {
                program: reader.u64()?,
                pid: reader.u32()?,
                orders: reader.u64()?,
                offset: reader.u64()?,
                terminal: reader.option(|reader| Some((reader.u16()?, reader.u16()?)))?,
                input_closed: reader.u8().is_some_and(|it| it != 0),
            },
            GONE => Self::Gone {
                program: reader.u64()?,
                why: reader.text()?,
                ended: reader.u32()?,
                receipt: reader.option(|reader| reader.bytes().map(<[u8]>::to_vec))?,
            },
            DONE => Self::Done {
                program: reader.u64()?,
                id: reader.u64()?,
                error: reader.option(ByteReader::text)?,
                is_hidden: reader.u8()? != 0,
            },
            OUTPUT => Self::Output {
                program: reader.u64()?,
                from: reader.u64()?,
                is_stderr: reader.u8()? != 0,
                bytes: reader.bytes()?.to_vec(),
            },
            STATUS => Self::Status {
                program: reader.u64()?,
                status: ProgramStatus::read(reader)?,
            },
            SETTLED => Self::Settled {
                program: reader.u64()?,
                id: reader.u64()?,
                offset: reader.u64()?,
            },
            EXITED => Self::Exited {
                program: reader.u64()?,
                offset: reader.u64()?,
                exit: LinkExit::read(reader)?,
                remaining: reader.u32()?,
                exceeded: reader.option(ByteReader::u8)?,
                denied: reader.list(ByteReader::text)?,
            },
            ENDED => Self::Ended {
                program: reader.u64()?,
                ended: reader.u32()?,
                survivors: reader.list(|reader| Some((reader.u32()?, reader.text()?)))?,
            },
            USAGE => Self::Usage {
                program: reader.u64()?,
                cpu: reader.duration()?,
                memory: reader.u64()?,
                processes: reader.u32()?,
            },
            PORT => Self::Port { id: reader.u64()? },
            BEAT => Self::Beat,
            REFUSED => Self::Refused {
                why: reader.text()?,
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
#[path = "far_tests.rs"]
mod tests;
