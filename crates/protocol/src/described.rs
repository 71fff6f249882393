//! Turns a tool's own description into a definition.
//!
//! Used for programs and for every other source that describes tools in the
//! protocol. The configuration then overrides parts of the result.

use crate::{
    ActionSet, IoMode, Parameters, SpawnDescription, ToolDefinition, ToolDescription, ToolShape,
};

impl ToolDefinition {
    /// The tool as it describes itself, with default policies. The fields on
    /// how it is run (`io`, `format_arguments`) are for its executor and are
    /// not included.
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

/// A stateful tool has all actions unless it lists some. A list alone makes a
/// tool stateful.
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
