//! Links without a carrier command: the embedder provides the pipe.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use windlass_hold_wire::{LinkSession, NearFrame, NearHello};
use windlass_process::RemoteFuture;

use crate::HostError;
use crate::carrier::{CarrierLink, Greeting, greet};
use crate::pieces::{FrameReader, FrameSender};

/// A pipe to a far end that runs [`serve`](crate::serve).
pub struct LinkPipe {
    /// The bytes from the far end. They end when the link is lost.
    pub input: Box<dyn AsyncRead + Send + Unpin>,
    /// The bytes to the far end.
    pub output: Box<dyn AsyncWrite + Send + Unpin>,
}

/// Opens links to one host.
pub trait LinkSource: Send + Sync {
    /// Opens a link for the near session. Called again after a link was lost.
    fn open(&self, session: LinkSession) -> RemoteFuture<'_, Result<LinkPipe, HostError>>;

    /// The time since which the far side can know that a link is lost and counts the lease. `None` if it cannot know:
    /// then its programs, and the near side, wait indefinitely.
    fn lease_since(&self) -> Option<Instant>;
}

/// Opens a link and performs the handshake.
pub(crate) async fn connect(
    source: &dyn LinkSource,
    hello: NearHello,
    limit: Duration,
) -> Result<CarrierLink, HostError> {
    let pipe = source.open(hello.session).await?;
    let (sender, writing) = FrameSender::new(pipe.output);
    windlass_task::spawn(writing);
    sender.send(&NearFrame::Hello(hello).write());
    let mut reader = FrameReader::new(pipe.input);
    let mut head = Vec::new();
    let greeted = tokio::time::timeout(limit, greet(&mut reader, &mut head)).await;
    let machine = match greeted {
        Ok(Ok(machine)) => machine,
        Ok(Err(Greeting::Error(error))) => return Err(error),
        Ok(Err(Greeting::Closed)) => {
            let why = String::from("the link was lost before it answered");
            return Err(HostError::Unreached { why });
        }
        Err(_) => {
            let said = String::new();
            return Err(HostError::Silent { limit, said });
        }
    };
    Ok(CarrierLink {
        carrier: None,
        reader,
        sender,
        machine,
        copied: None,
    })
}
