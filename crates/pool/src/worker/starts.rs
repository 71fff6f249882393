//! Starts from the queue: claimed first, then started, then confirmed.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::{Message, stream};
use futures_util::StreamExt;
use windlass_hold_wire::{
    FarFrame, LinkSession, NearFrame, ProgramOrigin, ProgramStart, StartFailure,
};

use super::{Worker, now};
use crate::PoolProgram;
use crate::broker::{ClaimKind, Claimed, claim, words};
use crate::error::Trouble;

/// An unconfirmed start is delivered again after this time.
const CONFIRMING: Duration = Duration::from_secs(10);
/// The queue of an absent worker is removed after this time.
const FORGOTTEN: Duration = Duration::from_hours(1);
/// The delay before a failed queue is opened again.
const AGAIN: Duration = Duration::from_millis(100);

/// Handles starts for this worker, forever.
pub(super) async fn take_all(worker: &Arc<Worker>, mut starts: stream::Stream) {
    loop {
        worker.broker.connected().await;
        if let Err(Trouble(error)) = take(worker, &starts).await {
            tracing::debug!(error, "the queue is asked again");
            tokio::time::sleep(AGAIN).await;
            // A broker that came back without its store does not have the queue.
            match worker.broker.starts().await {
                Ok(opened) => starts = opened,
                Err(error) => tracing::debug!(%error, "there is no queue"),
            }
        }
    }
}

async fn take(worker: &Arc<Worker>, starts: &stream::Stream) -> Result<(), Trouble> {
    let name = &worker.options.name;
    let config = pull::Config {
        durable_name: Some(name.clone()),
        filter_subject: worker.broker.names.start(name),
        ack_policy: AckPolicy::Explicit,
        ack_wait: CONFIRMING,
        inactive_threshold: FORGOTTEN,
        ..pull::Config::default()
    };
    let consumer = starts.get_or_create_consumer(name, config).await;
    let consumer = consumer.map_err(|error| Trouble(words(&error)))?;
    let heartbeat = worker.options.heartbeat.max(Duration::from_millis(500));
    let messages = consumer
        .stream()
        .heartbeat(heartbeat)
        .expires(heartbeat * 4)
        .messages();
    let mut messages = messages.await.map_err(|error| Trouble(words(&error)))?;
    let disconnected = worker.broker.disconnected();
    let mut disconnected = std::pin::pin!(disconnected);
    loop {
        // A message that was taken is always completed: a claim without a start would lose the program.
        let message = tokio::select! {
            message = messages.next() => message,
            () = &mut disconnected => return Ok(()),
        };
        let message = message.ok_or_else(|| Trouble(String::from("the queue has ended")))?;
        let message = message.map_err(|error| Trouble(words(&error)))?;
        take_one(worker, &message).await;
        if let Err(error) = message.ack().await {
            // It is delivered again, its claim is found, and it is confirmed then.
            tracing::debug!(%error, "a start is not confirmed");
        }
    }
}

async fn take_one(worker: &Arc<Worker>, message: &Message) {
    let Some((session, bytes)) = message.payload.split_first_chunk::<16>() else {
        return;
    };
    let Some(NearFrame::Start { program, start }) = NearFrame::read(bytes) else {
        return;
    };
    let session: LinkSession = *session;
    let id = (session, program);
    let far = worker.sessions.lock().get(&session).cloned();
    let Some(far) = far else {
        return refuse(worker, id).await;
    };
    let _starting = far.starting.lock().await;
    if far.has_claimed(program) {
        // It was started before, but not confirmed.
        return;
    }
    if !worker.has_room() {
        return refuse(worker, id).await;
    }
    worker.occupy(id, listed(&far.runtime, &start));
    let (broker, claims) = (&worker.broker, &worker.claims);
    match claim(broker, claims, (&session, program), ClaimKind::Started).await {
        Claimed::Now => {
            let origin = ProgramOrigin { session, program };
            if start.keep.is_some() {
                worker.kept.assign(origin, id);
            }
            let is_passed = far.start(bytes);
            // Later frames about it may follow now.
            far.note_claimed(program);
            if !is_passed {
                // The link is gone. The runtime asks for the program over the next one and learns that it does not
                // exist.
                worker.kept.remove(&origin);
                worker.vacate(&id);
            }
        }
        Claimed::Before(_) => {
            worker.vacate(&id);
            far.send(&FarFrame::Gone {
                program,
                why: String::from(
                    "its start was delivered again after it had been claimed; it is not started twice",
                ),
                ended: 0,
                receipt: None,
            });
        }
    }
}

/// Refuses a start, so that the runtime may place it elsewhere.
async fn refuse(worker: &Arc<Worker>, (session, program): (LinkSession, u64)) {
    let (broker, claims) = (&worker.broker, &worker.claims);
    let claimed = claim(broker, claims, (&session, program), ClaimKind::Withdrawn).await;
    let far = worker.sessions.lock().get(&session).cloned();
    if let Some(far) = far.filter(|far| !far.has_claimed(program)) {
        far.send(&match claimed {
            Claimed::Before(ClaimKind::Started) => FarFrame::Gone {
                program,
                why: String::from("its start was claimed before, so it is not started twice"),
                ended: 0,
                receipt: None,
            },
            _ => FarFrame::Failed {
                program,
                failure: StartFailure::Other,
                problem: String::from("the worker has no free slot"),
            },
        });
    }
}

fn listed(runtime: &str, start: &ProgramStart) -> PoolProgram {
    let program = String::from_utf8_lossy(&start.program);
    let name = program.rsplit('/').next().unwrap_or_default();
    PoolProgram {
        runtime: runtime.to_owned(),
        program: name.chars().take(64).collect(),
        since: now(),
    }
}
