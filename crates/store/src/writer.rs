//! The thread that writes, in groups.
//!
//! A change waits a short time for further ones, so that a short call is one
//! row written once. A request for durability ends the wait.
//!
//! A change that cannot be written (the disk is full, another process holds
//! the record) waits in a bounded backlog and is retried. Requests for
//! durability then complete, and [`WriterThread::trouble`] reports the state.

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

/// The time for which a change waits for others.
const LINGER: Duration = Duration::from_millis(20);
/// The maximum number of changes in one transaction.
const GROUP: usize = 4096;
/// The longest wait for another writing process in normal operation.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest wait after such a wait has failed.
const IMPATIENCE: Duration = Duration::from_millis(20);
/// The interval of retries for failed writes.
const RETRY: Duration = Duration::from_millis(250);
/// The longest time that the end of the process waits for pending writes.
const LAST_CHANCE: Duration = Duration::from_secs(2);

/// The handle of the writer thread. Dropping it waits until everything is
/// written.
pub(crate) struct WriterThread {
    pub(crate) inbox: Arc<WriteQueue>,
    standing: Arc<Standing>,
    thread: Option<JoinHandle<()>>,
}

/// Something to do with the connection that writes.
pub(crate) type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// An order to the writer's thread.
pub(crate) enum WriterCommand {
    /// Write this, some time soon.
    Write(Write),
    /// Answer when everything before is written.
    Durable(oneshot::Sender<()>),
    /// Do this when everything before is written.
    Work(Work),
}

impl WriterThread {
    pub(crate) fn start(connection: Connection, outputs: PathBuf) -> io::Result<Self> {
        let inbox = Arc::new(WriteQueue::default());
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

    /// Why not everything is written, if it is not.
    pub(crate) fn trouble(&self) -> Option<RecordTrouble> {
        self.standing.trouble()
    }

    /// Resolves when all changes so far are written, or have failed.
    pub(crate) async fn durable(&self) {
        let (sender, receiver) = oneshot::channel();
        self.inbox.put(WriterCommand::Durable(sender));
        // A thread that is gone has said why.
        let _ = receiver.await;
    }

    /// Runs `work` after all changes so far. `None` if the thread has ended.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = oneshot::channel();
        self.inbox
            .put(WriterCommand::Work(Box::new(move |connection| {
                // The caller may have stopped waiting; the work is done anyway.
                let _ = sender.send(work(connection));
            })));
        receiver.await.ok()
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        self.inbox.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The queue of the writer thread. A call sends three changes before it waits;
/// the thread is woken only for the last.
#[derive(Default)]
pub(crate) struct WriteQueue {
    state: Mutex<WriteQueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct WriteQueueState {
    orders: Vec<WriterCommand>,
    /// A caller waits for one of them.
    urgent: bool,
    /// Whether the thread sleeps until it is woken; otherwise it checks the
    /// queue soon.
    asleep: bool,
    closed: bool,
}

impl WriteQueue {
    /// Adds a command. After the end it is dropped, and its waiter is notified.
    pub(crate) fn put(&self, order: WriterCommand) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        let urgent = !matches!(order, WriterCommand::Write(_));
        state.orders.push(order);
        state.urgent |= urgent;
        let wake = urgent || std::mem::take(&mut state.asleep);
        drop(state);
        if wake {
            self.changed.notify_one();
        }
    }

    /// Closes the queue.
    fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    /// Waits for commands and, unless one is urgent, for more to arrive soon.
    /// Returns an empty list after `most`, if set. `None` once the queue is
    /// closed.
    fn take(&self, most: Option<Duration>) -> Option<Vec<WriterCommand>> {
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

/// Guard: wakes all waiters when the thread ends, for whatever reason.
struct WriterExitGuard<'a>(&'a WriteQueue);

impl Drop for WriterExitGuard<'_> {
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
    fn run(&mut self, inbox: &WriteQueue) {
        let _gone = WriterExitGuard(inbox);
        self.be_patient(true);
        loop {
            let failing = !self.backlog.writes.is_empty();
            let Some(orders) = inbox.take(failing.then_some(RETRY)) else {
                break;
            };
            let mut durable = Vec::new();
            for order in orders {
                match order {
                    WriterCommand::Write(write) => self.backlog.writes.push(write),
                    WriterCommand::Durable(waiting) => durable.push(waiting),
                    WriterCommand::Work(work) => {
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

    /// Shortens the wait for a record that has failed already.
    fn be_patient(&self, patient: bool) {
        let patience = if patient { PATIENCE } else { IMPATIENCE };
        if let Err(error) = self.connection.busy_timeout(patience) {
            tracing::error!(%error, "the record does not wait for other processes");
        }
    }

    /// Tries for a while to write the remaining changes.
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

/// Keeps only the last change of each part, at the position of the first, so
/// that parts keep the order of their calls.
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

/// Writes all changes, and returns the number of those that the record rejects.
/// On an error nothing is written.
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

/// Whether the error is about this change and would recur.
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
