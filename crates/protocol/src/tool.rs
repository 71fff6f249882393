//! The runtime's description of a tool: its interface, limits and policies.
//!
//! A [`ToolDefinition`] describes everything about a tool except how it runs;
//! that is up to the executor it is registered with.

use std::collections::HashMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Examples, HandleAction, PermissionRule, ToolShape};

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name, as the model calls it.
    pub name: String,
    /// A line for the model.
    pub summary: Option<String>,
    /// Details, given only on `describe_tools`.
    pub description: Option<String>,
    /// Examples, given only on `describe_tools`.
    pub examples: Option<Examples>,
    /// Its parameters and actions, and the fields that its schema offers.
    pub shape: ToolShape,
    /// Whether a person must approve a run.
    pub run: RunPolicy,
    /// Replaces `run` in sessions whose client asks its user itself; default:
    /// `run`.
    pub run_for_client: Option<RunPolicy>,
    /// Rules that allow, ask or deny; the last match decides.
    pub permissions: Vec<PermissionRule>,
    /// Rules of the user's own configuration. If they deny or ask,
    /// `permissions` cannot allow.
    #[serde(default)]
    pub permission_floor: Vec<PermissionRule>,
    /// Time and size limits.
    pub limits: Limits,
    /// Whether long output is shown as a digest.
    #[serde(default)]
    pub digest: DigestPolicy,
    /// The events of its handles that produce notices.
    pub notifications: Notifications,
    /// The policy for its handles at the turn's end.
    pub lifecycle: Lifecycle,
    /// The policies for its questions, by question id.
    pub questions: HashMap<String, QuestionPolicy>,
    /// It changes nothing, so that its calls may run in parallel.
    #[serde(default)]
    pub only_reads: bool,
    /// The assistant may answer a request for a secret, and therefore knows the
    /// secret.
    pub secrets_to_assistant: bool,
    /// The origin of the definition, for people: `builtin`, a file, a program.
    pub origin: String,
    /// A description of its programs' sandbox, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// The listing by another MCP server, if the tool is one of its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<Box<ListedTool>>,
}

/// A tool as another MCP server lists it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ListedTool {
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its structured results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// A call may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Repeating a call with the same arguments has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// A call may reach systems outside the server, such as the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl ToolDefinition {
    /// A tool with no parameters, no actions and default policies.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            summary: None,
            description: None,
            examples: None,
            shape: ToolShape::default(),
            run: RunPolicy::default(),
            run_for_client: None,
            permissions: Vec::new(),
            permission_floor: Vec::new(),
            limits: Limits::default(),
            digest: DigestPolicy::default(),
            notifications: Notifications::default(),
            lifecycle: Lifecycle::default(),
            questions: HashMap::new(),
            only_reads: false,
            secrets_to_assistant: false,
            origin: "builtin".to_owned(),
            sandbox: None,
            listed: None,
        }
    }

    /// Whether long text output is shown as a digest. Omitted lines must be
    /// fetchable.
    pub fn is_digested(&self) -> bool {
        self.digest.enabled && self.shape.can_fetch_lines()
    }

    /// There is something that `describe_tools` could add.
    pub fn has_documentation(&self) -> bool {
        self.description.is_some() || self.examples.is_some()
    }
}

/// Whether a person must approve a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    /// A person is asked.
    Ask,
    /// It just runs.
    Unattended,
    /// A person is asked and may change the arguments.
    Edit,
    /// It is not run, and the reply says so.
    Skip,
}

/// A [`RunMode`] per action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPolicy {
    /// Calls without an action.
    pub one_shot: RunMode,
    /// Starting a handle.
    pub spawn: RunMode,
    /// Reading one.
    pub fetch: RunMode,
    /// Typing into one.
    pub apply: RunMode,
    /// Ending one.
    pub abort: RunMode,
}

impl RunPolicy {
    /// `mode` for one-shots and spawns; other actions run without asking.
    pub fn starting(mode: RunMode) -> Self {
        Self {
            one_shot: mode,
            spawn: mode,
            fetch: RunMode::Unattended,
            apply: RunMode::Unattended,
            abort: RunMode::Unattended,
        }
    }

    /// The mode for a call, by its action.
    pub fn mode(&self, action: Option<HandleAction>) -> RunMode {
        match action {
            None => self.one_shot,
            Some(HandleAction::Spawn) => self.spawn,
            Some(HandleAction::Fetch) => self.fetch,
            Some(HandleAction::Apply) => self.apply,
            Some(HandleAction::Abort) => self.abort,
        }
    }
}

impl Default for RunPolicy {
    /// A person is asked before anything starts.
    fn default() -> Self {
        Self::starting(RunMode::Ask)
    }
}

/// Time and size limits of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The time limit of a one-shot.
    pub timeout: Duration,
    /// The time between TERM and KILL when a tool is aborted.
    pub grace: Duration,
    /// The longest time that a spawn or an apply waits for the tool to settle.
    pub settle_max: Duration,
    /// The maximum number of bytes of output in one reply.
    pub output_limit: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(10),
            grace: Duration::from_secs(2),
            settle_max: Duration::from_secs(1),
            output_limit: 32 << 10,
        }
    }
}

/// Whether long text output is shown as a digest, with markers for the omitted
/// lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestPolicy {
    /// Digests are enabled. Terminals, tools that report states and tools
    /// without `fetch` never have a digest.
    pub enabled: bool,
    /// Shorter output is shown whole, in bytes.
    pub from: usize,
}

impl DigestPolicy {
    /// For tools that print text.
    pub fn on() -> Self {
        Self {
            enabled: true,
            ..Self::default()
        }
    }
}

impl Default for DigestPolicy {
    /// Output is shown whole.
    fn default() -> Self {
        Self {
            enabled: false,
            from: 2 << 10,
        }
    }
}

/// The events of a tool's handles that produce notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "four switches of the config")]
pub struct Notifications {
    /// A handle finished successfully.
    pub on_success: bool,
    /// A handle stopped badly.
    pub on_failure: bool,
    /// A handle waits for an answer.
    pub on_waiting: bool,
    /// A running handle has new output.
    pub on_content: bool,
}

impl Default for Notifications {
    fn default() -> Self {
        Self {
            on_success: true,
            on_failure: true,
            on_waiting: true,
            on_content: false,
        }
    }
}

/// The policy for a tool's handles at the turn's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    /// The policy.
    pub on_turn_end: OnTurnEnd,
    /// The longest time that the turn's end waits for a handle.
    pub timeout: Duration,
    /// The lease with which every handle outlives its runtime by default; zero:
    /// it does not.
    #[serde(default)]
    pub keep: Duration,
    /// The lease for a handle whose spawn asks to be kept; zero: not allowed.
    #[serde(default)]
    pub keepable: Duration,
}

impl Lifecycle {
    /// No handle outlives its runtime for longer than this.
    pub const LONGEST_LEASE: Duration = Duration::from_hours(24);

    /// Whether a spawn may choose that its handle outlives the runtime.
    pub fn may_keep(&self) -> bool {
        !self.keep.is_zero() || !self.keepable.is_zero()
    }

    /// The lease of a handle whose spawn has this `keep`, if it is kept.
    pub fn lease(&self, keep: Option<bool>) -> Option<Duration> {
        let lease = match keep {
            Some(false) => return None,
            Some(true) => self.keep.max(self.keepable),
            None => self.keep,
        };
        (!lease.is_zero()).then(|| lease.min(Self::LONGEST_LEASE))
    }
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self {
            on_turn_end: OnTurnEnd::Inquire,
            timeout: Duration::from_mins(5),
            keep: Duration::ZERO,
            keepable: Duration::ZERO,
        }
    }
}

/// The action on a handle that still runs when the turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTurnEnd {
    /// The assistant is asked, handle by handle.
    Inquire,
    /// It is waited for.
    Await,
    /// It is ended.
    Abort,
}

/// The policy for a question: who answers it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QuestionPolicy {
    /// Whom to ask.
    pub target: QuestionTarget,
    /// A fixed answer, so that nobody is asked.
    pub answer: Option<Value>,
}

/// Whom a question goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionTarget {
    /// The person.
    #[default]
    User,
    /// The assistant, through the inquiry.
    Assistant,
    /// Whoever drives the handle, with `apply`.
    Caller,
}
