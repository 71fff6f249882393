//! A far end in place of a dead worker: it resumes programs from the output that the worker has stored.
//!
//! Start at [`StoredEnd::open`]. The near end resumes each program by its offset, as it does with a worker. It receives
//! the rest of the stored output and then the program's exit, or that the program is lost.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use windlass_hold_wire::{
    FarFrame, FrameBuffer, HolderOrder, LinkExit, LinkSession, NearFrame, ProgramOrigin,
    StartFailure, frame,
};
use windlass_host::LinkPipe;

use crate::broker::Broker;
use crate::error::Trouble;
use crate::link::PIPE;
use crate::lost::note_lost;
use crate::stored::{ReplayOffsets, StoredOutput};
use crate::worker::remove_output;

/// How many programs are read concurrently.
const READ_AT_ONCE: usize = 16;
/// How long the note about a loss may delay its report. It is completed later.
const NOTING: Duration = Duration::from_secs(1);
/// The heartbeat until the near end has sent its own.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Reads stored output for the programs of this runtime.
#[derive(Clone)]
pub(super) struct StoredReader {
    pub(super) broker: Broker,
    /// The offsets of replayed programs, for the read positions of adopted ones.
    pub(super) replays: Arc<Mutex<HashMap<ProgramOrigin, ReplayOffsets>>>,
}

/// A program to resume.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredResume {
    pub(super) program: u64,
    /// The offset up to which the near end has its output.
    pub(super) from: u64,
    pub(super) origin: ProgramOrigin,
    /// Whether it was started in an earlier session.
    pub(super) is_adopted: bool,
}

impl StoredResume {
    /// The program of a frame that resumes it.
    pub(super) fn of(frame: &NearFrame, session: LinkSession) -> Option<Self> {
        let NearFrame::Resume {
            program,
            from,
            origin,
            ..
        } = frame
        else {
            return None;
        };
        let own = ProgramOrigin {
            session,
            program: *program,
        };
        Some(Self {
            program: *program,
            from: *from,
            origin: origin.unwrap_or(own),
            is_adopted: origin.is_some(),
        })
    }
}

/// The result of an attempt to resume a program from its stored output.
pub(super) enum StoredRecall {
    /// The frames that resume it and end it.
    Frames {
        frames: Vec<FarFrame>,
        /// Whether it ends as lost.
        is_lost: bool,
    },
    /// Nothing is stored.
    Nothing,
    /// The broker does not return the stored output.
    Unreadable(Trouble),
}

impl StoredReader {
    /// Resumes a program. `why` is the reason of its loss.
    pub(super) async fn recall(&self, resume: StoredResume, why: &str) -> StoredRecall {
        let StoredResume {
            program,
            from,
            origin,
            ..
        } = resume;
        let stored = match StoredOutput::read(&self.broker, &origin).await {
            Ok(stored) if stored.is_empty() => return StoredRecall::Nothing,
            Ok(stored) => stored,
            Err(error) => return StoredRecall::Unreadable(error),
        };
        let end = stored.end().max(from);
        let why = format!("{why}; its output is shown up to byte {end}, the last that was stored");
        let replay = stored.replay(program, from, why);
        let is_lost = replay.is_lost;
        let mut frames = Vec::with_capacity(replay.frames.len() + 1);
        if resume.is_adopted {
            frames.push(FarFrame::Resumed {
                program,
                pid: 0,
                orders: 0,
                offset: replay.end,
                terminal: None,
                input_closed: true,
            });
            self.replays.lock().insert(origin, replay.offsets);
        }
        frames.extend(replay.frames);
        StoredRecall::Frames { frames, is_lost }
    }

    /// The frames that end a program as lost without any output.
    fn lose(&self, resume: StoredResume, why: String) -> Vec<FarFrame> {
        let StoredResume {
            program, origin, ..
        } = resume;
        if !resume.is_adopted {
            return vec![FarFrame::Gone {
                program,
                why,
                ended: 0,
                receipt: None,
            }];
        }
        // An adoption needs a program that can be shown as lost.
        self.replays.lock().insert(origin, ReplayOffsets::nothing());
        vec![
            FarFrame::Resumed {
                program,
                pid: 0,
                orders: 0,
                offset: 0,
                terminal: None,
                input_closed: true,
            },
            FarFrame::Exited {
                program,
                offset: 0,
                exit: LinkExit::Lost(why),
                remaining: 0,
                exceeded: None,
                denied: Vec::new(),
            },
        ]
    }

    /// Removes the stored output of a program.
    pub(super) async fn remove(&self, origin: ProgramOrigin) {
        let Broker {
            jetstream, names, ..
        } = &self.broker;
        if let Ok(stream) = jetstream.get_stream_no_info(names.output()).await {
            remove_output(&stream, &names.output_of(&origin)).await;
        }
    }
}

/// The far end of one link.
pub(super) struct StoredEnd {
    reader: StoredReader,
    session: LinkSession,
    /// The reason why its worker is not used.
    why: Arc<str>,
    worker: String,
    resumed: HashMap<u64, ProgramOrigin>,
    answers: mpsc::UnboundedSender<FarFrame>,
    reading: Arc<Semaphore>,
    /// Why stored output cannot be read. The other programs do not wait for it again.
    unreadable: Arc<OnceLock<String>>,
    heartbeat: Duration,
}

impl StoredEnd {
    /// Opens a link to it.
    pub(super) fn open(
        reader: StoredReader,
        session: LinkSession,
        worker: String,
        why: Arc<str>,
    ) -> LinkPipe {
        let (input, to_near) = tokio::io::duplex(PIPE);
        let (output, from_near) = tokio::io::duplex(PIPE);
        let (answers, answered) = mpsc::unbounded_channel();
        let end = Self {
            reader,
            session,
            why,
            worker,
            resumed: HashMap::new(),
            answers,
            reading: Arc::new(Semaphore::new(READ_AT_ONCE)),
            unreadable: Arc::default(),
            heartbeat: HEARTBEAT,
        };
        windlass_task::spawn(end.serve(from_near, to_near, answered));
        LinkPipe {
            input: Box::new(input),
            output: Box::new(output),
        }
    }

    /// Answers until the near end closes the link, or is silent for three heartbeats because nobody uses the link any more.
    async fn serve(
        mut self,
        mut from_near: DuplexStream,
        mut to_near: DuplexStream,
        mut answered: mpsc::UnboundedReceiver<FarFrame>,
    ) {
        let mut frames = FrameBuffer::default();
        let mut chunk = vec![0; PIPE];
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                length = from_near.read(&mut chunk) => {
                    let Ok(length @ 1..) = length else {
                        return;
                    };
                    heard = Instant::now();
                    frames.push(&chunk[..length]);
                    while let Ok(Some(bytes)) = frames.next_frame() {
                        if let Some(frame) = NearFrame::read(bytes) {
                            self.take(frame);
                        }
                    }
                }
                Some(answer) = answered.recv() => {
                    if to_near.write_all(&frame(&answer.write())).await.is_err() {
                        return;
                    }
                }
                () = tokio::time::sleep_until(heard + self.heartbeat * 3) => return,
                () = tokio::time::sleep(self.heartbeat) => self.answer(FarFrame::Beat),
            }
        }
    }

    fn answer(&self, frame: FarFrame) {
        // The receiver lives as long as this end serves.
        let _ = self.answers.send(frame);
    }

    fn take(&mut self, frame: NearFrame) {
        match frame {
            NearFrame::Hello(hello) => {
                self.heartbeat = hello.heartbeat;
                let mut machine = windlass_host::describe_machine(&[], true);
                machine.machine.clone_from(&self.worker);
                self.answer(FarFrame::Hello(machine));
            }
            NearFrame::Start { program, .. } => self.answer(FarFrame::Failed {
                program,
                failure: StartFailure::Other,
                problem: self.why.to_string(),
            }),
            NearFrame::Order {
                program,
                order: HolderOrder::End { .. },
                ..
            } => self.answer(FarFrame::Ended {
                program,
                ended: 0,
                survivors: Vec::new(),
            }),
            NearFrame::Forget { program } => {
                if let Some(origin) = self.resumed.remove(&program) {
                    let reader = self.reader.clone();
                    windlass_task::spawn(async move { reader.remove(origin).await });
                }
            }
            resume @ NearFrame::Resume { .. } => {
                if let Some(resume) = StoredResume::of(&resume, self.session) {
                    self.resume(resume);
                }
            }
            _ => {}
        }
    }

    fn resume(&mut self, resume: StoredResume) {
        self.resumed.insert(resume.program, resume.origin);
        let (reader, why) = (self.reader.clone(), Arc::clone(&self.why));
        let (answers, reading) = (self.answers.clone(), Arc::clone(&self.reading));
        let (worker, unreadable) = (self.worker.clone(), Arc::clone(&self.unreadable));
        windlass_task::spawn(async move {
            // The semaphore is never closed.
            let _permit = reading.acquire().await;
            let recalled = match unreadable.get() {
                Some(error) => StoredRecall::Unreadable(Trouble(error.clone())),
                None => reader.recall(resume, &why).await,
            };
            let (frames, is_lost) = match recalled {
                StoredRecall::Frames { frames, is_lost } => (frames, is_lost),
                StoredRecall::Nothing => (reader.lose(resume, why.to_string()), true),
                StoredRecall::Unreadable(Trouble(error)) => {
                    let error = unreadable.get_or_init(|| error);
                    let why = format!("{why}; its stored output cannot be read: {error}");
                    (reader.lose(resume, why), true)
                }
            };
            if is_lost {
                // The note comes first: a program that is reported as lost must not run on when its worker is back.
                let noting = note_lost(reader.broker.clone(), worker, resume.origin);
                let noting = windlass_task::spawn(noting);
                let _ = tokio::time::timeout(NOTING, noting).await;
            }
            for frame in frames {
                let _ = answers.send(frame);
            }
        });
    }
}
