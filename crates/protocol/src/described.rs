//! From what a tool says of itself to a definition.
//!
//! Programs, and whatever else describes tools in the words of the protocol,
//! come through here; the person's own word is laid over it by the
//! configuration.

use crate::{
    ActionSet, IoMode, Parameters, SpawnDescription, ToolDefinition, ToolDescription, ToolShape,
};

impl ToolDefinition {
    /// The tool as it describes itself, with default policies. What the
    /// description says of how the tool is run (`io`, `format_arguments`) is
    /// for its executor, and not in here.
    pub fn described(description: &ToolDescription) -> Self {
        let spawn = description.spawn.as_ref();
        let actions = spawn.map_or(ActionSet::NONE, actions);
        let on_terminal = spawn.is_some_and(|spawn| spawn.io == Some(IoMode::Terminal));
        Self {
            summary: description.summary.clone(),
            description: description.description.clone(),
            examples: description.examples.clone(),
            shape: ToolShape {
                parameters: Parameters::from_entries(&description.parameters),
                actions,
                one_shot: actions.is_empty(),
                typing: on_terminal && !actions.is_empty(),
                lines: false,
                keep: false,
            },
            ..Self::new(&description.name)
        }
    }
}

/// A stateful tool has all actions unless some are listed, and a list alone
/// makes a tool stateful.
fn actions(spawn: &SpawnDescription) -> ActionSet {
    match &spawn.actions {
        Some(actions) => actions.iter().copied().collect(),
        None if spawn.stateful => ActionSet::all(),
        None => ActionSet::NONE,
    }
}

#[cfg(test)]
#[path = "described_tests.rs"]
mod tests;
