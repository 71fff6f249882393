//! Registering the tools that the embedding program brings.

use std::fmt;
use std::sync::Arc;

use windlass_config::{BUILTINS, Config, SourceLocation, ToolConfig};
use windlass_executors::check_shape;
use windlass_runtime::{Executor, Session, SessionOptions, ToolDefinition};

use crate::build::{BuildError, Windlass};
use crate::builder::EmbeddedTool;
use crate::registering::Build;

/// The owner of a tool's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameOwner {
    /// A built-in tool, whether or not it is offered.
    Builtin,
    /// Another tool of the program.
    Program,
    /// A tool of the configuration, and the location of its table.
    Config(Option<SourceLocation>),
}

impl fmt::Display for NameOwner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => formatter.write_str("a built-in tool has that name"),
            Self::Program => formatter.write_str("the program adds another tool of that name"),
            Self::Config(None) => formatter.write_str("the configuration has a tool of that name"),
            Self::Config(Some(place)) => {
                write!(
                    formatter,
                    "the configuration has a tool of that name ({place})"
                )
            }
        }
    }
}

type Parts = (ToolDefinition, Arc<dyn Executor>);

/// The tools in registrable form, or the error of the first invalid one.
pub(crate) fn checked(tools: Vec<EmbeddedTool>, config: &Config) -> Result<Vec<Parts>, BuildError> {
    let mut checked: Vec<Parts> = Vec::new();
    for tool in tools {
        let parts = match tool {
            EmbeddedTool::Executor(definition, executor) => (*definition, executor),
            EmbeddedTool::Function(function) => function.into_parts()?,
        };
        let name = &parts.0.name;
        let in_config = || config.tool(name).map(|tool| tool.place.clone());
        let owner = if BUILTINS.contains(&name.as_str()) {
            Some(NameOwner::Builtin)
        } else if checked.iter().any(|(before, _)| before.name == *name) {
            Some(NameOwner::Program)
        } else {
            in_config().map(NameOwner::Config)
        };
        if let Some(owner) = owner {
            let name = name.clone();
            return Err(BuildError::NameTaken { name, owner });
        }
        check_shape(&parts.0.shape).map_err(|problem| BuildError::Unfit {
            tool: name.clone(),
            problem,
        })?;
        checked.push(parts);
    }
    Ok(checked)
}

impl Windlass {
    /// Starts a session that can have tools of its own, added with
    /// [`add_tool`](Self::add_tool).
    pub fn session_with_tools(&self, options: SessionOptions) -> Session {
        self.session_of(&self.runtime().layered(), options)
    }

    /// Adds a tool of the embedding program to a running session of
    /// [`session_with_tools`](Self::session_with_tools), under the same rules
    /// as [`Builder::tool`](crate::Builder::tool).
    pub fn add_tool(
        &self,
        session: &Session,
        definition: ToolDefinition,
        executor: Arc<dyn Executor>,
    ) -> Result<(), BuildError> {
        let tool = EmbeddedTool::Executor(Box::new(definition), executor);
        for (base, executor) in checked(vec![tool], self.config())? {
            let tool = self.config().embedded_tool(&base.name);
            if !tool.enabled {
                return Err(BuildError::Disabled { tool: base.name });
            }
            session.tools().append(overlaid(&tool, base), executor)?;
        }
        Ok(())
    }
}

/// A tool of the embedding program: its own policies, with the settings of
/// every tool merged in.
fn overlaid(tool: &ToolConfig, base: ToolDefinition) -> ToolDefinition {
    let mut definition = tool.overlay(base.clone());
    definition.origin = base.origin;
    definition.permissions = [base.permissions, definition.permissions].concat();
    definition.run_for_client = base.run_for_client.map(|run| tool.settings.run.over(run));
    definition
}

impl Build<'_> {
    /// Registers the program's tools.
    pub(crate) fn register_embedded(&mut self, tools: Vec<Parts>) -> Result<(), BuildError> {
        for (base, executor) in tools {
            let tool = self.config.embedded_tool(&base.name);
            if !tool.enabled {
                self.cannot_offer(&tool, "`enable` of conversation.tools.\"*\" is false");
                continue;
            }
            self.catalogue.register(overlaid(&tool, base), executor)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "embedded_tests.rs"]
mod tests;
