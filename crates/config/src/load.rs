//! Loading: layers in, one resolved configuration out.
//!
//! Start at [`load`]. If a project has files, the configuration is resolved
//! twice: without them, to be used until they are trusted, and with them, to
//! show their effects.

use std::path::PathBuf;
use std::{fs, mem};

use crate::config::{Config, ConfigValue, LoadOptions};
use crate::error::{ConfigError, Problem, ProblemKind};
use crate::keys;
use crate::layers::{Layers, ParsedLayer};
use crate::node::Node;
use crate::project;
use crate::read::{ConfigReader, UnusedKeys};
use crate::tables::{Resolved, Tables};
use crate::tool::ToolConfig;
use crate::trust::{self, ProjectContent, ProjectState, ProjectTrust, TrustQuestion};
use crate::user_word;
use crate::wishes::{self, Wishes};

/// Loads the configuration. Without any file it is empty, and that is fine.
///
/// The files of a project are used only if [`LoadOptions::trust`] says that
/// exactly their content is trusted. Otherwise they are read and have no
/// effect; [`Config::project`] says so.
pub fn load(options: &LoadOptions) -> Result<Config, ConfigError> {
    let mut layers = Layers::gather(options);
    let mut user = LayerGroup::read(mem::take(&mut layers.user));
    let mut by_hand = LayerGroup::read(mem::take(&mut layers.by_hand));
    let mut project = LayerGroup::read(layers.project.parse(&layers.root, options));
    if matches!(options.trust, ProjectTrust::Always) {
        project.problems.append(&mut layers.project.refused);
        fail_on([&mut user, &mut project, &mut by_hand])?;
    } else {
        fail_on([&mut user, &mut by_hand])?;
    }
    if !layers.project.refused.is_empty() {
        let without = Merged::resolve(&[&user, &by_hand], Gaps::Fine)?;
        let refused = ProjectState::Refused(trust::refusal(&layers.project.refused));
        return Ok(without.config(&layers, refused, Vec::new()));
    }
    if layers.project.texts.is_empty() {
        let own = Merged::resolve(&[&user, &by_hand], Gaps::Fail)?;
        return Ok(own.config(&layers, ProjectState::Empty, Vec::new()));
    }
    with_project(options, &layers, &user, &mut project, &by_hand)
}

/// Loads the configuration of a project that has files.
fn with_project(
    options: &LoadOptions,
    layers: &Layers,
    user: &LayerGroup,
    project: &mut LayerGroup,
    by_hand: &LayerGroup,
) -> Result<Config, ConfigError> {
    let mut without = Merged::resolve(&[user, by_hand], Gaps::Fine)?;
    // What is given by hand lies above the project's files in any case.
    without.resolved.defined = Merged::resolve(&[user], Gaps::Fine)?.resolved.names();
    let said = merged(&[project]);
    let mut with = match fail_on([project]) {
        Ok(()) => Merged::resolve(&[user, project, by_hand], Gaps::Fail),
        Err(error) => Err(error),
    };
    let wishes = match &mut with {
        Ok(with) => {
            let ignored = user_word::uphold(said.as_ref(), &without.resolved, &mut with.resolved);
            Wishes {
                ignored,
                ..Wishes::of(said.as_ref(), &without.resolved, &with.resolved)
            }
        }
        Err(_) => Wishes::default(),
    };
    let root = fs::canonicalize(&layers.root).unwrap_or_else(|_| layers.root.clone());
    let alone = Merged::resolve(&[project], Gaps::All)?;
    let programs = wishes::programs(&root, options.variable("PATH"), &alone.resolved);
    let programs = match programs {
        Ok(programs) => programs,
        Err((file, fault)) => {
            let refused = ProjectState::Refused(project::problem(&file, fault).to_string());
            return Ok(without.config(layers, refused, Vec::new()));
        }
    };
    let content = ProjectContent {
        root,
        texts: layers.project.texts.clone(),
        programs,
    };
    let is_trusted = match &options.trust {
        ProjectTrust::Unsaid => false,
        ProjectTrust::Always => true,
        ProjectTrust::By(decision) => decision.is_trusted(&content),
    };
    if is_trusted {
        let trusted = ProjectState::Trusted(Box::new(content));
        return Ok(with?.config(layers, trusted, wishes.ignored));
    }
    let question = TrustQuestion {
        content,
        starts: wishes.starts,
        wants: wishes.wants,
        offers: wishes.offers,
        ignored: wishes.ignored,
        broken: with.err().map(|error| error.to_string()),
    };
    let untrusted = ProjectState::Untrusted(Box::new(question));
    Ok(without.config(layers, untrusted, Vec::new()))
}

/// Layers that apply together. Each is read separately, so that an error is
/// reported even if a later layer overrides the value.
#[derive(Default)]
struct LayerGroup {
    nodes: Vec<Node>,
    problems: Vec<Problem>,
    unused: UnusedKeys,
}

impl LayerGroup {
    fn read(layers: Vec<ParsedLayer>) -> Self {
        let mut reader = ConfigReader::default();
        let mut nodes = Vec::new();
        for layer in layers {
            match layer {
                Ok(node) => {
                    let told_before = reader.problems.len();
                    Tables::read(&mut reader, &node);
                    reader.problems[told_before..].sort_by_key(|problem| {
                        let place = problem.place.as_ref();
                        place.map(|place| (place.line, place.column))
                    });
                    nodes.push(node);
                }
                Err(problems) => reader.problems.extend(problems),
            }
        }
        // Another layer may set it, so the merged tables are checked again.
        let is_told = |problem: &Problem| !matches!(problem.kind, ProblemKind::NoVia { .. });
        reader.problems.retain(is_told);
        Self {
            nodes,
            problems: reader.problems,
            unused: reader.unused,
        }
    }
}

/// Whether a tool without a definition is an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    Fail,
    /// The project may define it.
    Fine,
    /// No value is, because only the commands are checked.
    All,
}

/// The outcome of merging some groups of layers.
struct Merged {
    resolved: Resolved,
    unused: UnusedKeys,
    values: Vec<ConfigValue>,
}

impl Merged {
    fn resolve(groups: &[&LayerGroup], gaps: Gaps) -> Result<Self, ConfigError> {
        let mut reader = ConfigReader::default();
        for group in groups {
            reader.unused.extend(group.unused.clone());
        }
        let merged = merged(groups);
        let tables = merged
            .as_ref()
            .map(|node| Tables::read(&mut reader, node))
            .unwrap_or_default();
        let mut values = Vec::new();
        if let Some(node) = &merged {
            node.values(&mut Vec::new(), &mut values);
        }
        let resolved = tables.resolve(&mut reader);
        let is_gap = |problem: &Problem| {
            use ProblemKind::{NoCommand, NoHost, NoProgram, NoSource, NoVia, Transport};
            let kind = &problem.kind;
            matches!(
                kind,
                NoSource { .. }
                    | NoCommand { .. }
                    | NoHost { .. }
                    | NoProgram { .. }
                    | NoVia { .. }
                    | Transport { .. }
            )
        };
        match gaps {
            Gaps::Fail => {}
            Gaps::Fine => reader.problems.retain(|problem| !is_gap(problem)),
            Gaps::All => reader.problems.clear(),
        }
        fail_on_problems(&mut reader.problems)?;
        Ok(Self {
            resolved,
            unused: reader.unused,
            values,
        })
    }

    fn config(self, layers: &Layers, project: ProjectState, ignored: Vec<String>) -> Config {
        let Resolved {
            assistant,
            tools,
            defaults,
            record,
            record_failure,
            session_limits,
            mcp,
            kept_max,
            mcp_servers,
            hosts,
            told: _,
            defined: _,
        } = self.resolved;
        let is_trusted = matches!(project, ProjectState::Trusted(_));
        let mut warnings = warnings(&self.unused, &tools, &layers.project.foreign);
        warnings.extend(ignored);
        Config {
            root: layers.root.clone(),
            warnings,
            tools,
            defaults,
            assistant,
            record,
            record_failure,
            session_limits,
            mcp,
            kept_max,
            mcp_servers,
            hosts,
            files: layers.files(is_trusted),
            values: self.values,
            project,
        }
    }
}

fn merged(groups: &[&LayerGroup]) -> Option<Node> {
    let nodes = groups.iter().flat_map(|group| &group.nodes).cloned();
    nodes.reduce(|mut lower, upper| {
        lower.merge(upper);
        lower
    })
}

fn fail_on<const COUNT: usize>(groups: [&mut LayerGroup; COUNT]) -> Result<(), ConfigError> {
    let mut problems = Vec::new();
    for group in groups {
        problems.append(&mut group.problems);
    }
    fail_on_problems(&mut problems)
}

fn fail_on_problems(problems: &mut Vec<Problem>) -> Result<(), ConfigError> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(ConfigError {
            problems: mem::take(problems),
        })
    }
}

fn warnings(unused: &UnusedKeys, tools: &[ToolConfig], foreign: &[PathBuf]) -> Vec<String> {
    let mut warnings: Vec<_> = unused
        .iter()
        .map(|((_, key), span)| {
            let why = if keys::UNENFORCED.contains(&key.as_str()) {
                "is not enforced by Windlass"
            } else {
                "has no effect in Windlass"
            };
            format!("`{key}` {why} ({})", span.place())
        })
        .collect();
    warnings.extend(foreign.iter().map(|file| {
        let file = file.display();
        format!("`{file}` is not read; files that define tools end in `.toml`")
    }));
    let off: Vec<_> = tools
        .iter()
        .filter(|tool| !tool.enabled)
        .map(|tool| tool.name.as_str())
        .collect();
    if let Some(first) = off.first() {
        warnings.push(format!(
            "disabled by `enable`: {}; enable one with --set \
             conversation.tools.{first}.enable=true",
            keys::listed(&off)
        ));
    }
    warnings
}
