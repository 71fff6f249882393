//! A tool that was started: its output, its terminal, and the orders it takes.
//!
//! Start at [`Job`]. No method has a default: an executor says for each whether its tools can do it.

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

/// How often a port is tried: no system tells when somebody listens.
const PORT_INTERVAL: Duration = Duration::from_millis(25);

/// A tool that was started.
///
/// A job outlives its tool: its output stays readable until the job is dropped. Dropping a job whose tool still runs ends
/// the tool. Orders carry an id: an order that arrives again is not carried out again, and is answered as before
/// ([`OrderLedger`](crate::OrderLedger) keeps count).
#[async_trait]
pub trait Job: Send + Sync + 'static {
    /// Everything that the tool has written.
    fn output(&self) -> &JobOutput;

    /// The tool's terminal, if it has one. A tool may get one while it runs; it never loses it.
    fn terminal(&self) -> Option<Arc<dyn JobTerminal>>;

    /// The machine that the tool runs on.
    fn host(&self) -> Arc<dyn JobHost>;

    /// The use of the machine by the tool and everything that it has started, now. `None` where that cannot be known.
    fn usage(&self) -> Option<HandleUse>;

    /// The executor's own key to the running tool, for [`Executor::adopt`](crate::Executor::adopt). `None` if this tool
    /// cannot be adopted.
    fn key(&self) -> Option<Value>;

    /// The commands that this input would have the tool run, if the tool runs commands that it reads, as a shell does.
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

    /// Lets go of the tool. One that is kept runs on, to be adopted by its [`Job::key`]; any other ends as if the job
    /// were dropped. The job reports nothing any more.
    async fn leave(&self);

    /// Ends the tool and everything it started, and answers when they are gone. By then
    /// [`ToolEvent::Ended`](windlass_protocol::ToolEvent::Ended) has been reported. Ending a tool that has ended is fine,
    /// and ends what it left running.
    async fn abort(&self, order: &OrderId, grace: Duration) -> Receipt;
}

/// Commands that typed text would run. Rules that speak of starting the tool speak of them too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedCommands {
    /// The commands.
    pub patterns: Vec<SubjectPattern>,
    /// The patterns that an "always" would remember.
    pub always: Vec<String>,
    /// The program that reads them, such as `bash`.
    pub reader: String,
}

/// The terminal of a tool, for people who look on and for those who type into it.
pub trait JobTerminal: Send + Sync {
    /// The screen: the rows that changed since that generation, or all of them.
    fn screen(&self, since: Option<u64>) -> ScreenUpdate;

    /// Resolves when the screen is of another generation than this one.
    fn screen_changed(&self, generation: u64) -> BoxFuture<'static, ()>;

    /// The lines that have left the screen, as far as they are kept.
    fn scrollback(&self) -> String;

    /// The rows that have left the screen, as far as they are kept, with their looks.
    fn past(&self) -> ScreenPast;

    /// Changes the size.
    fn resize(&self, rows: u16, cols: u16) -> Result<(), InputError>;

    /// Types in a person's name. Unlike input of an assistant it may be a secret, and goes to the program alone.
    fn type_in(&self, order: &OrderId, input: Keyboard) -> Result<(), InputError>;

    /// Whether a program is blocked at a prompt for input.
    fn is_at_prompt(&self) -> bool;

    /// Resolves when a program is blocked at a prompt for input. Never resolves after its exit.
    fn at_prompt(&self) -> BoxFuture<'static, ()>;

    /// Whether typed text would not be shown: the terminal takes lines without echo, as for a secret.
    fn hides_typing(&self) -> bool;

    /// Whether the text that the assistant typed last was shown as a row of masks, by a program that takes keys and edits
    /// its line itself. It is known once the program has settled.
    fn has_masked_typing(&self) -> bool;
}

/// The machine that a tool runs on.
pub trait JobHost: Send + Sync {
    /// Resolves when somebody on that machine accepts connections on the port of its loopback interface.
    fn port_open(&self, port: u16) -> BoxFuture<'static, ()>;

    /// The time since which the machine does not answer, in words that follow its name; `None` while it does.
    fn unreachable(&self) -> Option<String>;
}

/// The machine that this process runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalHost;

impl JobHost for LocalHost {
    fn unreachable(&self) -> Option<String> {
        None
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
