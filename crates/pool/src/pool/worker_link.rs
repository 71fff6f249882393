//! Links to one worker. Starts are diverted from the link to the queue.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use windlass_hold_wire::{
    FarFrame, FramedOutput, HolderOrder, LinkSession, NearFrame, ProgramOrigin, StartFailure,
};
use windlass_host::{HostError, LinkPipe, LinkSource};
use windlass_process::RemoteFuture;

use super::stored_end::{StoredEnd, StoredReader, StoredRecall, StoredResume};
use crate::broker::{Broker, has_no_stream, words};
use crate::error::Trouble;
use crate::link::{FrameGate, FrameWriter, LinkEnd, LinkRequest, PIPE};
use crate::names::{claim_key, random_word};

/// How many times a start is offered to a broker that does not accept it.
const ATTEMPTS: u32 = 50;
/// The time between attempts.
const AGAIN: Duration = Duration::from_millis(200);
/// How long a worker may take to close an earlier link.
const OPENING: Duration = Duration::from_secs(10);

/// At least the length of the headers of a start.
const HEADERS: usize = 256;

/// The groups of running programs, by their numbers.
pub(super) type ProgramGroups = Arc<Mutex<HashMap<u64, Option<Arc<str>>>>>;

/// Opens links to one worker, or to its stored output once it is dead.
pub(super) struct WorkerLink {
    pub(super) reader: StoredReader,
    pub(super) worker: String,
    pub(super) runtime: String,
    /// How many bytes of each program's output the worker stores.
    pub(super) stored_output: u64,
    /// The time of the worker's last sign of life.
    pub(super) heard: Arc<Mutex<Instant>>,
    /// The running programs, each with its session's group.
    pub(super) groups: ProgramGroups,
    /// Programs whose starts the broker does not accept for any worker.
    pub(super) refused: Arc<Mutex<HashSet<u64>>>,
    /// The reason why the worker is not used any more.
    pub(super) dead: watch::Sender<Option<Arc<str>>>,
}

impl WorkerLink {
    /// Declares the worker dead: its link ends, and later ones lead to its stored output.
    pub(super) fn bury(&self, why: &str) {
        self.dead.send_replace(Some(why.into()));
    }

    /// Opens a link to the worker, or to its stored output.
    async fn open_any(&self, session: LinkSession) -> Result<LinkPipe, HostError> {
        let mut dead = self.dead.subscribe();
        let why = dead.borrow_and_update().clone();
        if let Some(why) = why {
            let (reader, worker) = (self.reader.clone(), self.worker.clone());
            return Ok(StoredEnd::open(reader, session, worker, why));
        }
        tokio::select! {
            made = self.make(session) => made,
            // The next attempt finds it dead.
            _ = dead.changed() => Err(HostError::Unreached {
                why: format!("worker `{}` is dead", self.worker),
            }),
        }
    }

    /// Opens a link to the worker. A request that may have been lost with the connection is repeated: leases count from the
    /// next connection.
    async fn make(&self, session: LinkSession) -> Result<LinkPipe, HostError> {
        let broker = &self.reader.broker;
        loop {
            broker.connected().await;
            tokio::select! {
                made = self.request(session) => return made,
                () = broker.disconnected() => {}
            }
        }
    }

    async fn request(&self, session: LinkSession) -> Result<LinkPipe, HostError> {
        let broker = &self.reader.broker;
        let Broker { client, names, .. } = broker;
        let worker = &self.worker;
        let failed = |error: &dyn std::error::Error| HostError::Unreached {
            why: format!("worker `{worker}` does not answer: {}", words(error)),
        };
        let link = random_word();
        let messages = client.subscribe(names.to_runtime(&link)).await;
        let messages = messages.map_err(|error| failed(&error))?;
        let request = LinkRequest {
            session: format!("{:032x}", u128::from_be_bytes(session)),
            runtime: self.runtime.clone(),
            stored_output: self.stored_output,
            link: link.clone(),
        };
        // Cannot fail: a struct of strings.
        let request = serde_json::to_vec(&request).unwrap_or_default();
        let request = async_nats::Request::new()
            .payload(request.into())
            .timeout(Some(OPENING));
        let reply = client.send_request(names.open(worker), request).await;
        let reply = reply.map_err(|error| failed(&error))?;
        if !reply.payload.is_empty() {
            let why = String::from_utf8_lossy(&reply.payload).into_owned();
            return Err(HostError::Refused { why });
        }
        let (input, to_pipe) = tokio::io::duplex(PIPE);
        let (output, from_pipe) = tokio::io::duplex(PIPE);
        let (adding, added) = mpsc::unbounded_channel();
        let (telling, told) = mpsc::unbounded_channel();
        let mut gate = NearGate {
            reader: self.reader.clone(),
            subject: names.start(worker),
            session,
            heard: Arc::clone(&self.heard),
            groups: Arc::clone(&self.groups),
            refused: Arc::clone(&self.refused),
            resumes: HashMap::new(),
            ending: HashSet::new(),
            recalled: HashMap::new(),
            adding,
            _telling: telling,
        };
        let to = names.to_worker(&link);
        let broker = broker.clone();
        let mut dead = self.dead.subscribe();
        windlass_task::spawn(async move {
            let mut end = LinkEnd {
                broker,
                messages,
                to,
                from_pipe,
                to_pipe: FrameWriter::new(to_pipe),
                added,
                told,
                flow: crate::link::Flow::default(),
            };
            tokio::select! {
                _ = end.run(&mut gate) => {}
                _ = dead.wait_for(Option::is_some) => {}
            }
        });
        Ok(LinkPipe {
            input: Box::new(input),
            output: Box::new(output),
        })
    }
}

impl LinkSource for WorkerLink {
    fn open(&self, session: LinkSession) -> RemoteFuture<'_, Result<LinkPipe, HostError>> {
        Box::pin(self.open_any(session))
    }

    /// Without a broker, the workers keep their programs and wait.
    fn lease_since(&self) -> Option<Instant> {
        self.reader.broker.connection.borrow().since
    }
}

/// Filters the near end's frames.
struct NearGate {
    reader: StoredReader,
    /// The worker's subject in the queue.
    subject: String,
    session: LinkSession,
    heard: Arc<Mutex<Instant>>,
    groups: ProgramGroups,
    refused: Arc<Mutex<HashSet<u64>>>,
    /// Programs that were to be resumed.
    resumes: HashMap<u64, StoredResume>,
    /// Programs that were to be resumed and ended.
    ending: HashSet<u64>,
    /// Programs that the worker does not have, and that were resumed from their stored output.
    recalled: HashMap<u64, ProgramOrigin>,
    /// Frames for the near end.
    adding: mpsc::UnboundedSender<Vec<u8>>,
    /// Unused: nothing is injected for the worker. Keeps the channel open.
    _telling: mpsc::UnboundedSender<Vec<u8>>,
}

impl NearGate {
    /// Queues a start for the worker.
    fn start(&self, program: u64, frame: &[u8]) {
        let mut payload = self.session.to_vec();
        payload.extend_from_slice(frame);
        let most = self.reader.broker.client.max_payload();
        if payload.len() + HEADERS > most {
            self.refused.lock().insert(program);
            let problem = format!(
                "its start has {} bytes, which exceeds the broker's `max_payload` of {most} bytes; pass long input \
                 through a file",
                payload.len()
            );
            let _ = self.adding.send(failed(program, problem).write());
            return;
        }
        let queueing = queue(
            self.reader.broker.clone(),
            self.subject.clone(),
            claim_key(&self.session, program),
            payload,
        );
        let adding = self.adding.clone();
        windlass_task::spawn(async move {
            if let Err(Trouble(problem)) = queueing.await {
                let _ = adding.send(failed(program, problem).write());
            }
        });
    }

    /// Resumes a program that the worker does not have any more from its stored output.
    fn recall(&mut self, gone: FarFrame, resume: StoredResume) {
        self.recalled.insert(resume.program, resume.origin);
        let is_ending = self.ending.remove(&resume.program);
        let (reader, adding) = (self.reader.clone(), self.adding.clone());
        windlass_task::spawn(async move {
            let why = match &gone {
                FarFrame::Gone { why, .. } => why.clone(),
                _ => String::new(),
            };
            let frames = match reader.recall(resume, &why).await {
                StoredRecall::Frames { frames, .. } => frames,
                StoredRecall::Nothing => vec![gone],
                StoredRecall::Unreadable(error) => {
                    tracing::warn!(%error, "stored output cannot be read");
                    vec![gone]
                }
            };
            for frame in frames {
                let _ = adding.send(frame.write());
            }
            if is_ending {
                let _ = adding.send(ended(resume.program).write());
            }
        });
    }
}

impl FrameGate for NearGate {
    fn leaving(&mut self, frame: &[u8]) -> bool {
        let Some(near) = NearFrame::read(frame) else {
            return true;
        };
        if let Some(resume) = StoredResume::of(&near, self.session) {
            self.resumes.insert(resume.program, resume);
        }
        match near {
            NearFrame::Start { program, .. } => {
                self.start(program, frame);
                false
            }
            NearFrame::Order {
                program,
                order: HolderOrder::End { .. },
                ..
            } if self.recalled.contains_key(&program) => {
                let _ = self.adding.send(ended(program).write());
                false
            }
            NearFrame::Order {
                program,
                order: HolderOrder::End { .. },
                ..
            } if self.resumes.contains_key(&program) => {
                self.ending.insert(program);
                true
            }
            NearFrame::Forget { program } => {
                self.groups.lock().remove(&program);
                self.resumes.remove(&program);
                self.ending.remove(&program);
                if let Some(origin) = self.recalled.remove(&program) {
                    let reader = self.reader.clone();
                    windlass_task::spawn(async move { reader.remove(origin).await });
                }
                true
            }
            _ => true,
        }
    }

    async fn arriving(&mut self, frame: &[u8]) -> bool {
        *self.heard.lock() = Instant::now();
        // Output is most of the traffic, and is not decoded.
        if FramedOutput::read(frame).is_some() {
            return true;
        }
        let Some(far) = FarFrame::read(frame) else {
            return true;
        };
        if let FarFrame::Exited { program, .. }
        | FarFrame::Ended { program, .. }
        | FarFrame::Failed { program, .. }
        | FarFrame::Gone { program, .. } = &far
            && !(matches!(far, FarFrame::Failed { .. }) && self.resumes.contains_key(program))
        {
            // One that cannot be resumed for now still runs.
            self.groups.lock().remove(program);
        }
        match far {
            // A receipt reports its end: nothing is missing.
            gone @ FarFrame::Gone {
                program,
                receipt: None,
                ..
            } => match self.resumes.remove(&program) {
                Some(resume) => {
                    self.recall(gone, resume);
                    false
                }
                None => true,
            },
            _ => true,
        }
    }
}

/// The end of a program that does not exist any more.
fn ended(program: u64) -> FarFrame {
    FarFrame::Ended {
        program,
        ended: 0,
        survivors: Vec::new(),
    }
}

fn failed(program: u64, problem: String) -> FarFrame {
    FarFrame::Failed {
        program,
        failure: StartFailure::Other,
        problem,
    }
}

/// Queues a start once: the broker drops duplicates by id.
async fn queue(
    broker: Broker,
    subject: String,
    id: String,
    payload: Vec<u8>,
) -> Result<(), Trouble> {
    let payload = bytes::Bytes::from(payload);
    let mut why = String::new();
    for _ in 0..ATTEMPTS {
        broker.connected().await;
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id.as_str());
        let jetstream = &broker.jetstream;
        let published = jetstream.publish_with_headers(subject.clone(), headers, payload.clone());
        let published = async { published.await?.await };
        match published.await {
            Ok(_) => return Ok(()),
            Err(error) => {
                why = words(&error);
                if has_no_stream(&error) {
                    // A broker that came back without its store does not have the queue.
                    let _ = broker.starts().await;
                }
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
    Err(Trouble(format!("the broker rejected the start: {why}")))
}

#[cfg(test)]
#[path = "worker_link_tests.rs"]
mod tests;
