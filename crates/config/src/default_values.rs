//! The defaults of all keys that this crate resolves, in the form in which they
//! would be written.
//!
//! They are read from the types of an empty configuration, so that they cannot
//! differ from the effective values.

use std::time::Duration;

use serde_json::{Value as Json, json};
use windlass_protocol::IoMode;
use windlass_runtime::{RecordFailure, RunMode, ToolDefinition};

use crate::config::Config;
use crate::settings::ToolSettings;
use crate::tool::{SecretTarget, ToolConfig};

/// The default of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct DefaultValue {
    /// The key, such as `conversation.tools.*.timeout_secs`.
    pub key: String,
    /// The value, as it would be written.
    pub value: AbsentValue,
}

/// The value of a key that nothing sets.
#[derive(Debug, Clone, PartialEq)]
pub enum AbsentValue {
    Fixed(Json),
    /// There is none.
    Nothing,
    /// Something else decides, such as the tool itself.
    Elsewhere(&'static str),
}

impl DefaultValue {
    /// A default that is always the same.
    pub fn fixed(key: impl Into<String>, value: impl Into<Json>) -> Self {
        let (key, value) = (key.into(), AbsentValue::Fixed(value.into()));
        Self { key, value }
    }

    /// A key without a default value.
    pub fn nothing(key: impl Into<String>) -> Self {
        let (key, value) = (key.into(), AbsentValue::Nothing);
        Self { key, value }
    }

    /// A key whose default comes from another source.
    pub fn elsewhere(key: impl Into<String>, source: &'static str) -> Self {
        let (key, value) = (key.into(), AbsentValue::Elsewhere(source));
        Self { key, value }
    }
}

impl Config {
    /// The defaults of all keys that no layer sets: those of every tool, of the
    /// session, and of the configured servers and hosts.
    pub fn default_values(&self) -> Vec<DefaultValue> {
        let mut defaults = vec![
            DefaultValue::nothing("conversation.limits.memory"),
            DefaultValue::nothing("conversation.limits.processes"),
            DefaultValue::nothing("conversation.limits.cpu_secs"),
            DefaultValue::fixed("conversation.record", self.record),
            DefaultValue::fixed(
                "conversation.record_failure",
                match self.record_failure {
                    RecordFailure::GoOn => "go_on",
                    RecordFailure::Stop => "stop",
                },
            ),
            DefaultValue::fixed("kept.max", self.kept_max),
        ];
        defaults.extend(of_tools());
        for server in &self.mcp_servers {
            let key = |name: &str| format!("providers.mcp.{}.{name}", server.name);
            defaults.push(DefaultValue::fixed(key("optional"), server.optional));
            defaults.push(DefaultValue::fixed(key("tools"), json!([])));
            let timeout = server.startup_timeout.unwrap_or_default();
            let timeout = DefaultValue::fixed(key("startup_timeout_secs"), seconds(timeout));
            defaults.push(timeout);
        }
        for host in &self.hosts {
            let key = |name: &str| format!("hosts.{}.{name}", host.name);
            defaults.push(DefaultValue::elsewhere(key("root"), "the folder here"));
            defaults.push(DefaultValue::fixed(key("labels"), json!([])));
            defaults.push(DefaultValue::fixed(key("lease_secs"), seconds(host.lease)));
        }
        let is_set = |default: &DefaultValue| {
            let mut values = self.values.iter();
            values.any(|value| is_within(&value.key, &default.key))
        };
        defaults.retain(|default| !is_set(default));
        defaults
    }
}

/// Whether one key equals the other, or is a table that contains it.
fn is_within(one: &str, other: &str) -> bool {
    let holds = |table: &str, key: &str| {
        let rest = key.strip_prefix(table);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    holds(one, other) || holds(other, one)
}

/// The keys of `conversation.tools."*"`.
fn of_tools() -> Vec<DefaultValue> {
    let tool = ToolDefinition::new("");
    let settings = ToolSettings::default();
    let fixed = |key: &str, value: Json| DefaultValue::fixed(every(key), value);
    let nothing = |key: &str| DefaultValue::nothing(every(key));
    let own = |key: &str| DefaultValue::elsewhere(every(key), "the tool's own");
    let mode = |key: &str, mode: RunMode| fixed(&format!("run.{key}"), json!(mode));
    let limits = &tool.limits;
    let mut defaults = vec![
        fixed("enable", json!(settings.enable.unwrap_or(true))),
        mode("one_shot", tool.run.one_shot),
        mode("spawn", tool.run.spawn),
        mode("fetch", tool.run.fetch),
        mode("apply", tool.run.apply),
        mode("abort", tool.run.abort),
        nothing("permissions"),
        fixed("timeout_secs", seconds(limits.timeout)),
        fixed("grace_secs", seconds(limits.grace)),
        fixed("settle_max_secs", seconds(limits.settle_max)),
        fixed(
            "describe_timeout_secs",
            seconds(ToolConfig::DESCRIBE_TIMEOUT),
        ),
        own("format_arguments"),
        own("read_only"),
        fixed("output_limit", json!(limits.output_limit)),
        own("digest"),
        fixed("digest_from", json!(tool.digest.from)),
        fixed("log_limit", json!(ToolConfig::LOG_LIMIT)),
        fixed(
            "secrets",
            match settings.secrets.unwrap_or_default() {
                SecretTarget::Person => json!("person"),
                SecretTarget::Assistant => json!("assistant"),
            },
        ),
        fixed("pass_env", json!([])),
        fixed("hide_env", json!([])),
        fixed("options", json!({})),
        nothing("questions"),
        fixed("sandbox", json!("off")),
        nothing("host"),
        fixed("hosts", json!([])),
    ];
    let limited = crate::keys::LIMITS.iter();
    defaults.extend(limited.map(|key| nothing(&format!("limits.{key}"))));
    defaults.extend(of_spawn(&tool));
    defaults
}

/// The keys of `spawn`.
fn of_spawn(tool: &ToolDefinition) -> Vec<DefaultValue> {
    let fixed = |key: &str, value: Json| DefaultValue::fixed(every(&format!("spawn.{key}")), value);
    let own = |key: &str| DefaultValue::elsewhere(every(&format!("spawn.{key}")), "the tool's own");
    let (told, life) = (&tool.notifications, &tool.lifecycle);
    vec![
        own("stateful"),
        own("actions"),
        fixed("io", json!(IoMode::Text)),
        own("rows"),
        own("cols"),
        fixed("record", json!(false)),
        fixed("notifications.on_success", json!(told.on_success)),
        fixed("notifications.on_failure", json!(told.on_failure)),
        fixed("notifications.on_waiting", json!(told.on_waiting)),
        fixed("notifications.on_content", json!(told.on_content)),
        fixed("lifecycle.on_turn_end", json!(life.on_turn_end)),
        fixed("lifecycle.timeout_secs", seconds(life.timeout)),
        fixed("lifecycle.keep_secs", seconds(life.keep)),
        fixed("lifecycle.keepable_secs", seconds(life.keepable)),
    ]
}

fn every(key: &str) -> String {
    format!("conversation.tools.*.{key}")
}

/// Whole seconds as an integer, as people write them.
fn seconds(duration: Duration) -> Json {
    if duration.subsec_nanos() == 0 {
        json!(duration.as_secs())
    } else {
        json!(duration.as_secs_f64())
    }
}

#[cfg(test)]
#[path = "default_values_tests.rs"]
mod tests;
