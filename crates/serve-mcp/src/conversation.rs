//! A session, and its client's activity.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::task_manager::TaskManager;
use windlass_runtime::{Attendance, Session, SessionOptions};

use crate::listen::Level;
use crate::relay::Relay;
use crate::rounds::ParkedCalls;
use crate::seats::Seats;
use crate::status::Board;
use crate::upstream::Subscription;

/// Makes a session adopt the handles of its predecessor.
pub type SessionSuccession = Arc<dyn Fn(Session) -> BoxFuture<'static, ()> + Send + Sync>;

/// Begins a session with these options.
pub type SessionFactory = Arc<dyn Fn(SessionOptions) -> Session + Send + Sync>;

/// One client's session.
pub(crate) struct ClientSession {
    pub(crate) session: Session,
    pub(crate) seats: Seats,
    pub(crate) tasks: TaskManager,
    /// The status of its tasks.
    pub(crate) board: Board,
    /// Calls that wait for their next round.
    pub(crate) parked: ParkedCalls,
    /// The minimum level of notices for the client, if set.
    pub(crate) level: Mutex<Option<Level>>,
    /// Set once the session has adopted the handles of its predecessor.
    pub(crate) succession: tokio::sync::OnceCell<()>,
    /// The client's subscriptions to resources.
    pub(crate) subscriptions: Mutex<HashMap<String, Subscription>>,
    /// The number of its calls.
    pub(crate) calls: AtomicU64,
}

impl ClientSession {
    /// Starts a session, with a name if given.
    pub(crate) fn begin(factory: &SessionFactory, name: Option<String>) -> Arc<Self> {
        let seats = Seats::default();
        let session = factory(SessionOptions {
            front_end: Some("mcp".to_owned()),
            name,
            client_asks: true,
            client: Some(Arc::new(Relay(seats.clone()))),
            attendance: Attendance::Attended,
            ..SessionOptions::default()
        });
        seats.attend(session.requests().watch());
        Arc::new(Self {
            session,
            seats,
            tasks: TaskManager::new(),
            board: Board::default(),
            parked: ParkedCalls::default(),
            level: Mutex::new(None),
            succession: tokio::sync::OnceCell::new(),
            subscriptions: Mutex::default(),
            calls: AtomicU64::new(0),
        })
    }

    /// Ends everything.
    pub(crate) async fn close(&self) {
        self.close_within(Duration::MAX).await;
    }

    /// Closes the session, with at most `grace` for each tool.
    pub(crate) async fn close_within(&self, grace: Duration) {
        self.tasks.shutdown();
        self.parked.clear();
        let subscriptions = std::mem::take(&mut *self.subscriptions.lock());
        drop(subscriptions);
        self.session.close_within(grace).await;
    }
}
