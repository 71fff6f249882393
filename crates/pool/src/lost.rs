//! Programs that runtimes have given up while their worker was away.
//!
//! A runtime notes each such program on the broker before it reports it as lost. The worker ends the program when it is
//! back, so that no lost program continues to run for its lease.

use std::time::Duration;

use async_nats::jetstream::stream::Stream;
use windlass_hold_wire::ProgramOrigin;

use crate::broker::{Broker, has_no_stream, words};
use crate::error::Trouble;
use crate::names::PoolNames;
use crate::stored::read_all;

/// The delay before a failed request is repeated.
const AGAIN: Duration = Duration::from_millis(200);
/// How many times a note is published.
const ATTEMPTS: u32 = 50;

/// Notes that a program is given up. Waits while no broker is connected.
pub(crate) async fn note_lost(broker: Broker, worker: String, origin: ProgramOrigin) {
    let subject = broker.names.lost(&worker, &origin);
    for _ in 0..ATTEMPTS {
        broker.connected().await;
        let published = broker.jetstream.publish(subject.clone(), Vec::new().into());
        let published = async { published.await?.await };
        match published.await {
            Ok(_) => return,
            Err(error) => {
                tracing::debug!(error = words(&error), "a loss is noted again");
                if has_no_stream(&error) {
                    let _ = broker.losses().await;
                }
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
    tracing::warn!(worker, "the worker is not told to end a lost program");
}

/// The programs of a worker that were given up.
pub(crate) async fn read_lost(
    broker: &Broker,
    worker: &str,
) -> Result<Vec<ProgramOrigin>, Trouble> {
    let names = &broker.names;
    let mut lost = Vec::new();
    read_all(broker, names.losses(), names.all_lost(worker), |message| {
        lost.extend(PoolNames::lost_program(&message.subject));
    })
    .await?;
    Ok(lost)
}

/// Removes the note of a program that has ended. If this fails, the broker drops it later.
pub(crate) async fn remove_lost(
    broker: &Broker,
    stream: &Stream,
    worker: &str,
    origin: &ProgramOrigin,
) {
    let subject = broker.names.lost(worker, origin);
    if let Err(error) = stream.purge().filter(subject).await {
        tracing::debug!(%error, "the note of a lost program is not removed");
    }
}
