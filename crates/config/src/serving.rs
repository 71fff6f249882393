//! The table `[mcp]`: settings of Windlass' own MCP server.

use std::time::Duration;

use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::{Node, Value};
use crate::read::{self, ConfigReader, Table};
use crate::units;

/// Settings of Windlass' own MCP server. The server chooses the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServing {
    /// The maximum time for which a call may block its client.
    pub max_block: Option<Duration>,
    /// The condition on which a call becomes a task, for clients that support
    /// tasks.
    pub tasks: Option<TaskSetting>,
    /// Results carry structured content beside their text.
    pub structured: Option<bool>,
}

/// The condition on which a call becomes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskSetting {
    /// Depends on the client; never earlier than the call would have become a
    /// handle.
    Auto,
    /// Never; tasks are not declared.
    Never,
    /// After this time.
    After(Duration),
}

impl McpServing {
    pub(crate) fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Self {
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
