//! The thread that writes, in groups.
//!
//! What is told waits a moment for company, so that a call that is over
//! quickly is one row written once. Whoever asks for durability ends the wait.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;
use windlass_protocol::{PartId, ToolPart};

use crate::write::{Write, apply};

/// How long what was told waits for company.
const LINGER: Duration = Duration::from_millis(20);
/// How much is written in one go.
const GROUP: usize = 4096;

/// The thread's other end. Dropping it waits until everything is written.
pub(crate) struct Writer {
    orders: Mutex<Option<Sender<Order>>>,
    thread: Option<JoinHandle<()>>,
}

/// Something to do with the connection that writes.
type Work = Box<dyn FnOnce(&mut Connection) + Send>;

enum Order {
    Write(Write),
    /// Answer when everything before is written.
    Durable(oneshot::Sender<()>),
    /// Do this when everything before is written.
    Work(Work),
}

impl Writer {
    pub(crate) fn start(connection: Connection, outputs: PathBuf) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || run(connection, &outputs, &receiver))?;
        Ok(Self {
            orders: Mutex::new(Some(sender)),
            thread: Some(thread),
        })
    }

    /// Writes this, some time soon.
    pub(crate) fn write(&self, write: Write) {
        self.order(Order::Write(write));
    }

    /// Resolves when everything told so far is written.
    pub(crate) async fn durable(&self) {
        let (sender, receiver) = oneshot::channel();
        self.order(Order::Durable(sender));
        // A thread that is gone has said why.
        let _ = receiver.await;
    }

    /// Does something after everything told so far. `None` when the thread is
    /// gone.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = oneshot::channel();
        self.order(Order::Work(Box::new(move |connection| {
            // Nobody may wait for it any more, and it is done all the same.
            let _ = sender.send(work(connection));
        })));
        receiver.await.ok()
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &*self.orders.lock() {
            let _ = orders.send(order);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.orders.lock().take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(mut connection: Connection, outputs: &Path, orders: &Receiver<Order>) {
    let mut open = true;
    while open {
        let group = gather(orders, &mut open);
        write_group(&mut connection, outputs, group.writes);
        for waiting in group.durable {
            let _ = waiting.send(());
        }
        if let Some(work) = group.work {
            work(&mut connection);
        }
    }
}

#[derive(Default)]
struct Group {
    writes: Vec<Write>,
    durable: Vec<oneshot::Sender<()>>,
    work: Option<Work>,
}

/// Waits for something to do and for what else comes with it. A group ends
/// when somebody waits for it and nothing else is there yet.
fn gather(orders: &Receiver<Order>, open: &mut bool) -> Group {
    let mut group = Group::default();
    let mut until: Option<Instant> = None;
    while group.writes.len() < GROUP && group.work.is_none() {
        let wait = match until {
            None => None,
            Some(_) if !group.durable.is_empty() => Some(Duration::ZERO),
            Some(until) => Some(until.saturating_duration_since(Instant::now())),
        };
        let order = match wait {
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => orders.recv_timeout(wait),
        };
        match order {
            Ok(Order::Write(write)) => group.writes.push(write),
            Ok(Order::Durable(waiting)) => group.durable.push(waiting),
            Ok(Order::Work(work)) => group.work = Some(work),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => {
                *open = false;
                break;
            }
        }
        until.get_or_insert_with(|| Instant::now() + LINGER);
    }
    group
}

fn write_group(connection: &mut Connection, outputs: &Path, writes: Vec<Write>) {
    let writes = without_overtaken(writes);
    if writes.is_empty() {
        return;
    }
    if let Err(error) = try_write(connection, outputs, &writes) {
        // The tools' work is done whether or not it can be recorded.
        tracing::error!(%error, "the record could not be written");
    }
}

/// Of each part only the last change counts. It stands where the first one
/// stood, so that parts keep the order in which their calls came.
fn without_overtaken(mut writes: Vec<Write>) -> Vec<Write> {
    let mut last: HashMap<PartId, Arc<ToolPart>> = HashMap::new();
    for write in &writes {
        if let Write::Part { part, .. } = write {
            last.insert(part.id.clone(), Arc::clone(part));
        }
    }
    writes.retain_mut(|write| match write {
        Write::Part { part, .. } => match last.remove(&part.id) {
            Some(last) => {
                *part = last;
                true
            }
            None => false,
        },
        _ => true,
    });
    writes
}

fn try_write(
    connection: &mut Connection,
    outputs: &Path,
    writes: &[Write],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for write in writes {
        if let Err(error) = apply(&transaction, outputs, write) {
            // One that cannot be written takes no other with it.
            tracing::error!(%error, "something could not be recorded");
        }
    }
    transaction.commit()
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
