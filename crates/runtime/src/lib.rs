//! The runtime: every tool call is a state machine, and a session owns them.
//!
//! Start at [`dispatch`](Session::run): a batch of calls goes in, one reply
//! per call comes out, and the path in between is one file. [`Executor`] is
//! how a tool runs, [`Person`], [`Inquirer`] and [`Recorder`] are what a front
//! end or a store supplies. Nothing here knows processes, terminals, HTTP or
//! MCP, and nothing assumes that a tool runs on this machine.

mod announce;
mod answer;
mod archive;
mod arguments;
mod attachment;
mod builtin;
mod catalogue;
mod describe;
mod described;
mod desk;
mod dispatch;
mod event;
mod executor;
mod feed;
mod handle;
mod inquiry;
mod journal;
mod notice;
mod one_shot;
mod onlooker;
mod part;
mod patience;
mod pattern;
mod permission;
mod person;
mod plan;
mod refusal;
mod registry;
mod rules;
mod session;
mod sessions;
mod show;
mod sync;
mod takeover;
mod tool;
mod turn;
mod wait;
mod weight;

/// The words, for those who use the runtime.
pub use windlass_protocol as protocol;

pub use announce::Announcer;
pub use archive::{Archive, ArchiveError, Conversations, OutputFile, Page};
pub use attachment::Attachment;
pub use builtin::{BuiltinContext, BuiltinTool};
pub use catalogue::{Catalogue, RegisterError, RegisteredTool, Runtime};
pub use describe::DescribeTools;
pub use desk::{AtTheDesk, Desk, DeskError};
pub use event::{Ending, Exit, Status, ToolEvent, fold};
pub use executor::{Executor, Job, Keyboard, Reading, Receipt, Reporter, Since, Start, Subject};
pub use journal::{Entry, Journal, SessionEvent, Tail};
pub use onlooker::HandleRef;
pub use patience::Patience;
pub use person::{Answered, Inquirer, NoRecorder, PermissionDecision, Person, Recorder};
pub use refusal::{HandleSummary, Refusal};
pub use rules::{Explanation, Finding, RuleBook, RuleSource};
pub use session::{Session, SessionOptions};
pub use sessions::Sessions;
pub use tool::{
    Lifecycle, Limits, Notifications, OnTurnEnd, QuestionPolicy, QuestionTarget, RunMode,
    RunPolicy, ToolDefinition,
};
pub use wait::Await;
