//! The table of everything that can be asked.

use serde_json::Value;
use windlass_protocol::{
    AnswerBody, AskBegun, AskBody, AskModels, AskProgress, AskStop, BatchReply, CallsBody,
    HandleInfo, Health, HeldHandleInfo, HostInfo, KeptReceipt, LineRange, LockBody, LockInfo,
    LogMatches, MessageRecord, NewSession, NoticeRecord, OpenQuestion, PermissionAnswer,
    PermissionRecord, PermissionRequest, PersonInput, Resize, ScreenPast, ScreenUpdate,
    SessionBegun, SessionHistory, SessionInfo, SessionRecord, StartableTool, StopReceipt,
    StreamedEvent, TurnEndReport,
};

use super::operation::{Operation, delete, get, of, post};
#[cfg(feature = "opencode")]
use crate::opencode::wire::{
    OpencodeEvent, OpencodeMessage, OpencodeNewSession, OpencodeReplyBody, OpencodeResponseBody,
    OpencodeSession,
};

const PAUSE: &str = "How soon a screen that keeps changing is told again, in milliseconds.";

/// Everything, in the order in which it is read best.
pub(super) fn operations() -> Vec<Operation> {
    let parts = [
        sessions(),
        handles(),
        held(),
        asks(),
        looking(),
        #[cfg(feature = "opencode")]
        opencode(),
        about(),
    ];
    parts.into_iter().flatten().collect()
}

fn sessions() -> Vec<Operation> {
    vec![
        get("/api/v1/sessions", "Every session that is under way.").gives::<Vec<SessionInfo>>(),
        post("/api/v1/sessions", "Begins a session.")
            .takes(of::<NewSession>)
            .makes::<SessionBegun>(),
        get("/api/v1/sessions/{id}", "One session.").gives::<SessionInfo>(),
        delete(
            "/api/v1/sessions/{id}",
            "Ends a session that was begun over HTTP, and all that it started.",
        ),
        post(
            "/api/v1/sessions/{id}/calls",
            "Runs a batch; answers when every call is answered.",
        )
        .takes(of::<CallsBody>)
        .gives::<BatchReply>(),
        post("/api/v1/sessions/{id}/turn_end", "Ends the turn.").gives::<TurnEndReport>(),
        get(
            "/api/v1/sessions/{id}/events",
            "The session's events; resumed with `Last-Event-ID`.",
        )
        .query::<u64>("after", "The number of the event after which to begin.")
        .query::<String>(
            "screens",
            "Handles whose screens are wanted, by comma, or `*`.",
        )
        .query::<u64>("pause_ms", PAUSE)
        .query::<bool>("updates", "Whether more than screens is told.")
        .streams::<StreamedEvent>(),
        get(
            "/api/v1/events",
            "The events of every session; resumed with `Last-Event-ID`.",
        )
        .query::<String>(
            "screens",
            "Screens that are wanted, as SESSION/HANDLE by comma; the handle may be `*`.",
        )
        .query::<u64>("pause_ms", PAUSE)
        .query::<String>(
            "holding",
            "Locks as SESSION/HANDLE/LOCK, by comma: handed back when the stream breaks and is not read again within 8 s.",
        )
        .query::<u64>(
            "written_ms",
            "Gathers what tools wrote, and how often it is told.",
        )
        .streams::<StreamedEvent>(),
    ]
}

fn handles() -> Vec<Operation> {
    vec![
        get(
            "/api/v1/sessions/{id}/handles",
            "The session's handles. Nothing here moves the assistant's cursor.",
        )
        .gives::<Vec<HandleInfo>>(),
        get("/api/v1/sessions/{id}/handles/{handle}", "One handle.").gives::<HandleInfo>(),
        get(
            "/api/v1/sessions/{id}/handles/{handle}/screen",
            "The rows of its terminal, or those that changed.",
        )
        .query::<u64>("since", "The generation since which rows are wanted.")
        .gives::<ScreenUpdate>(),
        get(
            "/api/v1/sessions/{id}/handles/{handle}/log",
            "Bytes of its output, at most 1 MiB. The header `windlass-log-line` is the number of the first line.",
        )
        .query::<i64>("from", "The first byte; from the end where it is negative.")
        .query::<u64>("to", "The byte after the last.")
        .query::<f64>(
            "since_secs",
            "Only bytes that arrived within this many seconds.",
        )
        .query::<bool>("plain", "Without control sequences.")
        .query::<LineRange>("lines", "Lines by their numbers, as they are shown, instead of bytes.")
        .says("application/octet-stream")
        .says("text/plain"),
        get(
            "/api/v1/sessions/{id}/handles/{handle}/search",
            "Lines of its output that match.",
        )
        .query::<String>("pattern", "A regular expression.")
        .query::<u32>("limit", "How many, at most 1000.")
        .gives::<LogMatches>(),
        post(
            "/api/v1/sessions/{id}/handles/{handle}/input",
            "Types into it, or answers its question.",
        )
        .takes(of::<PersonInput>),
        post(
            "/api/v1/sessions/{id}/handles/{handle}/resize",
            "Changes its terminal's size.",
        )
        .takes(of::<Resize>),
        post(
            "/api/v1/sessions/{id}/handles/{handle}/lock",
            "Takes it over from the assistant.",
        )
        .takes(of::<LockBody>)
        .gives::<LockInfo>(),
        delete(
            "/api/v1/sessions/{id}/handles/{handle}/lock/{lock}",
            "Hands it back.",
        ),
        post(
            "/api/v1/sessions/{id}/handles/{handle}/abort",
            "Ends it, tree and all; answers when that is verified.",
        )
        .gives::<StopReceipt>(),
    ]
}

/// Handles whose runtimes are gone.
fn held() -> Vec<Operation> {
    vec![
        get(
            "/api/v1/held",
            "The kept handles that no living runtime has, with the time that is left of their leases.",
        )
        .gives::<Vec<HeldHandleInfo>>(),
        get(
            "/api/v1/held/{name}/output",
            "The newest output of a held handle, at most 64 KiB.",
        )
        .says("application/octet-stream"),
        post(
            "/api/v1/held/{name}/end",
            "Ends a held handle, tree and all; answers when that is verified.",
        )
        .gives::<KeptReceipt>(),
    ]
}

fn asks() -> Vec<Operation> {
    vec![
        get(
            "/api/v1/permissions",
            "What is being asked for, in every session.",
        )
        .gives::<Vec<PermissionRequest>>(),
        post("/api/v1/permissions/{permission}", "Replies to a request.")
            .takes(of::<PermissionAnswer>),
        get(
            "/api/v1/sessions/{id}/permissions",
            "What is being asked for, in one session.",
        )
        .gives::<Vec<PermissionRequest>>(),
        post(
            "/api/v1/sessions/{id}/permissions/{permission}",
            "Replies to a request of the session.",
        )
        .takes(of::<PermissionAnswer>),
        post(
            "/api/v1/trust",
            "Has this runtime look whether its project has been trusted meanwhile.",
        ),
        get("/api/v1/questions", "The open questions of every session.")
            .gives::<Vec<OpenQuestion>>(),
        post("/api/v1/questions/{ask}", "Answers a question.").takes(of::<AnswerBody>),
        get(
            "/api/v1/sessions/{id}/questions",
            "The open questions of one session.",
        )
        .gives::<Vec<OpenQuestion>>(),
        post(
            "/api/v1/sessions/{id}/questions/{ask}",
            "Answers a question of the session.",
        )
        .takes(of::<AnswerBody>),
    ]
}

/// What somebody asks who looks on or comes late.
fn looking() -> Vec<Operation> {
    const BEFORE: &str = "Only what is older than this one.";
    vec![
        get(
            "/api/v1/sessions/{id}/tools",
            "The tools that a person can start in it.",
        )
        .gives::<Vec<StartableTool>>(),
        get("/api/v1/ask", "The models that can be asked.").gives::<AskModels>(),
        post(
            "/api/v1/ask",
            "Gives a model a message, in a new conversation or one that goes on. 202 where a turn under way hears of it.",
        )
        .takes(of::<AskBody>)
        .makes::<AskBegun>(),
        get(
            "/api/v1/ask/{id}/events",
            "The progress of a conversation's turns, as server-sent events.",
        )
        .streams::<AskProgress>(),
        post("/api/v1/ask/{id}/stop", "Interrupts the turn under way.").takes(of::<AskStop>),
        get(
            "/api/v1/hosts",
            "The hosts of the server's project: the links of the server's runtime, and the workers of pools with their programs. Answers within some seconds; a pool whose broker is not reached says why.",
        )
        .gives::<Vec<HostInfo>>(),
        get(
            "/api/v1/sessions/{id}/history",
            "The events so far, as far as they are kept, without what tools wrote.",
        )
        .query::<u64>("after", "The number of the event after which to begin.")
        .gives::<SessionHistory>(),
        get(
            "/api/v1/sessions/{id}/handles/{handle}/scrollback",
            "The lines that have left its terminal's screen.",
        )
        .says("text/plain"),
        get(
            "/api/v1/sessions/{id}/handles/{handle}/past",
            "The rows that have left its terminal's screen, with their looks.",
        )
        .gives::<ScreenPast>(),
        get(
            "/api/v1/record/sessions",
            "Recorded sessions, the newest first.",
        )
        .query::<String>("before", BEFORE)
        .query::<u32>("limit", "How many, at most 1000.")
        .gives::<Vec<SessionRecord>>(),
        get("/api/v1/record/sessions/{name}", "One recorded session.").gives::<SessionRecord>(),
        get(
            "/api/v1/record/sessions/{name}/messages",
            "Its newest messages with their calls, the oldest of them first.",
        )
        .query::<String>("before", BEFORE)
        .query::<u32>("limit", "How many, at most 1000.")
        .query::<bool>("brief", "Only the beginnings of arguments and outputs.")
        .gives::<Vec<MessageRecord>>(),
        get(
            "/api/v1/record/sessions/{name}/permissions",
            "What was asked and decided in it.",
        )
        .gives::<Vec<PermissionRecord>>(),
        get("/api/v1/record/sessions/{name}/notices", "Its notices.").gives::<Vec<NoticeRecord>>(),
        get(
            "/api/v1/record/parts/{name}/output",
            "All of an output of which its part holds only some, 1 MiB from a byte on.",
        )
        .query::<u64>("from", "The first byte.")
        .says("application/octet-stream"),
    ]
}

#[cfg(feature = "opencode")]
fn opencode() -> Vec<Operation> {
    const FOLDER: &str = "Only of this folder.";
    vec![
        get("/event", "What happens from now on, in opencode's words.")
            .query::<String>("directory", FOLDER)
            .streams::<OpencodeEvent>(),
        get("/session", "Sessions, those of the record too.")
            .query::<String>("directory", FOLDER)
            .query::<String>("search", "Only those whose title holds this.")
            .query::<f64>("start", "Only what has changed since, in milliseconds.")
            .query::<u32>("limit", "How many, the newest.")
            .gives::<Vec<OpencodeSession>>(),
        post("/session", "Begins a session.")
            .query::<String>("directory", "The folder that the server works in.")
            .takes(of::<OpencodeNewSession>)
            .gives::<OpencodeSession>(),
        get("/session/{id}", "One session.").gives::<OpencodeSession>(),
        get(
            "/session/{id}/message",
            "The session's messages with the parts of their calls, oldest first.",
        )
        .query::<u32>("limit", "How many, the newest.")
        .query::<String>("before", "Only those before this message.")
        .gives::<Vec<OpencodeMessage>>(),
        post(
            "/session/{id}/permissions/{permission}",
            "Replies to a request of the session.",
        )
        .takes(of::<OpencodeResponseBody>)
        .gives::<bool>(),
        get("/permission", "What is being asked for, in every session.")
            .gives::<Vec<PermissionRequest>>(),
        post("/permission/{request}/reply", "Replies to a request.")
            .takes(of::<OpencodeReplyBody>)
            .gives::<bool>(),
    ]
}

fn about() -> Vec<Operation> {
    vec![
        get("/health", "It answers, so it is well.")
            .gives::<Health>()
            .open(),
        get("/metrics", "How it goes, in Prometheus' text format.").says("text/plain"),
        get("/openapi.json", "This description.").gives::<Value>(),
    ]
}
