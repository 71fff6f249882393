//! The values of the configuration with their origins: those that a layer or a
//! variable sets, and the defaults of all others.

use serde_json::{Value, json};
use windlass::assistant::{AgentLimits, address_of};
use windlass::config::{
    AbsentValue, Config, ConfigValue, DefaultValue, LoadOptions, SourceLocation,
    looks_like_credential,
};
use windlass_assistant::{KNOWN_PROVIDERS, KnownProvider};
use windlass_serve_mcp::{McpOptions, TaskPolicy};

/// A value that is in effect.
pub(crate) struct EffectiveValue {
    pub(crate) key: String,
    value: AbsentValue,
    /// `None` for a default.
    pub(super) origin: Option<ValueOrigin>,
}

/// The origin of a value that is not a default.
pub(super) enum ValueOrigin {
    /// A file, a flag, or an assignment in a variable.
    Layer(SourceLocation),
    /// A dedicated environment variable.
    Variable(&'static str),
}

/// Every value that is in effect, by key.
pub(crate) fn values_of(config: &Config) -> Vec<EffectiveValue> {
    let mut values: Vec<EffectiveValue> = config.values.iter().map(EffectiveValue::set).collect();
    let mut defaults = config.default_values();
    defaults.extend(of_the_assistant(config));
    defaults.extend(of_serving());
    let is_set = |key: &str| {
        config.values.iter().any(|value| {
            let rest = value.key.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    defaults.retain(|default| !is_set(&default.key));
    values.extend(defaults.into_iter().map(EffectiveValue::default));
    // Dedicated variables: that of the model overrides the files, those of
    // provider addresses do not.
    if let Some(model) = windlass::variable("WINDLASS_MODEL").filter(|it| !it.is_empty()) {
        values.retain(|value| !matches!(value.key.as_str(), MODEL | "assistant.model.id"));
        values.push(EffectiveValue::variable(MODEL, model, "WINDLASS_MODEL"));
    }
    for provider in KNOWN_PROVIDERS {
        let key = address_key(provider);
        let told = windlass::variable(provider.base_url_variable);
        let Some(told) = told.filter(|told| !told.trim().is_empty() && !is_set(&key)) else {
            continue;
        };
        values.retain(|value| value.key != key);
        let address = address_of(provider, Some(&told));
        let variable = provider.base_url_variable;
        values.push(EffectiveValue::variable(&key, address, variable));
    }
    values.sort_by(|one, other| one.key.cmp(&other.key));
    values
}

const MODEL: &str = "assistant.model";

fn address_key(provider: &KnownProvider) -> String {
    format!("providers.llm.{}.base_url", provider.name)
}

/// The keys that the assistant resolves.
fn of_the_assistant(config: &Config) -> Vec<DefaultValue> {
    let agents = AgentLimits::default();
    let mut defaults = vec![
        DefaultValue::nothing(MODEL),
        DefaultValue::elsewhere("assistant.system_prompt", "a short one"),
        DefaultValue::elsewhere("assistant.max_tokens", "the provider's"),
        DefaultValue::elsewhere("assistant.reasoning", "the provider's"),
        DefaultValue::fixed("assistant.agents.max_depth", agents.depth),
        DefaultValue::fixed("assistant.agents.max_active", agents.active),
        DefaultValue::elsewhere(
            "conversation.inquiry.assistant.model",
            "the conversation's own",
        ),
    ];
    for provider in KNOWN_PROVIDERS {
        let key = |name: &str| format!("providers.llm.{}.{name}", provider.name);
        defaults.push(DefaultValue::fixed(key("api"), provider.api.as_str()));
        let address = DefaultValue::fixed(address_key(provider), provider.base_url);
        defaults.push(address);
        let told = config.assistant.providers.get(provider.name);
        let has_command = told.is_some_and(|told| told.api_key_command.is_some());
        if !has_command {
            defaults.push(match provider.key_variables {
                [] => DefaultValue::nothing(key("api_key_env")),
                [name] => DefaultValue::fixed(key("api_key_env"), *name),
                names => DefaultValue::fixed(key("api_key_env"), names.join(" or ")),
            });
        }
    }
    defaults
}

/// The keys that our MCP server resolves.
fn of_serving() -> Vec<DefaultValue> {
    let usual = McpOptions::default();
    let tasks = match usual.tasks {
        TaskPolicy::Auto => json!("auto"),
        TaskPolicy::Never => json!("never"),
        TaskPolicy::After(time) => json!(time.as_secs_f64()),
    };
    vec![
        DefaultValue::fixed("mcp.max_block_secs", usual.max_block.as_secs()),
        DefaultValue::fixed("mcp.tasks", tasks),
        DefaultValue::elsewhere("mcp.structured", "by client"),
    ]
}

impl EffectiveValue {
    fn set(value: &ConfigValue) -> Self {
        Self {
            key: value.key.clone(),
            value: AbsentValue::Fixed(hidden(value)),
            origin: Some(ValueOrigin::Layer(value.origin.clone())),
        }
    }

    fn default(default: DefaultValue) -> Self {
        Self {
            key: default.key,
            value: default.value,
            origin: None,
        }
    }

    fn variable(key: &str, value: String, variable: &'static str) -> Self {
        Self {
            key: key.to_owned(),
            value: AbsentValue::Fixed(value.into()),
            origin: Some(ValueOrigin::Variable(variable)),
        }
    }

    /// The value in the format of a list.
    pub(crate) fn text(&self) -> String {
        match &self.value {
            AbsentValue::Fixed(value) => value.to_string(),
            AbsentValue::Nothing => "none".to_owned(),
            AbsentValue::Elsewhere(source) => format!("({source})"),
        }
    }

    pub(super) fn json(&self) -> Value {
        match &self.value {
            AbsentValue::Fixed(value) => value.clone(),
            AbsentValue::Nothing | AbsentValue::Elsewhere(_) => Value::Null,
        }
    }

    pub(super) fn place(&self) -> Option<&SourceLocation> {
        match &self.origin {
            Some(ValueOrigin::Layer(place)) => Some(place),
            _ => None,
        }
    }

    pub(super) fn origin_text(&self) -> String {
        match &self.origin {
            None => "default".to_owned(),
            Some(ValueOrigin::Layer(place)) => place.to_string(),
            Some(ValueOrigin::Variable(name)) => format!("variable {name}"),
        }
    }

    /// The kind of origin, for JSON output.
    pub(super) fn layer(&self, options: &LoadOptions) -> &'static str {
        let place = match &self.origin {
            None => return "default",
            Some(ValueOrigin::Variable(_)) => return "environment",
            Some(ValueOrigin::Layer(place)) => place,
        };
        let Some(file) = &place.file else {
            let is_flag = place.name.starts_with("--set");
            return if is_flag {
                "command line"
            } else {
                "environment"
            };
        };
        let mut given = options.explicit.iter();
        if options.user_file().is_some_and(|own| own == *file) {
            "user file"
        } else if given.any(|given| options.cwd.join(given) == *file) {
            "command line"
        } else {
            "project file"
        }
    }
}

/// The value, unless it may be a secret: a header, or a variable with a name
/// that suggests one.
fn hidden(value: &ConfigValue) -> Value {
    let parts: Vec<&str> = value.key.split('.').collect();
    let below = |table: &str| parts.iter().rev().skip(1).any(|part| *part == table);
    let name = parts.last().copied().unwrap_or_default();
    if below("headers") || (below("env") && looks_like_credential(name)) {
        return json!("(hidden)");
    }
    value.value.clone()
}
