//! Frames of the near side.

use std::time::Duration;

use super::sandbox::{read_limits, write_limits};
use super::{LINK_MAGIC, LinkLimits, LinkSandbox, LinkSession};
use crate::HolderOrder;
use crate::bytes::{ByteReader, ByteWriter};

const HELLO: u8 = 64;
const START: u8 = 65;
const RESUME: u8 = 66;
const ORDER: u8 = 67;
const CREDIT: u8 = 68;
const SETTLE: u8 = 69;
const ASK: u8 = 70;
const FORGET: u8 = 71;
const BEAT: u8 = 72;
const PORT: u8 = 73;
const LEAVE: u8 = 74;

/// The first frame of the near side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearHello {
    /// The protocol version that it speaks.
    pub version: u8,
    /// The version of its executable, for display.
    pub program: String,
    /// The session. A later link may resume its programs.
    pub session: LinkSession,
    /// How long programs are held without a link.
    pub lease: Duration,
    /// The time between heartbeats. A side that receives nothing for three intervals considers the link lost.
    pub heartbeat: Duration,
    /// Programs that the far side looks up.
    pub asks: Vec<String>,
}

/// The output streams of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkCapture {
    /// A pipe for stdout and one for stderr.
    Separate,
    /// One pipe for both.
    Merged,
    /// Output is not captured.
    Nothing,
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramStart {
    /// The program, by name or path.
    pub program: Vec<u8>,
    /// Whether it is the user's shell on the far side.
    pub is_user_shell: bool,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// Changes to the environment; `None` removes a variable.
    pub env: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Whether the environment is empty apart from `env`.
    pub env_clear: bool,
    /// The working directory.
    pub cwd: Option<Vec<u8>>,
    /// Whether it has an input.
    pub has_input: bool,
    /// Its output streams.
    pub capture: LinkCapture,
    /// Rows and columns of its terminal, if it has one.
    pub terminal: Option<(u16, u16)>,
    /// The time between `SIGTERM` and `SIGKILL`.
    pub grace: Duration,
    /// Its limits.
    pub limits: LinkLimits,
    /// The offset up to which output may be sent.
    pub credit: u64,
    /// Its sandbox.
    pub sandbox: Option<LinkSandbox>,
    /// If set, the program outlives the near runtime and is held for this time without a link.
    pub keep: Option<Duration>,
}

/// A program of an earlier near runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProgramOrigin {
    /// The session that it was started in.
    pub session: LinkSession,
    /// Its number in that session.
    pub program: u64,
}

/// A frame of the near side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NearFrame {
    /// The first frame.
    Hello(NearHello),
    /// Starts a program.
    Start {
        /// The new number of the program.
        program: u64,
        /// The program.
        start: Box<ProgramStart>,
    },
    /// Resumes a program that an earlier link started.
    Resume {
        /// The program.
        program: u64,
        /// The offset of the next byte to send.
        from: u64,
        /// The offset up to which output may be sent.
        credit: u64,
        /// The program to resume under this number, if it was started in another session.
        origin: Option<ProgramOrigin>,
        /// Its sandbox.
        sandbox: Option<Box<LinkSandbox>>,
    },
    /// An order to a program.
    Order {
        /// The program.
        program: u64,
        /// The number of the order. An end has number 0 and may be repeated.
        id: u64,
        /// The order.
        order: HolderOrder,
    },
    /// Output may be sent up to this offset.
    Credit {
        /// The program.
        program: u64,
        /// The offset.
        until: u64,
    },
    /// Requests a [`FarFrame::Settled`](super::FarFrame::Settled) when the program has gone quiet.
    Settle {
        /// The program.
        program: u64,
        /// A number for the reply.
        id: u64,
        /// The maximum time to wait for that.
        limit: Duration,
    },
    /// Requests the resource usage of a program.
    Ask {
        /// The program.
        program: u64,
    },
    /// Releases a program that has exited.
    Forget {
        /// The program.
        program: u64,
    },
    /// Releases a kept program to its holder.
    Leave {
        /// The program.
        program: u64,
    },
    /// Requests a [`FarFrame::Port`](super::FarFrame::Port) when a port is being listened on.
    Port {
        /// A number for the reply.
        id: u64,
        /// The port.
        port: u16,
        /// The program whose network is used.
        program: u64,
    },
    /// A heartbeat.
    Beat,
}

impl NearFrame {
    /// Encodes the frame, without its length prefix.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => {
                let head = ByteWriter::new(HELLO).raw(LINK_MAGIC).u8(hello.version);
                head.bytes(hello.program.as_bytes())
                    .raw(&hello.session)
                    .duration(hello.lease)
                    .duration(hello.heartbeat)
                    .list(&hello.asks, |writer, it| writer.bytes(it.as_bytes()))
                    .0
            }
            Self::Start { program, start } => start.write(ByteWriter::new(START).u64(*program)).0,
            Self::Resume {
                program,
                from,
                credit,
                origin,
                sandbox,
            } => {
                let head = ByteWriter::new(RESUME).u64(*program);
                head.u64(*from)
                    .u64(*credit)
                    .option(origin.as_ref(), |writer, it| {
                        writer.raw(&it.session).u64(it.program)
                    })
                    .option(sandbox.as_ref(), |writer, it| it.write(writer))
                    .0
            }
            Self::Order { program, id, order } => {
                let head = ByteWriter::new(ORDER).u64(*program).u64(*id);
                head.raw(&order.write()).0
            }
            Self::Credit { program, until } => ByteWriter::new(CREDIT).u64(*program).u64(*until).0,
            Self::Settle { program, id, limit } => {
                let head = ByteWriter::new(SETTLE).u64(*program);
                head.u64(*id).duration(*limit).0
            }
            Self::Ask { program } => ByteWriter::new(ASK).u64(*program).0,
            Self::Forget { program } => ByteWriter::new(FORGET).u64(*program).0,
            Self::Leave { program } => ByteWriter::new(LEAVE).u64(*program).0,
            Self::Port { id, port, program } => {
                let head = ByteWriter::new(PORT).u64(*id);
                head.u16(*port).u64(*program).0
            }
            Self::Beat => vec![BEAT],
        }
    }

    /// Decodes a frame; `None` if it is invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        let reader = &mut reader;
        Some(match reader.u8()? {
            HELLO => {
                if reader.array()? != *LINK_MAGIC {
                    return None;
                }
                Self::Hello(NearHello {
                    version: reader.u8()?,
                    program: reader.text()?,
                    session: reader.array()?,
                    lease: reader.duration()?,
                    heartbeat: reader.duration()?,
                    asks: reader.list(ByteReader::text)?,
                })
            }
            START => Self::Start {
                program: reader.u64()?,
                start: Box::new(ProgramStart::read(reader)?),
            },
            RESUME => Self::Resume {
                program: reader.u64()?,
                from: reader.u64()?,
                credit: reader.u64()?,
                origin: reader.option(|reader| {
                    Some(ProgramOrigin {
                        session: reader.array()?,
                        program: reader.u64()?,
                    })
                })?,
                sandbox: reader.option(LinkSandbox::read)?.map(Box::new),
            },
            ORDER => Self::Order {
                program: reader.u64()?,
                id: reader.u64()?,
                order: HolderOrder::read(reader.0)?,
            },
            CREDIT => Self::Credit {
                program: reader.u64()?,
                until: reader.u64()?,
            },
            SETTLE => Self::Settle {
                program: reader.u64()?,
                id: reader.u64()?,
                limit: reader.duration()?,
            },
            ASK => Self::Ask {
                program: reader.u64()?,
            },
            FORGET => Self::Forget {
                program: reader.u64()?,
            },
            PORT => Self::Port {
                id: reader.u64()?,
                port: reader.u16()?,
                program: reader.u64()?,
            },
            LEAVE => Self::Leave {
                program: reader.u64()?,
            },
            BEAT => Self::Beat,
            _ => return None,
        })
    }
}

const USER_SHELL: u8 = 1;
const CLEAR: u8 = 2;
const INPUT: u8 = 4;
const MERGED: u8 = 8;
const NOTHING: u8 = 16;

impl ProgramStart {
    fn write(&self, head: ByteWriter) -> ByteWriter {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let flags = flag(self.is_user_shell, USER_SHELL)
            | flag(self.env_clear, CLEAR)
            | flag(self.has_input, INPUT)
            | flag(self.capture == LinkCapture::Merged, MERGED)
            | flag(self.capture == LinkCapture::Nothing, NOTHING);
        let head = head
            .u8(flags)
            .bytes(&self.program)
            .list(&self.args, |writer, arg| writer.bytes(arg))
            .list(&self.env, |writer, (name, value)| {
                let writer = writer.bytes(name);
                writer.option(value.as_ref(), |writer, value| writer.bytes(value))
            })
            .option(self.cwd.as_ref(), |writer, cwd| writer.bytes(cwd))
            .option(self.terminal.as_ref(), |writer, (rows, cols)| {
                writer.u16(*rows).u16(*cols)
            })
            .duration(self.grace);
        write_limits(head, &self.limits)
            .u64(self.credit)
            .option(self.sandbox.as_ref(), |writer, it| it.write(writer))
            .option(self.keep.as_ref(), |writer, it| writer.duration(*it))
    }

    fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        let flags = reader.u8()?;
        let is = |flag: u8| flags & flag != 0;
        let owned = |reader: &mut ByteReader<'_>| reader.bytes().map(<[u8]>::to_vec);
        Some(Self {
            program: owned(reader)?,
            is_user_shell: is(USER_SHELL),
            args: reader.list(owned)?,
            env: reader.list(|reader| Some((owned(reader)?, reader.option(owned)?)))?,
            env_clear: is(CLEAR),
            cwd: reader.option(owned)?,
            has_input: is(INPUT),
            capture: match (is(MERGED), is(NOTHING)) {
                (_, true) => LinkCapture::Nothing,
                (true, false) => LinkCapture::Merged,
                (false, false) => LinkCapture::Separate,
            },
            terminal: reader.option(|reader| Some((reader.u16()?, reader.u16()?)))?,
            grace: reader.duration()?,
            limits: read_limits(reader)?,
            credit: reader.u64()?,
            sandbox: reader.option(LinkSandbox::read)?,
            keep: reader.option(ByteReader::duration)?,
        })
    }
}

#[cfg(test)]
#[path = "near_tests.rs"]
mod tests;
