//! The thread that writes, in groups.
//!
//! What is told waits a moment for company, so that a call that is over
//! quickly is one row written once. Whoever asks for durability ends the wait.
//!
//! What cannot be written (the disk is full, another process holds the
//! record) waits in a bounded backlog and is tried again. Whoever waits for
//! durability is then let go, and [`Writer::trouble`] says how things stand.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::oneshot;
use windlass_protocol::{PartId, RecordTrouble, ToolPart};

use crate::backlog::{Backlog, Standing};
use crate::write::{Write, apply};

/// How long what was told waits for company.
const LINGER: Duration = Duration::from_millis(20);
/// How much is written in one go.
const GROUP: usize = 4096;
/// How long a write waits for another process that writes, while all is well…
const PATIENCE: Duration = Duration::from_secs(2);
/// … and once it has waited in vain.
const IMPATIENCE: Duration = Duration::from_millis(20);
/// How often what could not be written is tried again.
const RETRY: Duration = Duration::from_millis(250);
/// How long the end of the process waits for what is not written yet.
const LAST_CHANCE: Duration = Duration::from_secs(2);

/// The thread's other end. Dropping it waits until everything is written.
pub(crate) struct Writer {
    inbox: Arc<Inbox>,
    standing: Arc<Standing>,
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
        let standing = Arc::new(Standing::default());
        let theirs = Arc::clone(&inbox);
        let mut thread = WritingThread {
            connection,
            outputs,
            backlog: Backlog::default(),
            standing: Arc::clone(&standing),
        };
        let handle = std::thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || thread.run(&theirs))?;
        Ok(Self {
            inbox,
            standing,
            thread: Some(handle),
        })
    }

    /// Writes this, some time soon.
    pub(crate) fn write(&self, write: Write) {
        self.inbox.put(Order::Write(write));
    }

    /// Why not everything is written, if it is not.
    pub(crate) fn trouble(&self) -> Option<RecordTrouble> {
        self.standing.trouble()
    }

    /// Resolves when everything told so far is written, or could not be.
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
    /// comes soon. Gives nothing to do after `most`, if that is given. `None`
    /// when no more will come.
    fn take(&self, most: Option<Duration>) -> Option<Vec<Order>> {
        let end = most.map(|most| Instant::now() + most);
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
                match end {
                    None => self.changed.wait(&mut state),
                    Some(end) => {
                        if self.changed.wait_until(&mut state, end).timed_out() {
                            state.asleep = false;
                            return Some(Vec::new());
                        }
                    }
                }
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

/// The thread's own.
struct WritingThread {
    connection: Connection,
    outputs: PathBuf,
    backlog: Backlog,
    standing: Arc<Standing>,
}

impl WritingThread {
    fn run(&mut self, inbox: &Inbox) {
        let _gone = Gone(inbox);
        self.be_patient(true);
        loop {
            let failing = !self.backlog.writes.is_empty();
            let Some(orders) = inbox.take(failing.then_some(RETRY)) else {
                break;
            };
            let mut durable = Vec::new();
            for order in orders {
                match order {
                    Order::Write(write) => self.backlog.writes.push(write),
                    Order::Durable(waiting) => durable.push(waiting),
                    Order::Work(work) => {
                        self.flush();
                        work(&mut self.connection);
                    }
                }
                if self.backlog.writes.len() >= GROUP && self.standing_is_well() {
                    self.flush();
                }
            }
            self.flush();
            for waiting in durable {
                // Who no longer waits need not know.
                let _ = waiting.send(());
            }
        }
        self.finish();
    }

    fn standing_is_well(&self) -> bool {
        self.standing
            .trouble()
            .is_none_or(|trouble| trouble.error.is_none())
    }

    /// Writes everything that waits, or nothing of it.
    fn flush(&mut self) {
        let writes = without_overtaken(std::mem::take(&mut self.backlog.writes));
        if writes.is_empty() {
            return;
        }
        let was_well = self.standing_is_well();
        match try_write(&mut self.connection, &self.outputs, &writes) {
            Ok(refused) => {
                self.standing.lose(refused);
                self.standing.is_well();
                if !was_well {
                    self.be_patient(true);
                }
            }
            Err(error) => {
                // The tools' work is done whether or not it can be recorded.
                tracing::error!(%error, "the record could not be written");
                self.backlog.writes = writes;
                self.standing.lose(self.backlog.bound());
                let waiting = self.backlog.writes.len();
                self.standing.fails(error.to_string(), waiting);
                if was_well {
                    self.be_patient(false);
                }
            }
        }
    }

    /// Nobody waits long for a record that has failed already.
    fn be_patient(&self, patient: bool) {
        let patience = if patient { PATIENCE } else { IMPATIENCE };
        if let Err(error) = self.connection.busy_timeout(patience) {
            tracing::error!(%error, "the record does not wait for other processes");
        }
    }

    /// No more will come: tries for a while to write what is left.
    fn finish(&mut self) {
        let end = Instant::now() + LAST_CHANCE;
        while !self.backlog.writes.is_empty() && Instant::now() < end {
            std::thread::sleep(RETRY);
            self.flush();
        }
        let lost = self.backlog.writes.len();
        if lost > 0 {
            self.standing.lose(lost);
            tracing::error!(lost, "changes of the record are lost");
        }
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

/// Writes all of them, but for those that the record does not take, whose number it gives. With an error nothing is written.
fn try_write(
    connection: &mut Connection,
    outputs: &Path,
    writes: &[Write],
) -> rusqlite::Result<usize> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut refused = 0;
    for write in writes {
        match apply(&transaction, outputs, write) {
            Ok(()) => {}
            Err(error) if is_lasting(&error) => {
                // One that cannot be written takes no other with it.
                tracing::error!(%error, "something could not be recorded");
                refused += 1;
            }
            Err(error) => return Err(error),
        }
    }
    transaction.commit()?;
    Ok(refused)
}

/// The error is about this change, and would come again.
fn is_lasting(error: &rusqlite::Error) -> bool {
    !matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::OutOfMemory
                | ErrorCode::OperationAborted
                | ErrorCode::OperationInterrupted
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
        )
    )
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
