//! The types of Windlass that cross a wire.
//!
//! Start at [`ToolState`], the state of a tool. Then read [`ToolCommand`], the
//! assistant's order to a tool, and [`HandleView`], the reply. This crate does
//! no I/O. Everything that programs of others read or write is here, except the
//! formats of others that one front end speaks.

#![warn(missing_docs)]

mod answer_fault;
mod ask;
mod attachment;
mod call;
mod command;
mod context;
mod conversation;
mod defaults;
mod definitions;
mod describe;
mod described;
mod drive;
mod driver;
mod event;
mod hosts;
mod ids;
mod job;
mod kept;
mod line_error;
mod line_range;
mod map;
mod misspelt;
mod notice;
mod null;
mod part;
mod permission;
mod question;
mod record;
mod rendering;
mod screen;
mod state;
mod tool;
mod view;
mod wait;
mod watch;
mod wire;

pub use answer_fault::AnswerFault;
pub use ask::{AskBegun, AskBody, AskModels, AskProgress, AskProvider, AskStop, StartableTool};
pub use attachment::Attachment;
pub use call::{Batch, BatchReply, CallReply, ReplyContent, ReplyExtras, ToolCall};
pub use command::{
    ActionSet, HandleAction, ParseError, RUN, Request, ToolCommand, ToolShape, Typing, View, parse,
};
pub use context::{Action, Context, ToolInvocation};
pub use conversation::{Said, TurnEvent};
pub use describe::{
    Examples, IoMode, Parameter, ParameterType, Parameters, SpawnDescription, ToolDescription,
    ToolDescriptions,
};
pub use drive::{
    Ask, CallsBody, DriveEvent, DriveInput, DriveOutput, NewCall, TurnEndDecision, TurnEndHandle,
    TurnEndReport,
};
pub use driver::{
    DriverCall, DriverReply, DriverReport, DriverRequest, DriverScreen, DriverSession, DriverTool,
    DriverValue, OutputPiece, ToolOffer,
};
pub use event::{Ending, Exit, ResultCut, ServerRefusal, ToolEvent, ToolReport};
pub use hosts::{HostInfo, HostStanding, WorkerInfo, WorkerProgram};
pub use ids::{HandleId, InvalidHandleId, InvalidId, MessageId, PartId, PermissionId, SessionId};
pub use job::{
    InputError, JobDescription, KeepRequest, KeptProgramKey, KeptRemotePlace, Keyboard, LocalPath,
    OrderId, Receipt, Start,
};
pub use kept::{
    HeldHandleInfo, HeldStanding, KeptExit, KeptHandle, KeptLock, KeptReceipt, KeptReceiptReason,
    KeptStamp, LossReason,
};
pub use line_error::LineError;
pub use line_range::{InvalidLineRange, LineRange};
pub use map::Arguments;
pub use notice::{Notice, NoticeKind, NoticeLevel, advice};
pub use part::{
    FilePart, Millis, PartState, PartTime, PartTimeWithEnd, RawArguments, StateCompleted,
    StateError, StatePending, StateRunning, ToolPart,
};
pub use permission::{PermissionAnswer, PermissionReply, PermissionRequest, PermissionToolContext};
pub use question::{AnswerError, AnswerType, Question, QuestionForm};
pub use record::{
    ConversationEvent, Decider, DecisionRecord, MessageInfo, MessagePart, MessageRecord,
    MessageTime, NoticeRecord, PermissionRecord, PermissionRule, PermissionTime, Role, RuleAction,
    RuleRecord, RuntimeRecord, SessionRecord, SessionTime, TextPart, project_id,
};
pub use rendering::{RenderedField, RequestRendering, visible_line, visible_lines};
pub use screen::{
    KeyboardModes, MouseReports, ScreenColour, ScreenCursor, ScreenCursorShape, ScreenPast,
    ScreenRow, ScreenRun, ScreenUnderline, ScreenUpdate,
};
pub use state::{Outcome, ToolError, ToolState};
pub use tool::{
    DigestPolicy, Lifecycle, Limits, ListedTool, Notifications, OnTurnEnd, QuestionPolicy,
    QuestionTarget, RunMode, RunPolicy, ToolDefinition,
};
pub use view::{ErrorView, HandleState, HandleView, ShownInPart};
pub use wait::{AwaitReply, AwaitRequest, Condition, ConditionError, Matched, Until, WaitFor};
pub use watch::{
    AnswerBody, ErrorBody, HandleInfo, HandleKind, HandleUse, Health, LockBody, LockInfo, LogMatch,
    LogMatches, NewSession, OpenQuestion, PersonInput, RecordTrouble, Resize, SessionBegun,
    SessionHistory, SessionInfo, SessionUpdate, StopReceipt, StreamedEvent, StreamedScreen,
    ToolPlace,
};
pub use wire::{ExecAnswer, StateInput, ToolAnswer};
