//! The settings of a tool as written, without defaults.
//!
//! Defaults are not filled in here, so that a built-in tool, a self-describing
//! program or an MCP server keeps its own values for keys that are not set. The
//! table `conversation.tools."*"` is read into the same type.

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
use crate::read::{self, ConfigReader, Table};
use crate::sandbox::{read_limits, read_sandbox};
use crate::tool::SecretTarget;
use crate::units;
use crate::variables::VariableSettings;

/// The settings of a tool, or of every tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSettings {
    /// The tool is offered.
    pub enable: Option<bool>,
    /// Whether a person must approve a run.
    pub run: RunSettings,
    /// Rules that allow, ask or deny.
    pub permissions: PermissionSettings,
    /// The rules of the user's own configuration, which a project cannot
    /// override.
    pub floor: PermissionSettings,
    /// The time limit of a one-shot.
    pub timeout: Option<Duration>,
    /// The time between TERM and KILL when a tool is aborted.
    pub grace: Option<Duration>,
    /// The longest time that a spawn or an apply waits for the tool to settle.
    pub settle_max: Option<Duration>,
    /// The time limit for a program's description of its tools.
    pub describe_timeout: Option<Duration>,
    /// The program can print arguments in readable form.
    pub format_arguments: Option<bool>,
    /// A call changes nothing. Clients receive this as an annotation.
    pub read_only: Option<bool>,
    /// The maximum number of bytes of output in one reply.
    pub output_limit: Option<u64>,
    /// Long output is shown in part.
    pub digest: Option<bool>,
    /// Output below this many bytes is shown whole.
    pub digest_from: Option<u64>,
    /// The maximum size of a handle's log, in bytes.
    pub log_limit: Option<u64>,
    /// The recipient of a program's requests for secrets.
    pub secrets: Option<SecretTarget>,
    /// The variables that its program inherits.
    pub variables: VariableSettings,
    /// Passed on to the program as `options`.
    pub options: Arguments,
    /// The policies for its questions, by question id.
    pub questions: IndexMap<String, QuestionSettings>,
    /// The sandbox of its programs.
    pub sandbox: Option<SandboxSettings>,
    /// The sandbox of the user's own configuration, which a project cannot
    /// weaken.
    pub sandbox_floor: Option<SandboxSettings>,
    /// The resource limits of its programs.
    pub limits: ResourceLimits,
    /// The host that its programs run on.
    pub host: Option<String>,
    /// The hosts that the assistant may choose.
    pub hosts: Vec<String>,
    /// Settings of its handles.
    pub spawn: SpawnSettings,
}

/// The `run` key: a [`RunMode`] for each configured action.
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
    /// A fixed answer, so that nobody is asked.
    pub answer: Option<Json>,
}

/// The `spawn` table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpawnSettings {
    /// The tool has handles.
    pub stateful: Option<bool>,
    /// The actions on handles.
    pub actions: Option<Vec<HandleAction>>,
    /// The program's I/O mode.
    pub io: Option<IoMode>,
    /// Rows of its terminal.
    pub rows: Option<u16>,
    /// Columns of its terminal.
    pub cols: Option<u16>,
    /// Its terminal is recorded.
    pub record: Option<bool>,
    /// The events that produce notices.
    pub notifications: NotificationSettings,
    /// The policy for handles at the turn's end.
    pub lifecycle: LifecycleSettings,
}

/// The `spawn.notifications` table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotificationSettings {
    /// A handle finished successfully.
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
    /// The longest time that the turn's end waits for a handle.
    pub timeout: Option<Duration>,
    /// The lease with which every handle outlives its runtime by default.
    pub keep: Option<Duration>,
    /// The lease for a handle whose spawn asks to be kept.
    pub keepable: Option<Duration>,
}

impl ToolSettings {
    /// Whether these say on which machines the tool runs.
    pub(crate) fn has_hosts(&self) -> bool {
        self.host.is_some() || !self.hosts.is_empty()
    }

    /// Reads the keys that a tool's table and `"*"` have in common.
    pub(crate) fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Self {
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

/// Reads JP's `enable`: a boolean, one of four strings, or a table with a
/// `state`. JP's `explicit` means off until enabled, so it is off here.
fn read_enable(reader: &mut ConfigReader, table: &Table<'_>) -> Option<bool> {
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

fn read_questions(
    reader: &mut ConfigReader,
    table: &Table<'_>,
) -> IndexMap<String, QuestionSettings> {
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

/// Reads the target of a question. JP also accepts a table that configures the
/// assistant; the target is the same.
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
    /// Reads `run`. A single mode applies to starts, and later actions are then
    /// unattended. A table sets single actions.
    pub(crate) fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Self {
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

    /// These settings, with gaps filled from `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            one_shot: self.one_shot.or(other.one_shot),
            spawn: self.spawn.or(other.spawn),
            fetch: self.fetch.or(other.fetch),
            apply: self.apply.or(other.apply),
            abort: self.abort.or(other.abort),
        }
    }

    /// Merges these settings over `policy`.
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
    fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Option<Self> {
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

fn read_actions(reader: &mut ConfigReader, table: &Table<'_>) -> Option<Vec<HandleAction>> {
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
    fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Option<Self> {
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

    /// Merges these settings over `base`.
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
    fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Option<Self> {
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

    /// Merges these settings over `base`.
    pub fn over(self, base: Lifecycle) -> Lifecycle {
        Lifecycle {
            on_turn_end: self.on_turn_end.unwrap_or(base.on_turn_end),
            timeout: self.timeout.unwrap_or(base.timeout),
            keep: self.keep.unwrap_or(base.keep),
            keepable: self.keepable.unwrap_or(base.keepable),
        }
    }
}
