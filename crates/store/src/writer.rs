//! The thread that writes, in groups.
//!
//! What is told waits a moment for company, so that a call that is over
//! quickly is one row written once. Whoever asks for durability ends the wait.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
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
    inbox: Arc<Inbox>,
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
        let inbox = Arc::new(Inbox::default());
        let theirs = Arc::clone(&inbox);
        let thread = std::thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || run(connection, &outputs, &theirs))?;
        Ok(Self {
            inbox,
            thread: Some(thread),
        })
    }

    /// Writes this, some time soon.
    pub(crate) fn write(&self, write: Write) {
        self.inbox.put(Order::Write(write));
    }

    /// Resolves when everything told so far is written.
    pub(crate) async fn durable(&self) {
        let (sender, receiver) = oneshot::channel();
        self.inbox.put(Order::Durable(sender));
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
        self.inbox.put(Order::Work(Box::new(move |connection| {
            // Nobody may wait for it any more, and it is done all the same.
            let _ = sender.send(work(connection));
        })));
        receiver.await.ok()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.inbox.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is to be done. A call tells of itself three times before it waits;
/// the thread is woken for the last of them only.
#[derive(Default)]
struct Inbox {
    state: Mutex<InboxState>,
    changed: Condvar,
}

#[derive(Default)]
struct InboxState {
    orders: Vec<Order>,
    /// Somebody waits for one of them.
    urgent: bool,
    /// The thread sleeps until it is woken; else it looks here soon by itself.
    asleep: bool,
    closed: bool,
}

impl Inbox {
    /// An order that comes too late is dropped, and whoever waits for it learns
    /// that.
    fn put(&self, order: Order) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        let urgent = !matches!(order, Order::Write(_));
        state.orders.push(order);
        state.urgent |= urgent;
        let wake = urgent || std::mem::take(&mut state.asleep);
        drop(state);
        if wake {
            self.changed.notify_one();
        }
    }

    /// No more will come.
    fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    /// Waits for something to do and, unless that is urgent, for what else
    /// comes soon. `None` when no more will come.
    fn take(&self) -> Option<Vec<Order>> {
        let mut state = self.state.lock();
        loop {
            let until = Instant::now() + LINGER;
            let mut timed_out = false;
            while !(state.urgent || state.closed || timed_out) {
                timed_out = self.changed.wait_until(&mut state, until).timed_out();
            }
            if !state.orders.is_empty() {
                state.urgent = false;
                return Some(std::mem::take(&mut state.orders));
            }
            if state.closed {
                return None;
            }
            state.asleep = true;
            while state.asleep && !state.urgent && !state.closed {
                self.changed.wait(&mut state);
            }
            state.asleep = false;
        }
    }
}

/// Nobody waits for a thread that is gone, whatever ended it.
struct Gone<'a>(&'a Inbox);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.closed = true;
        state.orders.clear();
    }
}

fn run(mut connection: Connection, outputs: &Path, inbox: &Inbox) {
    let _gone = Gone(inbox);
    while let Some(orders) = inbox.take() {
        let mut group = Group::default();
        for order in orders {
            match order {
                Order::Write(write) => group.writes.push(write),
                Order::Durable(waiting) => group.durable.push(waiting),
                Order::Work(work) => {
                    group.flush(&mut connection, outputs);
                    work(&mut connection);
                }
            }
            if group.writes.len() >= GROUP {
                group.flush(&mut connection, outputs);
            }
        }
        group.flush(&mut connection, outputs);
    }
}

/// What is written in one go, and who waits for it.
#[derive(Default)]
struct Group {
    writes: Vec<Write>,
    durable: Vec<oneshot::Sender<()>>,
}

impl Group {
    fn flush(&mut self, connection: &mut Connection, outputs: &Path) {
        write_group(connection, outputs, std::mem::take(&mut self.writes));
        for waiting in self.durable.drain(..) {
            // Who no longer waits need not know.
            let _ = waiting.send(());
        }
    }
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
