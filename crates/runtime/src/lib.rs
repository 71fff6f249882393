//! The runtime: every tool call is a state machine, and a session owns them.
//!
//! Start at [`dispatch`](Session::run): a batch of calls goes in, one reply
//! per call comes out, and the path in between is one file. [`Executor`] is
//! how a tool runs; [`Inquirer`] and [`Recorder`] are supplied by a front end
//! or a store; [`PendingRequests`] is where a front end finds everything that
//! its person is asked. Nothing here knows processes, terminals, HTTP or
//! MCP, and nothing assumes that a tool runs on this machine.

#![warn(missing_docs)]

mod announce;
mod archive;
mod arguments;
mod builtin;
mod catalogue;
mod client;
mod cut;
mod denied;
mod describe;
mod digesting;
mod dispatch;
mod event;
mod executor;
mod feed;
mod handle;
mod inquirer;
mod inquiry;
mod job;
mod job_output;
mod journal;
mod keeping;
mod late_permit;
mod left_out;
mod notice;
mod one_shot;
mod onlooker;
mod orders;
mod part;
mod past;
mod pattern;
mod pending;
mod permission;
mod person_request;
mod recorder;
mod refusal;
mod registry;
mod repetition;
mod request_table;
mod ring;
mod rules;
mod screen_update;
mod session;
mod session_limits;
mod session_options;
mod sessions;
mod share;
mod show;
mod starting;
mod stored;
mod subject;
mod sync;
mod takeover;
mod turn;
mod unreached;
mod wait;
mod weight;

/// The words, for those who use the runtime.
pub use windlass_protocol as protocol;

/// The words that executors and front ends use most.
pub use windlass_protocol::{
    Attachment, Ending, Exit, InputError, JobDescription, KeepRequest, KeptProgramKey, Keyboard,
    Lifecycle, Limits, LocalPath, Notifications, OnTurnEnd, OrderId, QuestionPolicy,
    QuestionTarget, Receipt, RunMode, RunPolicy, Start, ToolDefinition, ToolEvent, ToolReport,
};

/// Where executors put what their tools write.
pub use windlass_output as output;

pub use announce::Announcer;
pub use archive::{Archive, ArchiveError, Conversations, OutputFile, Page};
pub use builtin::{BuiltinContext, BuiltinTool};
pub use catalogue::{Catalogue, LateTools, RegisterError, RegisteredTool, Runtime};
pub use client::{
    CallOrigin, ClientRefusal, ClientRequest, SessionClient, ToolClient, ToolLogLine, ToolProgress,
};
pub use describe::DescribeTools;
pub use dispatch::RunOptions;
pub use event::{Status, fold};
pub use executor::{AdoptError, Executor, Reporter, Reports};
pub use inquirer::{Answered, Inquirer};
pub use job::{Job, JobHost, JobTerminal, LocalHost, TypedCommands};
pub use job_output::{JobOutput, Reading, Since};
pub use journal::{Entry, Journal, SessionEvent, Tail};
pub use keeping::{AdoptOutcome, AdoptedHandle, HandleKeeper, NotKeptReason};
pub use onlooker::HandleRef;
pub use orders::OrderLedger;
pub use past::{LooseEnd, PastEvents};
pub use pending::{Attendance, OnBehalf, OpenRequest, PendingRequests, RequestWatch};
pub use person_request::{PersonRequest, ReplyError};
pub use recorder::{NoRecorder, RecordFailure, Recorder};
pub use refusal::{ArgumentMisfit, HandleSummary, Refusal, RefusalKind};
pub use ring::{NumberedRing, RingBounds, RingItem};
pub use rules::{Explanation, Finding, RuleBook, RuleSource};
pub use screen_update::{screen_past, screen_update};
pub use session::Session;
pub use session_limits::SessionLimits;
pub use session_options::{BetweenTurns, SessionOptions};
pub use sessions::Sessions;
pub use subject::{Subject, SubjectPattern, UNKNOWN};
pub use wait::Await;
