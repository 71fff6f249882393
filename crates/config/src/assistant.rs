//! The configuration of the assistant: its model, system prompt and providers.

use indexmap::IndexMap;
use windlass_providers::ProviderApi;

use crate::command::CommandConfig;
use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::read::{self, ConfigReader, Table};

/// The tables `[assistant]` and `[providers]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantConfig {
    /// The model, as `provider/name`.
    pub model: Option<String>,
    /// Replaces the default system prompt.
    pub system_prompt: Option<String>,
    /// The maximum length of a reply, in tokens.
    pub max_tokens: Option<u32>,
    /// The reasoning effort.
    pub reasoning: Option<ReasoningEffort>,
    /// The maximum depth of agents that start agents.
    pub max_agent_depth: Option<usize>,
    /// The maximum number of agents that work at the same time.
    pub max_active_agents: Option<usize>,
    /// The model for inquiries, if it differs.
    pub inquiry_model: Option<String>,
    /// Providers, by name.
    pub providers: IndexMap<String, ProviderConfig>,
}

/// The reasoning effort of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningEffort {
    /// A little.
    Low,
    /// Moderately.
    Medium,
    /// As hard as it can.
    High,
}

/// One provider of `[providers.llm]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProviderConfig {
    /// Its wire format.
    pub api: Option<ProviderApi>,
    /// The base URL of its API.
    pub base_url: Option<String>,
    /// The variable that holds its key.
    pub api_key_env: Option<String>,
    /// A command that prints its key.
    pub api_key_command: Option<CommandConfig>,
    /// Headers to send with every request.
    pub headers: IndexMap<String, String>,
}

impl AssistantConfig {
    pub(crate) fn read(&mut self, reader: &mut ConfigReader, table: &Table<'_>) {
        reader.check_keys(table, keys::ASSISTANT);
        self.model = read_model(reader, table);
        self.system_prompt = reader.get(table, "system_prompt", read::string);
        self.max_tokens = reader.get(table, "max_tokens", tokens);
        self.reasoning = reader.get(table, "reasoning", |node| {
            let words = [
                ("low", ReasoningEffort::Low),
                ("medium", ReasoningEffort::Medium),
                ("high", ReasoningEffort::High),
            ];
            read::word(node, &words)
        });
        if let Some(agents) = reader.table(table, "agents") {
            reader.check_keys(&agents, keys::AGENTS);
            self.max_agent_depth = reader.get(&agents, "max_depth", read::count);
            self.max_active_agents = reader.get(&agents, "max_active", read::count);
        }
    }

    pub(crate) fn read_inquiry(&mut self, reader: &mut ConfigReader, table: &Table<'_>) {
        reader.check_keys(table, keys::INQUIRY);
        if let Some(assistant) = reader.table(table, "assistant") {
            reader.check_keys(&assistant, keys::INQUIRY_ASSISTANT);
            self.inquiry_model = read_model(reader, &assistant);
        }
    }

    pub(crate) fn read_providers(&mut self, reader: &mut ConfigReader, parent: &Table<'_>) {
        for name in parent.entries.keys() {
            if let Some(table) = reader.table(parent, name) {
                let provider = ProviderConfig::read(reader, &table);
                self.providers.insert(name.clone(), provider);
            }
        }
    }

    /// All variables that may hold a key: those of known providers, and those
    /// named in the configuration. Tools do not get them.
    pub fn key_variables(&self) -> impl Iterator<Item = &str> {
        let told = self.providers.values();
        let told = told.filter_map(|provider| provider.api_key_env.as_deref());
        let known = windlass_providers::key_variables();
        known.map(|name: &str| name).chain(told)
    }
}

/// The variable holds the key of a known provider.
pub fn is_known_key(variable: &str) -> bool {
    windlass_providers::key_variables().any(|name| name == variable)
}

/// Reads a name, or JP's form: a table with an `id`.
fn read_model(reader: &mut ConfigReader, table: &Table<'_>) -> Option<String> {
    let node = table.node("model")?;
    if let Value::Table(_) = node.value {
        let model = reader.table(table, "model")?;
        reader.check_keys(&model, keys::MODEL);
        return reader.get(&model, "id", model_name);
    }
    reader.get(table, "model", model_name)
}

fn model_name(node: &Node) -> Result<String, ExpectedValue> {
    let name = read::string(node).ok();
    let fits = |name: &String| {
        let parts = name.split_once('/');
        parts.is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty())
    };
    name.filter(fits).ok_or(ExpectedValue::Model)
}

fn tokens(node: &Node) -> Result<u32, ExpectedValue> {
    match node.value {
        Value::Integer(count) => u32::try_from(count).ok().filter(|count| *count > 0),
        _ => None,
    }
    .ok_or(ExpectedValue::Tokens)
}

impl ProviderConfig {
    fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Self {
        reader.check_keys(table, keys::LLM);
        Self {
            api: reader.get(table, "api", |node| {
                read::word(node, &ProviderApi::ALL.map(|api| (api.as_str(), api)))
            }),
            base_url: reader.get(table, "base_url", |node| {
                let url = read::string(node)?;
                if url.starts_with("http://") || url.starts_with("https://") {
                    Ok(url)
                } else {
                    Err(ExpectedValue::Address)
                }
            }),
            api_key_env: reader.get(table, "api_key_env", read::string),
            api_key_command: CommandConfig::read(reader, table, "api_key_command"),
            headers: reader
                .get(table, "headers", read::string_map)
                .unwrap_or_default(),
        }
    }
}
