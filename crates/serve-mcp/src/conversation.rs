//! A session and what a client of it has going on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::task_manager::TaskManager;
use windlass_runtime::{Attendance, Session, SessionOptions};

use crate::listen::Level;
use crate::rounds::Parked;
use crate::seats::Seats;
use crate::status::Board;

/// Begins a session with these options.
pub type SessionFactory = Arc<dyn Fn(SessionOptions) -> Session + Send + Sync>;

/// One client's session.
pub(crate) struct Conversation {
    pub(crate) session: Session,
    pub(crate) seats: Seats,
    pub(crate) tasks: TaskManager,
    /// How its tasks stand.
    pub(crate) board: Board,
    /// Calls that wait for their next round.
    pub(crate) parked: Parked,
    /// From which level on the client wants to be told, if it said.
    pub(crate) level: Mutex<Option<Level>>,
    calls: AtomicU64,
}

impl Conversation {
    pub(crate) fn begin(factory: &SessionFactory) -> Arc<Self> {
        let session = factory(SessionOptions {
            front_end: Some("mcp".to_owned()),
            client_asks: true,
            attendance: Attendance::Attended,
            ..SessionOptions::default()
        });
        let seats = Seats::default();
        seats.attend(session.requests().watch());
        Arc::new(Self {
            session,
            seats,
            tasks: TaskManager::new(),
            board: Board::default(),
            parked: Parked::default(),
            level: Mutex::new(None),
            calls: AtomicU64::new(0),
        })
    }

    /// Names a call.
    pub(crate) fn next_call(&self) -> String {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        format!("m{number}")
    }

    /// Ends everything.
    pub(crate) async fn close(&self) {
        self.close_within(Duration::MAX).await;
    }

    /// The same, with at most `grace` for each tool.
    pub(crate) async fn close_within(&self, grace: Duration) {
        self.tasks.shutdown();
        self.parked.clear();
        self.session.close_within(grace).await;
    }
}
