//! The `permissions` table of a tool: patterns and their actions.
//!
//! ```toml
//! [conversation.tools.shell.permissions]
//! "git status *" = "allow"
//! "rm *" = "deny"
//! apply = { "y" = "allow" }
//! ```

use indexmap::IndexMap;
use windlass_protocol::{PermissionRule, RuleAction};

use crate::expected::ExpectedValue;
use crate::node::{Node, Value};
use crate::read::{self, ConfigReader, Table};

/// The permission rules of a tool, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PermissionSettings {
    /// Rules for starting it.
    pub start: IndexMap<String, RuleAction>,
    /// Rules for typing into it.
    pub apply: IndexMap<String, RuleAction>,
}

impl PermissionSettings {
    pub(crate) fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Self {
        let mut settings = Self::default();
        let Some(table) = reader.table(table, "permissions") else {
            return settings;
        };
        settings.start = patterns(reader, &table);
        if let Some(Value::Table(_)) = table.node(APPLY).map(|node| &node.value)
            && let Some(apply) = reader.table(&table, APPLY)
        {
            settings.apply = patterns(reader, &apply);
        }
        settings
    }

    /// The rules for the tool of this name, in the order of writing.
    pub(crate) fn rules(&self, tool: &str) -> Vec<PermissionRule> {
        let rule = |permission: &str, (pattern, action): (&String, &RuleAction)| PermissionRule {
            permission: permission.to_owned(),
            pattern: pattern.clone(),
            action: *action,
        };
        let apply = format!("{tool}.{APPLY}");
        let start = self.start.iter().map(|entry| rule(tool, entry));
        start
            .chain(self.apply.iter().map(|entry| rule(&apply, entry)))
            .collect()
    }
}

/// A table under this key has the rules for typing; a string makes it an
/// ordinary pattern.
const APPLY: &str = "apply";

fn patterns(reader: &mut ConfigReader, table: &Table<'_>) -> IndexMap<String, RuleAction> {
    let mut patterns = IndexMap::new();
    for (pattern, entry) in table.entries {
        let is_table = matches!(entry.node.value, Value::Table(_));
        if is_table && pattern == APPLY {
            continue;
        }
        if let Some(action) = reader.get(table, pattern, action) {
            patterns.insert(pattern.clone(), action);
        }
    }
    patterns
}

fn action(node: &Node) -> Result<RuleAction, ExpectedValue> {
    let words = [
        ("allow", RuleAction::Allow),
        ("ask", RuleAction::Ask),
        ("deny", RuleAction::Deny),
    ];
    read::word(node, &words)
}
