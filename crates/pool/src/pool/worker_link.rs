//! Links to one worker. Starts are diverted from the link to the queue.

use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::Instant;
use windlass_hold_wire::{FarFrame, LinkSession, NearFrame, StartFailure};
use windlass_host::{HostError, LinkPipe, LinkSource};
use windlass_process::RemoteFuture;

use crate::broker::{Broker, words};
use crate::error::Trouble;
use crate::link::{FrameGate, LinkEnd, LinkRequest, PIPE};
use crate::names::{claim_key, random_word};

/// How many times a start is offered to a broker that does not accept it.
const ATTEMPTS: u32 = 50;
/// The time between attempts.
const AGAIN: Duration = Duration::from_millis(200);
/// How long a worker may take to close an earlier link.
const OPENING: Duration = Duration::from_secs(10);

/// Opens links to one worker.
pub(super) struct WorkerLink {
    broker: Broker,
    worker: String,
    runtime: String,
    /// The time of the worker's last sign of life.
    heard: Arc<Mutex<Instant>>,
}

impl WorkerLink {
    pub(super) fn new(
        broker: Broker,
        worker: String,
        runtime: String,
        heard: Arc<Mutex<Instant>>,
    ) -> Self {
        Self {
            broker,
            worker,
            runtime,
            heard,
        }
    }

    async fn make(&self, session: LinkSession) -> Result<LinkPipe, HostError> {
        let Broker { client, names, .. } = &self.broker;
        let worker = &self.worker;
        let failed = |error: &dyn std::error::Error| HostError::Unreached {
            why: format!("worker `{worker}` does not answer: {}", words(error)),
        };
        self.broker.connected().await;
        let link = random_word();
        let messages = client.subscribe(names.to_runtime(&link)).await;
        let messages = messages.map_err(|error| failed(&error))?;
        let request = LinkRequest {
            session: format!("{:032x}", u128::from_be_bytes(session)),
            runtime: self.runtime.clone(),
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
            broker: self.broker.clone(),
            subject: names.start(worker),
            session,
            heard: Arc::clone(&self.heard),
            adding,
            _telling: telling,
        };
        let to = names.to_worker(&link);
        let broker = self.broker.clone();
        tokio::spawn(async move {
            let mut end = LinkEnd {
                broker,
                messages,
                to,
                from_pipe,
                to_pipe,
                added,
                told,
                flow: crate::link::Flow::default(),
            };
            end.run(&mut gate).await
        });
        Ok(LinkPipe {
            input: Box::new(input),
            output: Box::new(output),
        })
    }
}

impl LinkSource for WorkerLink {
    fn open(&self, session: LinkSession) -> RemoteFuture<'_, Result<LinkPipe, HostError>> {
        Box::pin(self.make(session))
    }

    /// Without a broker, the workers keep their programs and wait.
    fn lease_since(&self) -> Option<std::time::Instant> {
        self.broker.connection.borrow().since
    }
}

/// Filters the near end's frames.
struct NearGate {
    broker: Broker,
    /// The worker's subject in the queue.
    subject: String,
    session: LinkSession,
    heard: Arc<Mutex<Instant>>,
    /// Frames for the near end.
    adding: mpsc::UnboundedSender<Vec<u8>>,
    /// Unused: nothing is injected for the worker. Keeps the channel open.
    _telling: mpsc::UnboundedSender<Vec<u8>>,
}

impl FrameGate for NearGate {
    fn leaving(&mut self, frame: &[u8]) -> bool {
        let Some(NearFrame::Start { program, .. }) = NearFrame::read(frame) else {
            return true;
        };
        let mut payload = self.session.to_vec();
        payload.extend_from_slice(frame);
        let queueing = queue(
            self.broker.clone(),
            self.subject.clone(),
            claim_key(&self.session, program),
            payload,
        );
        let adding = self.adding.clone();
        tokio::spawn(async move {
            if let Err(Trouble(problem)) = queueing.await {
                let failed = FarFrame::Failed {
                    program,
                    failure: StartFailure::Other,
                    problem,
                };
                let _ = adding.send(failed.write());
            }
        });
        false
    }

    async fn arriving(&mut self, _: &[u8]) -> bool {
        *self.heard.lock() = Instant::now();
        true
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
            Err(error) => why = words(&error),
        }
        if payload.len() > broker.client.max_payload() {
            break;
        }
        tokio::time::sleep(AGAIN).await;
    }
    Err(Trouble(format!("the broker rejected the start: {why}")))
}
