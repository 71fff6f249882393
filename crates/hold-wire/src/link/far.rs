//! Frames of the far side.

use std::time::Duration;

use super::LINK_MAGIC;
use crate::bytes::{ByteReader, ByteWriter};

const HELLO: u8 = 96;
const STARTED: u8 = 97;
const FAILED: u8 = 98;
const RESUMED: u8 = 99;
const GONE: u8 = 100;
const DONE: u8 = 101;
const OUTPUT: u8 = 102;
const STATUS: u8 = 103;
const SETTLED: u8 = 104;
const EXITED: u8 = 105;
const ENDED: u8 = 106;
const USAGE: u8 = 107;
const PORT: u8 = 108;
const BEAT: u8 = 109;
const REFUSED: u8 = 110;

/// The first frame of the far side: its machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FarHello {
    /// The version that it speaks.
    pub version: u8,
    /// The version of its program, for people.
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
    /// A thousand times the load of the last minute.
    pub load: u32,
    /// The user's home.
    pub home: String,
    /// Whether trees of programs are held together there.
    pub holds_trees: bool,
    /// The programs that were asked about, and their files where they were found.
    pub programs: Vec<(String, Option<String>)>,
}

/// The kind of a failed start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartFailure {
    /// There is no such program.
    NotFound,
    /// It may not be executed.
    Permission,
    /// It is nothing that can be executed.
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
    /// Its end is not known; the text says why.
    Lost(String),
}

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

/// A frame of the far side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FarFrame {
    /// The first frame.
    Hello(FarHello),
    /// A program runs.
    Started {
        /// The program.
        program: u64,
        /// Its process.
        pid: u32,
    },
    /// A program was not started.
    Failed {
        /// The program.
        program: u64,
        /// The kind.
        failure: StartFailure,
        /// The reason, in words.
        problem: String,
    },
    /// A program goes on.
    Resumed {
        /// The program.
        program: u64,
        /// Its process.
        pid: u32,
        /// The number of the last order that was carried out.
        orders: u64,
    },
    /// A program that was to be resumed is not there any more.
    Gone {
        /// The program.
        program: u64,
        /// The reason, in words.
        why: String,
        /// How many processes were ended.
        ended: u32,
    },
    /// An order was carried out, or not.
    Done {
        /// The program.
        program: u64,
        /// The order's number.
        id: u64,
        /// The reason why it was not.
        error: Option<String>,
    },
    /// Output of a program.
    Output {
        /// The program.
        program: u64,
        /// The offset of the first byte.
        from: u64,
        /// It was written to stderr.
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
        /// The limit that it has exceeded, by its place in [`ProgramStart::limits`](super::ProgramStart::limits).
        exceeded: Option<u8>,
    },
    /// The tree of a program was ended.
    Ended {
        /// The program.
        program: u64,
        /// How many processes were ended.
        ended: u32,
        /// Those that could not be.
        survivors: Vec<(u32, String)>,
    },
    /// A program's use of the machine.
    Usage {
        /// The program.
        program: u64,
        /// CPU time.
        cpu: Duration,
        /// Bytes of memory.
        memory: u64,
        /// Processes that run.
        processes: u32,
    },
    /// Somebody listens on a port.
    Port {
        /// The number of the request.
        id: u64,
    },
    /// The far side lives.
    Beat,
    /// The far side does not serve this link.
    Refused {
        /// The reason, in words.
        why: String,
    },
}

impl FarFrame {
    /// The frame as bytes, without its length.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => hello.write(),
            Self::Started { program, pid } => ByteWriter::new(STARTED).u64(*program).u32(*pid).0,
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
            } => {
                let head = ByteWriter::new(RESUMED).u64(*program);
                head.u32(*pid).u64(*orders).0
            }
            Self::Gone {
                program,
                why,
                ended,
            } => {
                let head = ByteWriter::new(GONE).u64(*program);
                head.bytes(why.as_bytes()).u32(*ended).0
            }
            Self::Done { program, id, error } => {
                let head = ByteWriter::new(DONE).u64(*program).u64(*id);
                let error = error.as_ref();
                head.option(error, |writer, it| writer.bytes(it.as_bytes()))
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
            } => {
                let head = ByteWriter::new(EXITED).u64(*program).u64(*offset);
                exit.write(head)
                    .u32(*remaining)
                    .option(exceeded.as_ref(), |writer, it| writer.u8(*it))
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
            Self::Port { id } => ByteWriter::new(PORT).u64(*id).0,
            Self::Beat => vec![BEAT],
            Self::Refused { why } => ByteWriter::new(REFUSED).bytes(why.as_bytes()).0,
        }
    }

    /// Reads a frame; `None` if it is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader(bytes);
        let reader = &mut reader;
        Some(match reader.u8()? {
            HELLO => Self::Hello(FarHello::read(reader)?),
            STARTED => Self::Started {
                program: reader.u64()?,
                pid: reader.u32()?,
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
            },
            GONE => Self::Gone {
                program: reader.u64()?,
                why: reader.text()?,
                ended: reader.u32()?,
            },
            DONE => Self::Done {
                program: reader.u64()?,
                id: reader.u64()?,
                error: reader.option(ByteReader::text)?,
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

impl FarHello {
    fn write(&self) -> Vec<u8> {
        let head = ByteWriter::new(HELLO).raw(LINK_MAGIC).u8(self.version);
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
            .0
    }

    fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
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
        })
    }
}

impl StartFailure {
    fn number(self) -> u8 {
        match self {
            Self::NotFound => 0,
            Self::Permission => 1,
            Self::NotExecutable => 2,
            Self::Cwd => 3,
            Self::Other => 4,
        }
    }

    fn of(number: u8) -> Self {
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
    fn write(&self, head: ByteWriter) -> ByteWriter {
        match self {
            Self::Code(code) => head.u8(0).u32(code.cast_unsigned()),
            Self::Signal(signal) => head.u8(1).u32(signal.cast_unsigned()),
            Self::Lost(why) => head.u8(2).bytes(why.as_bytes()),
        }
    }

    fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        Some(match reader.u8()? {
            0 => Self::Code(reader.u32()?.cast_signed()),
            1 => Self::Signal(reader.u32()?.cast_signed()),
            _ => Self::Lost(reader.text()?),
        })
    }
}

impl ProgramStatus {
    fn write(&self, head: ByteWriter) -> ByteWriter {
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

    fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
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

#[cfg(test)]
#[path = "far_tests.rs"]
mod tests;
