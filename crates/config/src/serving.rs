//! The table `[mcp]`: how our own MCP server answers its clients.

use std::time::Duration;

use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::read::{self, Reader, Table};
use crate::units;

/// How our MCP server answers its clients. A key that is not given is left to
/// the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServing {
    /// How long a call may block its client.
    pub max_block: Option<Duration>,
    /// When a call becomes a task of a client that takes tasks.
    pub tasks: Option<TaskSetting>,
    /// Results carry structured content beside their text.
    pub structured: Option<bool>,
}

/// When a call becomes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskSetting {
    /// As suits the client, and never before it would have become a handle.
    Auto,
    /// Never; tasks are not declared.
    Never,
    /// After this time.
    After(Duration),
}

impl McpServing {
    pub(crate) fn read(reader: &mut Reader, table: &Table<'_>) -> Self {
        reader.check_keys(table, keys::MCP_SERVING);
        Self {
            max_block: reader.get(table, "max_block_secs", units::seconds),
            tasks: reader.get(table, "tasks", tasks),
            structured: reader.get(table, "structured", read::boolean),
        }
    }
}

fn tasks(node: &Node) -> Result<TaskSetting, ExpectedValue> {
    match &node.value {
        Value::String(text) if text == "auto" => Ok(TaskSetting::Auto),
        Value::String(text) if text == "never" => Ok(TaskSetting::Never),
        _ => units::seconds(node)
            .map(TaskSetting::After)
            .map_err(|_| ExpectedValue::Tasks),
    }
}
