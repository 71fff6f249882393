//! The list of all keys: those that are used, those that are only accepted, and
//! suggestions for unknown ones.

pub use windlass_template::nearest;

/// The tools that are there without configuration.
pub const BUILTINS: [&str; 5] = ["shell", "git", "await", "describe_tools", "agent"];

/// Built-in tools that only read. `run` and `enable` of `"*"` do not apply to
/// them.
pub(crate) const START_NOTHING: [&str; 2] = ["await", "describe_tools"];

/// The name of the table that applies to every tool.
pub(crate) const EVERY_TOOL: &str = "*";

pub(crate) const TOP: &[&str] = &[
    "assistant",
    "conversation",
    "hosts",
    "kept",
    "mcp",
    "providers",
];
pub(crate) const HOST: &[&str] = &[
    "via",
    "nats",
    "pool",
    "credentials",
    "ca",
    "cert",
    "key",
    "replicas",
    "stored_output",
    "root",
    "labels",
    "lease_secs",
    "heartbeat_secs",
    "install",
];
pub(crate) const KEPT: &[&str] = &["max"];
pub(crate) const MCP_SERVING: &[&str] = &["max_block_secs", "tasks", "structured"];
pub(crate) const CONVERSATION: &[&str] =
    &["inquiry", "limits", "record", "record_failure", "tools"];
pub(crate) const PROVIDERS: &[&str] = &["llm", "mcp"];
pub(crate) const ASSISTANT: &[&str] = &[
    "model",
    "system_prompt",
    "max_tokens",
    "reasoning",
    "agents",
];
pub(crate) const AGENTS: &[&str] = &["max_depth", "max_active"];
pub(crate) const MODEL: &[&str] = &["id"];
pub(crate) const INQUIRY: &[&str] = &["assistant"];
pub(crate) const INQUIRY_ASSISTANT: &[&str] = &["model"];
pub(crate) const LLM: &[&str] = &[
    "api",
    "base_url",
    "api_key_env",
    "api_key_command",
    "headers",
];

/// Keys that apply to one tool or to every tool.
pub(crate) const SETTINGS: &[&str] = &[
    "enable",
    "run",
    "permissions",
    "timeout_secs",
    "grace_secs",
    "settle_max_secs",
    "describe_timeout_secs",
    "format_arguments",
    "read_only",
    "output_limit",
    "digest",
    "digest_from",
    "log_limit",
    "secrets",
    "pass_env",
    "hide_env",
    "options",
    "questions",
    "sandbox",
    "limits",
    "host",
    "hosts",
    "spawn",
];

/// Keys that define a tool.
pub(crate) const IDENTITY: &[&str] = &[
    "source",
    "command",
    "summary",
    "description",
    "examples",
    "parameters",
];

/// Keys of a JP tool that are accepted without effect.
pub(crate) const UNUSED: &[&str] = &[
    "style",
    "format",
    "result",
    "access",
    "cancellation_response",
];

/// Unused keys whose absence someone might rely on.
pub(crate) const UNENFORCED: &[&str] = &["access", "checksum"];

pub(crate) const ENABLE: &[&str] = &["state", "allow_toggle"];
pub(crate) const SOURCE: &[&str] = &["type", "tool", "server"];
pub(crate) const COMMAND: &[&str] = &["program", "args", "shell"];
pub(crate) const RUN: &[&str] = &["one_shot", "spawn", "fetch", "apply", "abort"];
pub(crate) const QUESTION: &[&str] = &["target", "answer"];
pub(crate) const SPAWN: &[&str] = &[
    "stateful",
    "actions",
    "io",
    "rows",
    "cols",
    "record",
    "notifications",
    "lifecycle",
];
pub(crate) const SANDBOX: &[&str] = &["read", "write", "deny", "network", "unavailable"];
pub(crate) const SANDBOX_NETWORK: &[&str] = &["allow"];
pub(crate) const LIMITS: &[&str] = &[
    "memory",
    "processes",
    "cpu_secs",
    "open_files",
    "file_size",
    "wall_secs",
    "disk",
];
pub(crate) const SESSION_LIMITS: &[&str] = &["memory", "processes", "cpu_secs"];
pub(crate) const NOTIFICATIONS: &[&str] = &["on_success", "on_failure", "on_waiting", "on_content"];
pub(crate) const LIFECYCLE: &[&str] =
    &["on_turn_end", "timeout_secs", "keep_secs", "keepable_secs"];
pub(crate) const MCP: &[&str] = &[
    "type",
    "command",
    "args",
    "arguments",
    "env",
    "pass_env",
    "hide_env",
    "sandbox",
    "limits",
    "url",
    "headers",
    "optional",
    "startup_timeout_secs",
    "tools",
];

/// Keys of a JP server that are accepted without effect.
pub(crate) const MCP_UNUSED: &[&str] = &["variables", "checksum"];

/// Keys of a parameter that Windlass reads itself.
pub(crate) const PARAMETER: &[&str] = &[
    "type",
    "summary",
    "description",
    "examples",
    "default",
    "required",
    "enum",
    "items",
    "properties",
];

/// JSON Schema keywords that a parameter passes on unchanged.
pub(crate) const PARAMETER_PASSED: &[&str] = &[
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contentEncoding",
    "contentMediaType",
    "deprecated",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "title",
    "uniqueItems",
];

pub(crate) const JSON_TYPES: &[&str] = &[
    "string", "number", "integer", "boolean", "array", "object", "null",
];

/// Synonyms of keys that are not similar in spelling.
const SYNONYMS: [(&str, &str); 5] = [
    ("env", "pass_env"),
    ("tools", "conversation.tools"),
    ("mcp", "providers.mcp"),
    ("mcpServers", "providers.mcp"),
    ("arguments", "parameters"),
];

/// A suggestion for an unknown key: the nearest known key, or all keys if none
/// is near.
pub(crate) fn hint(key: &str, known: &[&str]) -> String {
    let synonym = SYNONYMS.iter().find(|(word, meant)| {
        let table = meant.split('.').next().unwrap_or(meant);
        *word == key && known.contains(&table)
    });
    let meant = synonym.map(|(_, meant)| *meant);
    match meant.or_else(|| nearest(key, known.iter().copied())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", listed(known)),
    }
}

/// Names in backticks, separated by commas.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
