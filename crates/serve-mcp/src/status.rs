//! The status of tasks: as text, and as notifications.
//!
//! The activity of a task is looked up on demand. A change of state is sent to
//! every `subscriptions/listen` stream of its client; over pipes, also to a
//! client without a stream.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{
    DetailedTask, NotificationMetaObject, RequestId, ServerNotification, TaskStatusNotification,
    TaskStatusNotificationParams,
};
use rmcp::service::{Peer, RoleServer};
use rmcp::task_manager::TaskContext;
use tokio::sync::watch;
use windlass_protocol::HandleState;
use windlass_runtime::Session;

use crate::conversation::ClientSession;

/// The maximum length of a message.
const LONGEST: usize = 200;

/// The maximum number of checks whether a finished task has been settled.
const LOOKS: usize = 5000;

/// A view of a task's activity.
pub(crate) struct Doing {
    pub(crate) session: Session,
    /// The call that the task is.
    pub(crate) call: String,
    /// The handles that it waits for.
    pub(crate) handles: Vec<String>,
    /// Its open requests to the user, by key.
    pub(crate) asked: Mutex<BTreeMap<String, String>>,
}

impl Doing {
    /// The open question, else the tool's last output.
    pub(crate) fn text(&self) -> String {
        self.said().unwrap_or_else(|| "running".to_owned())
    }

    /// The text; `None` if there is none yet.
    pub(crate) fn said(&self) -> Option<String> {
        let asked = self.asked.lock().values().next().cloned();
        let text = asked
            .or_else(|| self.session.last_word(&self.call))
            .or_else(|| self.awaited())?;
        Some(match text.char_indices().nth(LONGEST) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        })
    }

    /// The handles that have not stopped, each with its last output.
    fn awaited(&self) -> Option<String> {
        let infos = self.session.handle_infos().into_iter();
        let awaited: Vec<String> = infos
            .filter(|info| info.state != HandleState::Stopped)
            .filter(|info| self.handles.iter().any(|id| id == info.id.as_str()))
            .map(|info| {
                let asks = info.question.map(|question| question.text);
                let said = asks.or(info.last_line);
                format!("{}: {}", info.id, said.as_deref().unwrap_or("running"))
            })
            .collect();
        Some(awaited.join("; ")).filter(|text| !text.is_empty())
    }
}

/// The running tasks of a session, and the listeners.
#[derive(Default)]
pub(crate) struct Board {
    tasks: Mutex<HashMap<String, (TaskContext, Arc<Doing>)>>,
    listeners: Mutex<Vec<Listener>>,
}

#[derive(Clone)]
struct Listener {
    subscription: RequestId,
    peer: Peer<RoleServer>,
}

/// A stream's subscription to tasks; dropping it ends the subscription.
pub(crate) struct Listening {
    conversation: Arc<ClientSession>,
    subscription: RequestId,
}

impl Listening {
    pub(crate) fn new(
        conversation: &Arc<ClientSession>,
        subscription: &RequestId,
        peer: &Peer<RoleServer>,
    ) -> Self {
        conversation.board.listeners.lock().push(Listener {
            subscription: subscription.clone(),
            peer: peer.clone(),
        });
        Self {
            conversation: Arc::clone(conversation),
            subscription: subscription.clone(),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut listeners = self.conversation.board.listeners.lock();
        let own = listeners
            .iter()
            .position(|listener| listener.subscription == self.subscription);
        if let Some(own) = own {
            listeners.remove(own);
        }
    }
}

impl ClientSession {
    /// The current status of a task.
    pub(crate) fn task(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let under_way = self.board.tasks.lock().get(id).cloned();
        let task = self.tasks.get_task(id)?;
        let Some((context, doing)) = under_way.filter(|_| !task.task.status.is_terminal()) else {
            return Ok(task);
        };
        let text = doing.text();
        if task.task.status_message.as_ref() == Some(&text) {
            return Ok(task);
        }
        context.set_status_message(text);
        self.tasks.get_task(id)
    }

    /// Sends the status of a task whenever `changes` signals a change, and its
    /// end when `changes` is closed. Without a listening stream, `maker`
    /// receives them.
    pub(crate) fn follow_task(
        self: &Arc<Self>,
        context: TaskContext,
        doing: Arc<Doing>,
        mut changes: watch::Receiver<()>,
        maker: Option<Peer<RoleServer>>,
    ) {
        let id = context.task_id().to_owned();
        let place = (context, doing);
        self.board.tasks.lock().insert(id.clone(), place);
        let conversation = Arc::downgrade(self);
        windlass_task::spawn(async move {
            while changes.changed().await.is_ok() {
                send_status(&conversation, &id, maker.as_ref()).await;
            }
            // The runner of the task has finished, so the task ends at any
            // moment, or never if the runner panicked. No event reports its
            // end, so it is polled.
            for _ in 0..LOOKS {
                let sent = send_end(&conversation, &id, maker.as_ref()).await;
                if sent.is_some() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    }
}

async fn send_status(
    conversation: &Weak<ClientSession>,
    id: &str,
    maker: Option<&Peer<RoleServer>>,
) {
    let Some(conversation) = conversation.upgrade() else {
        return;
    };
    if let Ok(task) = conversation.task(id)
        && !task.task.status.is_terminal()
    {
        send(&conversation, &task, maker).await;
    }
}

/// Sends the end of a task; `None` if it has not been settled yet.
async fn send_end(
    conversation: &Weak<ClientSession>,
    id: &str,
    maker: Option<&Peer<RoleServer>>,
) -> Option<()> {
    let conversation = conversation.upgrade();
    let Some(conversation) = conversation else {
        return Some(());
    };
    match conversation.tasks.get_task(id) {
        Ok(task) if !task.task.status.is_terminal() => return None,
        Ok(task) => {
            conversation.board.tasks.lock().remove(id);
            send(&conversation, &task, maker).await;
        }
        // The session has ended, so its tasks have no client any more.
        Err(_) => drop(conversation.board.tasks.lock().remove(id)),
    }
    Some(())
}

async fn send(conversation: &ClientSession, task: &DetailedTask, maker: Option<&Peer<RoleServer>>) {
    let listeners = conversation.board.listeners.lock().clone();
    if let (true, Some(maker)) = (listeners.is_empty(), maker) {
        notify(maker, task, None).await;
    }
    for listener in listeners {
        notify(&listener.peer, task, Some(listener.subscription)).await;
    }
}

async fn notify(peer: &Peer<RoleServer>, task: &DetailedTask, subscription: Option<RequestId>) {
    let params = TaskStatusNotificationParams::new(task.clone());
    let mut told = TaskStatusNotification::new(params);
    if let Some(subscription) = subscription {
        let mut meta = NotificationMetaObject::new();
        meta.set_subscription_id(subscription);
        told.extensions.insert(meta);
    }
    let told = ServerNotification::TaskStatusNotification(told);
    // A client that is gone need not know.
    let _ = peer.send_notification(told).await;
}
