//! Ends programs that their runtimes have given up while this worker was away.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Subscriber;
use futures_util::StreamExt;
use windlass_hold_wire::ProgramOrigin;
use windlass_host::held_key;
use windlass_process::TakeOverError;

use super::Worker;
use super::far_session::FarSession;
use super::recording::RecordClosing;
use crate::lost::{read_lost, remove_lost};
use crate::names::PoolNames;

/// The delay before a failed attempt is repeated.
const AGAIN: Duration = Duration::from_millis(500);
/// The delay before the stream is opened again.
const WITHOUT_STREAM: Duration = Duration::from_secs(10);
/// How many times an end is attempted. The lease of the program ends it too.
const ATTEMPTS: u32 = 60;
/// The time that the processes have to end by themselves.
const GRACE: Duration = Duration::from_secs(2);

/// Ends all programs that were or will be given up, forever.
pub(super) async fn end_all(worker: &Arc<Worker>, mut losses: Subscriber) {
    let mut connection = worker.broker.connection.clone();
    loop {
        worker.broker.connected().await;
        let count = connection.borrow_and_update().count;
        // A broker that came back without its store does not have this stream, and programs that run write to it.
        let reopened = Arc::clone(worker);
        windlass_task::spawn(async move { reopened.output().await });
        if worker.losses().await.is_none() {
            tokio::time::sleep(WITHOUT_STREAM).await;
            continue;
        }
        // Those that were given up while this worker had no connection.
        match read_lost(&worker.broker, &worker.options.name).await {
            Ok(lost) => {
                for origin in lost {
                    windlass_task::spawn(end(Arc::clone(worker), origin));
                }
            }
            Err(error) => {
                tracing::debug!(%error, "lost programs are read again");
                tokio::time::sleep(AGAIN).await;
                continue;
            }
        }
        loop {
            tokio::select! {
                message = losses.next() => match message {
                    Some(message) => {
                        if let Some(origin) = PoolNames::lost_program(&message.subject) {
                            windlass_task::spawn(end(Arc::clone(worker), origin));
                        }
                    }
                    // The client is closed.
                    None => return std::future::pending().await,
                },
                _ = connection.wait_for(|it| it.count != count) => break,
            }
        }
    }
}

/// Ends a program, whether this process or an earlier one has started it.
async fn end(worker: Arc<Worker>, origin: ProgramOrigin) {
    let session = worker.session_of(&origin);
    if let Some((far, program)) = &session {
        // A start that is still in the queue is not carried out.
        far.note_claimed(*program);
        // The link is released, so that the holder accepts the order.
        far.stop().await;
    }
    if let Some(key) = held_key(&worker.options.serve.folder, &origin) {
        for _ in 0..ATTEMPTS {
            match key.end(GRACE).await {
                Ok(receipt) => {
                    tracing::info!(ended = receipt.ended, "a lost program is ended");
                    break;
                }
                Err(TakeOverError::Gone { .. }) => break,
                Err(error) => tracing::debug!(%error, "a lost program is not ended yet"),
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
    if let Some((far, program)) = &session {
        far.drop_program(&worker, *program);
    }
    // Its session may be over.
    if let Some(owner) = worker.kept.remove(&origin) {
        worker.close_record(&origin, RecordClosing::Remove);
        worker.vacate(&owner);
    }
    if let Some(stream) = worker.losses().await {
        remove_lost(&worker.broker, &stream, &worker.options.name, &origin).await;
    }
}

impl Worker {
    /// The session that has a program, and its number there.
    fn session_of(&self, origin: &ProgramOrigin) -> Option<(Arc<FarSession>, u64)> {
        let sessions = self.sessions.lock();
        let adopted = sessions.values().find_map(|far| {
            let program = far.adopted(origin)?;
            Some((Arc::clone(far), program))
        });
        adopted.or_else(|| {
            let far = sessions.get(&origin.session)?;
            Some((Arc::clone(far), origin.program))
        })
    }
}
