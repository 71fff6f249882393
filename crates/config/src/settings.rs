//! What the tables say of a tool, and nothing that they do not say.
//!
//! Defaults are not filled in here, so that a built-in tool, a program that
//! describes itself or an MCP server keeps its own word wherever the person is
//! silent. The table `conversation.tools."*"` is read into the same shape.

use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value as Json;
use windlass_protocol::{Arguments, HandleAction, IoMode};
use windlass_runtime::{Lifecycle, Notifications, OnTurnEnd, QuestionTarget, RunMode, RunPolicy};
use windlass_sandbox::{ResourceLimits, SandboxSettings};

use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::permissions::PermissionSettings;
use crate::read::{self, Reader, Table};
use crate::sandbox::{read_limits, read_sandbox};
use crate::tool::SecretTarget;
use crate::units;
use crate::variables::VariableSettings;

/// What the person said of a tool, by itself or for every tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSettings {
    /// The tool is offered.
    pub enable: Option<bool>,
    /// Whether a person is asked before it runs.
    pub run: RunSettings,
    /// What of it is allowed, asked about and denied.
    pub permissions: PermissionSettings,
    /// The rules of the user's own configuration, which no project lifts.
    pub floor: PermissionSettings,
    /// How long a one-shot may take.
    pub timeout: Option<Duration>,
    /// How long an aborted tool has between TERM and KILL.
    pub grace: Option<Duration>,
    /// How long a spawn or an apply waits for the tool to have its say.
    pub settle_max: Option<Duration>,
    /// How long a program may take to describe its tools.
    pub describe_timeout: Option<Duration>,
    /// The program shows arguments as a person would like to read them.
    pub format_arguments: Option<bool>,
    /// A call changes nothing, as clients are told.
    pub read_only: Option<bool>,
    /// How many bytes of output one reply delivers.
    pub output_limit: Option<u64>,
    /// Long output is shown in part.
    pub digest: Option<bool>,
    /// Output below this many bytes is shown whole.
    pub digest_from: Option<u64>,
    /// How many bytes of output the log of a handle keeps.
    pub log_limit: Option<u64>,
    /// Who answers when a program asks for a secret.
    pub secrets: Option<SecretTarget>,
    /// Which variables its program gets.
    pub variables: VariableSettings,
    /// What is passed on to the program as `options`.
    pub options: Arguments,
    /// Who answers its questions, by question id.
    pub questions: IndexMap<String, QuestionSettings>,
    /// The sandbox of its programs.
    pub sandbox: Option<SandboxSettings>,
    /// The sandbox that the user's own configuration says, which no project loosens.
    pub sandbox_floor: Option<SandboxSettings>,
    /// How much of the machine its programs may use.
    pub limits: ResourceLimits,
    /// The host that its programs run on.
    pub host: Option<String>,
    /// The hosts that the assistant may choose.
    pub hosts: Vec<String>,
    /// How it lasts.
    pub spawn: SpawnSettings,
}

/// The `run` key: a [`RunMode`] per action, where one was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunSettings {
    /// Calls without an action.
    pub one_shot: Option<RunMode>,
    /// Starting a handle.
    pub spawn: Option<RunMode>,
    /// Reading one.
    pub fetch: Option<RunMode>,
    /// Typing into one.
    pub apply: Option<RunMode>,
    /// Ending one.
    pub abort: Option<RunMode>,
}

/// An entry of `questions`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuestionSettings {
    /// Whom to ask.
    pub target: Option<QuestionTarget>,
    /// The answer, so that nobody is asked.
    pub answer: Option<Json>,
}

/// The `spawn` table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpawnSettings {
    /// The tool has handles.
    pub stateful: Option<bool>,
    /// What may be done with them.
    pub actions: Option<Vec<HandleAction>>,
    /// How the program is talked to.
    pub io: Option<IoMode>,
    /// Rows of its terminal.
    pub rows: Option<u16>,
    /// Columns of its terminal.
    pub cols: Option<u16>,
    /// Its terminal is recorded.
    pub record: Option<bool>,
    /// What the assistant is told without asking.
    pub notifications: NotificationSettings,
    /// What becomes of handles at the turn's end.
    pub lifecycle: LifecycleSettings,
}

/// The `spawn.notifications` table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotificationSettings {
    /// A handle stopped well.
    pub on_success: Option<bool>,
    /// A handle stopped badly.
    pub on_failure: Option<bool>,
    /// A handle waits for an answer.
    pub on_waiting: Option<bool>,
    /// A running handle has new output.
    pub on_content: Option<bool>,
}

/// The `spawn.lifecycle` table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LifecycleSettings {
    /// The policy.
    pub on_turn_end: Option<OnTurnEnd>,
    /// How long the turn's end waits for a handle.
    pub timeout: Option<Duration>,
    /// How long every handle outlives its runtime, unless its spawn says otherwise.
    pub keep: Option<Duration>,
    /// How long a handle outlives its runtime whose spawn asks for it.
    pub keepable: Option<Duration>,
}

impl ToolSettings {
    /// Reads the keys that a tool's table and `"*"` have in common.
    pub(crate) fn read(reader: &mut Reader, table: &Table<'_>) -> Self {
        Self {
            enable: read_enable(reader, table),
            run: RunSettings::read(reader, table),
            permissions: PermissionSettings::read(reader, table),
            floor: PermissionSettings::default(),
            timeout: reader.get(table, "timeout_secs", units::some_seconds),
            grace: reader.get(table, "grace_secs", units::seconds),
            settle_max: reader.get(table, "settle_max_secs", units::seconds),
            describe_timeout: reader.get(table, "describe_timeout_secs", units::some_seconds),
            format_arguments: reader.get(table, "format_arguments", read::boolean),
            read_only: reader.get(table, "read_only", read::boolean),
            output_limit: reader.get(table, "output_limit", units::size),
            digest: reader.get(table, "digest", read::boolean),
            digest_from: reader.get(table, "digest_from", units::size),
            log_limit: reader.get(table, "log_limit", units::size),
            secrets: reader.get(table, "secrets", |node| {
                let words = [
                    ("person", SecretTarget::Person),
                    ("assistant", SecretTarget::Assistant),
                ];
                read::word(node, &words)
            }),
            variables: VariableSettings::read(reader, table),
            options: reader.get(table, "options", json_table).unwrap_or_default(),
            questions: read_questions(reader, table),
            sandbox: read_sandbox(reader, table),
            sandbox_floor: None,
            limits: read_limits(reader, table),
            host: reader.get(table, "host", read::string),
            hosts: reader
                .get(table, "hosts", read::strings)
                .unwrap_or_default(),
            spawn: SpawnSettings::read(reader, table).unwrap_or_default(),
        }
    }
}

/// JP's `enable` is a boolean, one of four words, or a table with a `state`.
/// Its `explicit` is off until someone says otherwise, so it is off here.
fn read_enable(reader: &mut Reader, table: &Table<'_>) -> Option<bool> {
    fn switch(node: &Node) -> Result<bool, ExpectedValue> {
        let words = [
            ("on", true),
            ("always", true),
            ("off", false),
            ("explicit", false),
        ];
        read::boolean(node)
            .or_else(|_| read::word(node, &words))
            .map_err(|_| ExpectedValue::Boolean)
    }

    if let Some(Value::Table(_)) = table.node("enable").map(|node| &node.value) {
        let nested = reader.table(table, "enable")?;
        reader.check_keys(&nested, keys::ENABLE);
        return reader.get(&nested, "state", switch);
    }
    reader.get(table, "enable", switch)
}

fn read_questions(reader: &mut Reader, table: &Table<'_>) -> IndexMap<String, QuestionSettings> {
    let mut questions = IndexMap::new();
    let Some(table) = reader.table(table, "questions") else {
        return questions;
    };
    for id in table.entries.keys() {
        let Some(entry) = reader.table(&table, id) else {
            continue;
        };
        reader.check_keys(&entry, keys::QUESTION);
        let question = QuestionSettings {
            target: reader.get(&entry, "target", question_target),
            answer: reader.get(&entry, "answer", Node::to_json),
        };
        questions.insert(id.clone(), question);
    }
    questions
}

/// JP also writes a table that configures the assistant it asks; whom it asks
/// is the same.
fn question_target(node: &Node) -> Result<QuestionTarget, ExpectedValue> {
    if let Value::Table(_) = node.value {
        return Ok(QuestionTarget::Assistant);
    }
    let words = [
        ("user", QuestionTarget::User),
        ("assistant", QuestionTarget::Assistant),
    ];
    read::word(node, &words)
}

fn json_table(node: &Node) -> Result<Arguments, ExpectedValue> {
    match node.to_json()? {
        Json::Object(map) => Ok(map),
        _ => Err(ExpectedValue::Table),
    }
}

impl RunSettings {
    /// One mode means what starts something; everything that follows is then
    /// unattended. A table gives single actions.
    pub(crate) fn read(reader: &mut Reader, table: &Table<'_>) -> Self {
        match table.node("run").map(|node| &node.value) {
            Some(Value::Table(_)) => {
                let Some(table) = reader.table(table, "run") else {
                    return Self::default();
                };
                reader.check_keys(&table, keys::RUN);
                let mut mode = |key| reader.get(&table, key, run_mode);
                Self {
                    one_shot: mode("one_shot"),
                    spawn: mode("spawn"),
                    fetch: mode("fetch"),
                    apply: mode("apply"),
                    abort: mode("abort"),
                }
            }
            _ => reader
                .get(table, "run", |node| {
                    run_mode(node).map_err(|wanted| match wanted {
                        ExpectedValue::OneOf(words) => ExpectedValue::RunModes(words),
                        other => other,
                    })
                })
                .map_or_else(Self::default, |mode| RunPolicy::starting(mode).into()),
        }
    }

    /// These, and where they are silent, those.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            one_shot: self.one_shot.or(other.one_shot),
            spawn: self.spawn.or(other.spawn),
            fetch: self.fetch.or(other.fetch),
            apply: self.apply.or(other.apply),
            abort: self.abort.or(other.abort),
        }
    }

    /// The policy that comes of laying these over `policy`.
    pub fn over(self, policy: RunPolicy) -> RunPolicy {
        RunPolicy {
            one_shot: self.one_shot.unwrap_or(policy.one_shot),
            spawn: self.spawn.unwrap_or(policy.spawn),
            fetch: self.fetch.unwrap_or(policy.fetch),
            apply: self.apply.unwrap_or(policy.apply),
            abort: self.abort.unwrap_or(policy.abort),
        }
    }
}

impl From<RunPolicy> for RunSettings {
    fn from(policy: RunPolicy) -> Self {
        Self {
            one_shot: Some(policy.one_shot),
            spawn: Some(policy.spawn),
            fetch: Some(policy.fetch),
            apply: Some(policy.apply),
            abort: Some(policy.abort),
        }
    }
}

fn run_mode(node: &Node) -> Result<RunMode, ExpectedValue> {
    // `always` is what older JP files call `unattended`; it is understood and
    // not advertised.
    if matches!(&node.value, Value::String(text) if text == "always") {
        return Ok(RunMode::Unattended);
    }
    let words = [
        ("ask", RunMode::Ask),
        ("unattended", RunMode::Unattended),
        ("edit", RunMode::Edit),
        ("skip", RunMode::Skip),
    ];
    read::word(node, &words)
}

impl SpawnSettings {
    fn read(reader: &mut Reader, table: &Table<'_>) -> Option<Self> {
        let table = reader.table(table, "spawn")?;
        reader.check_keys(&table, keys::SPAWN);
        Some(Self {
            stateful: reader.get(&table, "stateful", read::boolean),
            actions: read_actions(reader, &table),
            io: reader.get(&table, "io", |node| {
                let words = [
                    ("text", IoMode::Text),
                    ("terminal", IoMode::Terminal),
                    ("state", IoMode::State),
                ];
                read::word(node, &words)
            }),
            rows: reader.get(&table, "rows", units::rows),
            cols: reader.get(&table, "cols", units::columns),
            record: reader.get(&table, "record", read::boolean),
            notifications: NotificationSettings::read(reader, &table).unwrap_or_default(),
            lifecycle: LifecycleSettings::read(reader, &table).unwrap_or_default(),
        })
    }
}

fn read_actions(reader: &mut Reader, table: &Table<'_>) -> Option<Vec<HandleAction>> {
    let node = table.node("actions")?;
    let Value::Array(items) = &node.value else {
        reader.wrong(node, table.path_of("actions"), ExpectedValue::Actions);
        return None;
    };
    let words = HandleAction::ALL.map(|action| (action.as_str(), action));
    let mut actions = Vec::new();
    for item in items {
        match read::word(item, &words) {
            Ok(action) => actions.push(action),
            Err(wanted) => {
                let wanted = match wanted {
                    ExpectedValue::OneOf(words) => ExpectedValue::MadeOf(words),
                    other => other,
                };
                reader.wrong(item, table.path_of("actions"), wanted);
            }
        }
    }
    Some(actions)
}

impl NotificationSettings {
    fn read(reader: &mut Reader, table: &Table<'_>) -> Option<Self> {
        let table = reader.table(table, "notifications")?;
        reader.check_keys(&table, keys::NOTIFICATIONS);
        let mut switch = |key| reader.get(&table, key, read::boolean);
        Some(Self {
            on_success: switch("on_success"),
            on_failure: switch("on_failure"),
            on_waiting: switch("on_waiting"),
            on_content: switch("on_content"),
        })
    }

    /// What comes of laying these over `base`.
    pub fn over(self, base: Notifications) -> Notifications {
        Notifications {
            on_success: self.on_success.unwrap_or(base.on_success),
            on_failure: self.on_failure.unwrap_or(base.on_failure),
            on_waiting: self.on_waiting.unwrap_or(base.on_waiting),
            on_content: self.on_content.unwrap_or(base.on_content),
        }
    }
}

impl LifecycleSettings {
    fn read(reader: &mut Reader, table: &Table<'_>) -> Option<Self> {
        let table = reader.table(table, "lifecycle")?;
        reader.check_keys(&table, keys::LIFECYCLE);
        Some(Self {
            on_turn_end: reader.get(&table, "on_turn_end", |node| {
                let words = [
                    ("inquire", OnTurnEnd::Inquire),
                    ("await", OnTurnEnd::Await),
                    ("abort", OnTurnEnd::Abort),
                ];
                read::word(node, &words)
            }),
            timeout: reader.get(&table, "timeout_secs", units::seconds),
            keep: reader.get(&table, "keep_secs", units::lease),
            keepable: reader.get(&table, "keepable_secs", units::lease),
        })
    }

    /// What comes of laying these over `base`.
    pub fn over(self, base: Lifecycle) -> Lifecycle {
        Lifecycle {
            on_turn_end: self.on_turn_end.unwrap_or(base.on_turn_end),
            timeout: self.timeout.unwrap_or(base.timeout),
            keep: self.keep.unwrap_or(base.keep),
            keepable: self.keepable.unwrap_or(base.keepable),
        }
    }
}
