//! Merges the configuration over a tool's own description.

use windlass_protocol::{ActionSet, IoMode};
use windlass_runtime::{QuestionPolicy, ToolDefinition};

use crate::override_parameters::{override_parameters, unknown};
use crate::settings::{SpawnSettings, ToolSettings};
use crate::tool::{ToolConfig, ToolSource};

impl ToolConfig {
    /// Merges the configuration over `base`, the description given by a
    /// built-in tool, an MCP server or a program. The name is the
    /// configuration's. All three sources use this merge; for a program, `base`
    /// is [`ToolDefinition::described`].
    ///
    /// Overrides of parameters that `base` does not have are ignored; see
    /// [`ToolConfig::unknown_overrides`].
    pub fn overlay(&self, base: ToolDefinition) -> ToolDefinition {
        let own = &self.definition;
        let mut definition = lay_over(&self.settings, base);
        definition.name.clone_from(&self.name);
        definition.permissions = self.settings.permissions.rules(&self.name);
        definition.permission_floor = self.settings.floor.rules(&self.name);
        definition.origin.clone_from(&own.origin);
        definition.summary = own.summary.clone().or(definition.summary);
        definition.description = own.description.clone().or(definition.description);
        definition.examples = own.examples.clone().or(definition.examples);
        override_parameters(&mut definition.shape.parameters, &self.overrides);
        if let ToolSource::Local { .. } = self.source {
            let shape = &mut definition.shape;
            shape.one_shot = shape.actions.is_empty();
            // A terminal may be the base's idea, and `spawn.io` the person's.
            let other = self.settings.spawn.io.filter(|io| *io != IoMode::Terminal);
            shape.typing &= !shape.actions.is_empty() && other.is_none();
        }
        definition
    }

    /// The program's I/O mode: the configured one, else the described one.
    pub fn io_over(&self, described: Option<IoMode>) -> IoMode {
        self.settings.spawn.io.or(described).unwrap_or(IoMode::Text)
    }

    /// Overrides without a matching parameter in `base`, for a warning; nested
    /// ones are dotted.
    pub fn unknown_overrides(&self, base: &ToolDefinition) -> Vec<String> {
        unknown(&base.shape.parameters, &self.overrides)
    }
}

/// Lays policies over a definition.
pub(crate) fn lay_over(settings: &ToolSettings, mut definition: ToolDefinition) -> ToolDefinition {
    let limits = &mut definition.limits;
    limits.timeout = settings.timeout.unwrap_or(limits.timeout);
    limits.grace = settings.grace.unwrap_or(limits.grace);
    limits.settle_max = settings.settle_max.unwrap_or(limits.settle_max);
    if let Some(limit) = settings.output_limit {
        limits.output_limit = usize::try_from(limit).unwrap_or(usize::MAX);
    }
    let digest = &mut definition.digest;
    digest.enabled = settings.digest.unwrap_or(digest.enabled);
    if let Some(from) = settings.digest_from {
        digest.from = usize::try_from(from).unwrap_or(usize::MAX);
    }
    definition.run = settings.run.over(definition.run);
    definition.permissions = settings.permissions.rules(&definition.name);
    definition.permission_floor = settings.floor.rules(&definition.name);
    definition.notifications = settings.spawn.notifications.over(definition.notifications);
    definition.lifecycle = settings.spawn.lifecycle.over(definition.lifecycle);
    for (id, question) in &settings.questions {
        let policy = definition.questions.entry(id.clone()).or_default();
        *policy = QuestionPolicy {
            target: question.target.unwrap_or(policy.target),
            answer: question.answer.clone().or(policy.answer.take()),
        };
    }
    definition.only_reads = settings.read_only.unwrap_or(definition.only_reads);
    let shape = &mut definition.shape;
    if let Some(actions) = settings.spawn.said_actions() {
        shape.actions = actions;
        shape.one_shot |= actions.is_empty();
    }
    if settings.spawn.io == Some(IoMode::Terminal) && !shape.actions.is_empty() {
        shape.typing = true;
    }
    definition
}

impl SpawnSettings {
    /// The configured actions, if any. A stateful tool has all four unless some
    /// are listed; a list alone makes a tool stateful.
    pub(crate) fn said_actions(&self) -> Option<ActionSet> {
        match (self.stateful, &self.actions) {
            (Some(false), _) => Some(ActionSet::NONE),
            (_, Some(actions)) => Some(actions.iter().copied().collect()),
            (Some(true), None) => Some(ActionSet::all()),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
