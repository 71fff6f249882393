//! A started tool: its output, its terminal, and its orders.
//!
//! Start at [`Job`]. No method has a default: each executor states what its
//! tools support.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::net::TcpStream;
use windlass_protocol::{
    HandleUse, InputError, Keyboard, OrderId, Question, Receipt, ScreenPast, ScreenUpdate,
};

use crate::job_output::JobOutput;
use crate::subject::SubjectPattern;

/// The polling interval for a port: no system call reports a new listener.
const PORT_INTERVAL: Duration = Duration::from_millis(25);

/// A started tool.
///
/// A job outlives its tool: its output stays readable until the job is dropped.
/// Dropping a job whose tool still runs ends the tool. Orders have an id: a
/// repeated order is not carried out again and returns the first result
/// ([`OrderLedger`](crate::OrderLedger) implements this).
#[async_trait]
pub trait Job: Send + Sync + 'static {
    /// The complete output of the tool.
    fn output(&self) -> &JobOutput;

    /// The tool's terminal, if it has one. A tool may get one while it runs; it never loses it.
    fn terminal(&self) -> Option<Arc<dyn JobTerminal>>;

    /// The machine that the tool runs on.
    fn host(&self) -> Arc<dyn JobHost>;

    /// The current resource usage of the tool and its descendants. `None` if it
    /// is unknown.
    fn usage(&self) -> Option<HandleUse>;

    /// The executor's key for [`Executor::adopt`](crate::Executor::adopt).
    /// `None` if this tool cannot be adopted.
    fn key(&self) -> Option<Value>;

    /// The commands that this input would run, if the tool runs commands from
    /// its input, as a shell does.
    fn typed_commands(&self, input: &Keyboard) -> Option<TypedCommands>;

    /// Sends input to the running tool.
    async fn apply(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError>;

    /// Delivers the answer to the open question. The caller reports
    /// [`ToolEvent::Answered`](windlass_protocol::ToolEvent::Answered) first.
    async fn answer(
        &self,
        order: &OrderId,
        question: &Question,
        answer: Value,
    ) -> Result<(), InputError>;

    /// Resolves when the tool has printed its output and gone quiet, after `limit` at the latest.
    async fn settle(&self, limit: Duration);

    /// Releases the tool. A kept one continues, and can be adopted by its
    /// [`Job::key`]; any other ends as if the job were dropped. The job reports
    /// nothing after this.
    async fn leave(&self);

    /// Ends the tool and all its processes, and returns when they are gone.
    /// [`ToolEvent::Ended`](windlass_protocol::ToolEvent::Ended) has been
    /// reported by then. May be called after the end, to end processes that the
    /// tool left running.
    async fn abort(&self, order: &OrderId, grace: Duration) -> Receipt;
}

/// Commands that typed text would run. Rules for starting the tool also apply
/// to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedCommands {
    /// The commands.
    pub patterns: Vec<SubjectPattern>,
    /// The patterns that "always" would remember.
    pub always: Vec<String>,
    /// The program that reads them, such as `bash`.
    pub reader: String,
}

/// The terminal of a tool, for observers and for typing.
pub trait JobTerminal: Send + Sync {
    /// The screen: the rows that changed since that generation, or all of them.
    fn screen(&self, since: Option<u64>) -> ScreenUpdate;

    /// Resolves when the screen's generation differs from this one.
    fn screen_changed(&self, generation: u64) -> BoxFuture<'static, ()>;

    /// The lines that have left the screen, as far as they are stored.
    fn scrollback(&self) -> String;

    /// The rows that have left the screen, as far as they are stored, with
    /// their styles.
    fn past(&self) -> ScreenPast;

    /// Changes the size.
    fn resize(&self, rows: u16, cols: u16) -> Result<(), InputError>;

    /// Types for a person. The text may be a secret, and is sent only to the
    /// program.
    fn type_in(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError>;

    /// Whether a program is blocked at a prompt for input.
    fn is_at_prompt(&self) -> bool;

    /// Resolves when a program is blocked at a prompt for input. Never resolves after its exit.
    fn at_prompt(&self) -> BoxFuture<'static, ()>;

    /// Whether typed text would not be shown: the terminal reads lines without
    /// echo, as for a secret.
    fn hides_typing(&self) -> bool;

    /// Whether the assistant's last text was masked by a program that reads
    /// keys and edits its line itself. Known once the program has settled.
    fn has_masked_typing(&self) -> bool;
}

/// The machine that a tool runs on.
pub trait JobHost: Send + Sync {
    /// Resolves when a process on that machine accepts connections on the port
    /// of its loopback interface.
    fn port_open(&self, port: u16) -> BoxFuture<'static, ()>;

    /// How long the machine has not answered, as a phrase that follows its
    /// name; `None` while it answers.
    fn unreachable(&self) -> Option<String>;

    /// Resolves when the machine has not answered for this time from now on.
    fn unreachable_for(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// The machine that this process runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalHost;

impl JobHost for LocalHost {
    fn unreachable(&self) -> Option<String> {
        None
    }

    fn unreachable_for(&self, _time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn port_open(&self, port: u16) -> BoxFuture<'static, ()> {
        let addresses: [SocketAddr; 2] = [
            (Ipv4Addr::LOCALHOST, port).into(),
            (Ipv6Addr::LOCALHOST, port).into(),
        ];
        Box::pin(async move {
            loop {
                for address in addresses {
                    if TcpStream::connect(address).await.is_ok() {
                        return;
                    }
                }
                tokio::time::sleep(PORT_INTERVAL).await;
            }
        })
    }
}
