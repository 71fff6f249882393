//! The catalogue of tools, and the runtime that offers them to sessions.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use windlass_protocol::{Arguments, HandleAction, ToolDefinition, ToolShape};

use crate::announce::Announcer;
use crate::builtin::BuiltinTool;
use crate::executor::Executor;
use crate::refusal::{ArgumentMisfit, Refusal};
use crate::session::Session;
use crate::session_options::SessionOptions;
use crate::sessions::Sessions;

/// A tool and its implementation.
pub struct RegisteredTool {
    pub(crate) name: Arc<str>,
    pub(crate) definition: Arc<ToolDefinition>,
    pub(crate) runs: Runs,
    validator: Validator,
}

/// The implementation of a tool.
pub(crate) enum Runs {
    Executor(Arc<dyn Executor>),
    Builtin(Arc<dyn BuiltinTool>),
}

impl RegisteredTool {
    /// The tool's definition.
    pub fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    pub(crate) fn executor(&self) -> &dyn Executor {
        match &self.runs {
            Runs::Executor(executor) => &**executor,
            Runs::Builtin(_) => unreachable!("builtins are read as such"),
        }
    }

    /// Checks arguments against the parameters' schemas, and returns them. The
    /// error names the argument, the expectation and the value.
    pub(crate) fn validate(&self, args: Arguments) -> Result<Arguments, ArgumentMisfit> {
        if args.is_empty() && self.definition.shape.parameters.required.is_empty() {
            return Ok(args);
        }
        // The validator takes a value; wrapped and unwrapped, nothing is copied.
        let args = Value::Object(args);
        let Err(error) = self.validator.validate(&args) else {
            let Value::Object(args) = args else {
                unreachable!("it was wrapped as an object")
            };
            return Ok(args);
        };
        let path = error.instance_path().to_string();
        Err(ArgumentMisfit {
            argument: path.trim_start_matches('/').replace('/', "."),
            problem: problem(&error),
        })
    }
}

/// The violated rule. Lists of permitted values are complete.
fn problem(error: &ValidationError<'_>) -> String {
    let listed = |values: &[String]| values.join(", ");
    match error.kind() {
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let options: Vec<String> = options.iter().map(ToString::to_string).collect();
            format!("{} is not one of {}", error.instance(), listed(&options))
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            format!("these properties are not allowed: {}", listed(unexpected))
        }
        _ => error.to_string(),
    }
}

/// The reason why a tool cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// Providers would not accept the name.
    #[error("`{0}` cannot be a tool's name; use a letter or `_`, then up to 47 of A-Z a-z 0-9 _ -")]
    BadName(String),
    /// Two tools have one name.
    #[error("there are two tools named `{0}`; rename one of them")]
    Twice(String),
    /// A parameter has the name of a property that every handle has.
    #[error(
        "tool `{tool}` has actions, which use the name of its parameter `{parameter}`; rename \
             it"
    )]
    Reserved {
        /// The tool.
        tool: String,
        /// The parameter.
        parameter: String,
    },
    /// The parameters are not JSON Schema.
    #[error("the parameters of tool `{tool}` are not a JSON Schema: {problem}")]
    BadSchema {
        /// The tool.
        tool: String,
        /// The fault.
        problem: String,
    },
}

type ToolsByName = IndexMap<Arc<str>, Arc<RegisteredTool>>;

/// Tools by name, in the order in which they were registered.
#[derive(Default)]
pub struct Catalogue {
    tools: ToolsByName,
    /// Tools that are added while sessions are open.
    late: Vec<Arc<OnceLock<ToolsByName>>>,
    /// The names that late tools have taken.
    late_names: Arc<Mutex<Vec<Arc<str>>>>,
    /// The number of late tools that are still missing.
    awaited: watch::Sender<usize>,
    /// Increases whenever the offered tools change.
    changes: watch::Sender<u64>,
    announcer: Announcer,
    unavailable: IndexMap<String, String>,
    /// The catalogue that has replaced this one.
    successor: OnceLock<Arc<Catalogue>>,
    /// Another catalogue may replace this one.
    may_be_replaced: bool,
    /// The catalogue below this layer. It has no layers itself.
    base: Option<Arc<Catalogue>>,
}

impl Catalogue {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool that an executor runs.
    pub fn register(
        &mut self,
        definition: ToolDefinition,
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegisterError> {
        self.add(definition, Runs::Executor(executor))
    }

    /// Adds a tool of the runtime's own.
    pub fn register_builtin(
        &mut self,
        definition: ToolDefinition,
        builtin: Arc<dyn BuiltinTool>,
    ) -> Result<(), RegisterError> {
        self.add(definition, Runs::Builtin(builtin))
    }

    /// The tools with matching names. They are shared, not copied.
    pub fn subset(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let tools = self.all().filter(|tool| wanted(&tool.name));
        Self {
            tools: tools
                .map(|tool| (Arc::clone(&tool.name), Arc::clone(tool)))
                .collect(),
            announcer: self.announcer.clone(),
            unavailable: self
                .layers()
                .flat_map(|layer| layer.unavailable.clone())
                .collect(),
            ..Self::default()
        }
    }

    /// An empty catalogue that can replace this one. Its late tools are
    /// announced to the watchers of this one.
    pub fn successor(&self) -> Self {
        Self {
            awaited: self.awaited.clone(),
            changes: self.changes.clone(),
            announcer: self.announcer.clone(),
            ..Self::default()
        }
    }

    /// An empty layer over `base` that also offers its tools, now and later.
    /// Tools [appended](Self::append) to the layer are offered nowhere else.
    fn over(base: &Arc<Self>) -> Self {
        Self {
            base: Some(Arc::clone(base)),
            ..base.successor()
        }
    }

    /// Adds a tool to a catalogue in use. Calls in progress are not affected.
    pub fn append(
        &self,
        definition: ToolDefinition,
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegisterError> {
        let tool = Arc::new(registered(definition, Runs::Executor(executor))?);
        loop {
            if self.get(&tool.name).is_some() {
                return Err(RegisterError::Twice(tool.definition.name.clone()));
            }
            let now = self.now();
            let mut tools = now.tools.clone();
            tools.insert(Arc::clone(&tool.name), Arc::clone(&tool));
            let successor = Self {
                tools,
                late: now.late.clone(),
                late_names: Arc::clone(&now.late_names),
                unavailable: now.unavailable.clone(),
                may_be_replaced: now.may_be_replaced,
                base: now.base.clone(),
                ..now.successor()
            };
            // Another thread may have appended one meanwhile.
            if now.replace(&Arc::new(successor)) {
                return Ok(());
            }
        }
    }

    /// Allows another catalogue to replace this one.
    pub fn expect_replacement(&mut self) {
        self.may_be_replaced = true;
    }

    fn replace(&self, successor: &Arc<Self>) -> bool {
        let replaced = self.successor.set(Arc::clone(successor)).is_ok();
        self.changes.send_modify(|number| *number += 1);
        replaced
    }

    /// Adds a tool of another catalogue. It is shared, not copied.
    pub fn share(&mut self, tool: &Arc<RegisteredTool>) {
        self.tools.insert(Arc::clone(&tool.name), Arc::clone(tool));
    }

    /// The current catalogue.
    fn now(&self) -> &Self {
        self.successor
            .get()
            .map_or(self, |successor| successor.now())
    }

    /// Whether the offered tools may change later.
    pub fn may_change(&self) -> bool {
        let replaced = self.base.as_ref().is_some_and(|base| base.may_be_replaced);
        replaced || self.may_be_replaced || *self.awaited.borrow() > 0
    }

    /// Changes whenever the offered tools change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Records why a tool is missing. It is not offered, and calls are refused
    /// with that reason. A registered tool of the same name takes precedence.
    pub fn set_unavailable(&mut self, name: impl Into<String>, why: impl Into<String>) {
        self.unavailable.insert(name.into(), why.into());
    }

    /// The reason why a tool is missing, if known.
    pub fn unavailable(&self, name: &str) -> Option<&str> {
        let mut layers = self.layers();
        layers.find_map(|layer| layer.unavailable.get(name).map(String::as_str))
    }

    /// The refusal for a call of a missing tool.
    pub(crate) fn missing(&self, name: &str) -> Refusal {
        match self.unavailable(name) {
            Some(why) => Refusal::Unavailable {
                name: name.to_owned(),
                why: why.to_owned(),
            },
            None => Refusal::UnknownTool {
                name: name.chars().take(64).collect(),
                tools: self
                    .offered()
                    .map(|tool| tool.definition.name.clone())
                    .collect(),
            },
        }
    }

    /// A slot for tools that are not known yet, such as those of a server that
    /// starts slowly. Tools whose names are taken by then are refused.
    pub fn late(&mut self) -> LateTools {
        let place = Arc::default();
        self.late.push(Arc::clone(&place));
        self.awaited.send_modify(|awaited| *awaited += 1);
        LateTools {
            place,
            taken: self.tools.keys().cloned().collect(),
            late_names: Arc::clone(&self.late_names),
            awaited: self.awaited.clone(),
            changes: self.changes.clone(),
        }
    }

    /// The number of empty slots for late tools. Changes when a slot is filled
    /// or given up.
    pub fn awaited(&self) -> watch::Receiver<usize> {
        self.awaited.subscribe()
    }

    fn add(&mut self, definition: ToolDefinition, runs: Runs) -> Result<(), RegisterError> {
        let tool = registered(definition, runs)?;
        if self.tools.contains_key(&tool.name) {
            return Err(RegisterError::Twice(tool.definition.name.clone()));
        }
        self.tools.insert(Arc::clone(&tool.name), Arc::new(tool));
        Ok(())
    }

    /// Sends notices to every session that these tools are offered to.
    pub fn announcer(&self) -> &Announcer {
        &self.announcer
    }

    /// The tool with this name, whether or not it is offered.
    pub fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.layers().find_map(|layer| {
            let late = || layer.come().find_map(|tools| tools.get(name));
            layer.tools.get(name).or_else(late)
        })
    }

    /// Every tool.
    pub fn all(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.layers().flat_map(|layer| {
            let late = layer.come().flat_map(IndexMap::values);
            layer.tools.values().chain(late)
        })
    }

    /// The current layers, the base first.
    fn layers(&self) -> impl Iterator<Item = &Self> {
        let now = self.now();
        let base = now.base.as_ref().map(|base| base.now());
        base.into_iter().chain([now])
    }

    fn come(&self) -> impl Iterator<Item = &ToolsByName> {
        self.late.iter().filter_map(|place| place.get())
    }

    /// The tools that an assistant sees: a builtin only if it is applicable.
    pub fn offered(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.all().filter(|tool| match &tool.runs {
            Runs::Executor(_) => true,
            Runs::Builtin(builtin) => builtin.is_offered(self),
        })
    }
}

/// A slot for tools that are added later. Dropping it gives the slot up.
pub struct LateTools {
    place: Arc<OnceLock<ToolsByName>>,
    taken: Vec<Arc<str>>,
    late_names: Arc<Mutex<Vec<Arc<str>>>>,
    awaited: watch::Sender<usize>,
    changes: watch::Sender<u64>,
}

impl LateTools {
    /// Offers the tools from now on, in every session. Returns those that
    /// cannot be offered.
    pub fn fill(
        self,
        tools: impl IntoIterator<Item = (ToolDefinition, Arc<dyn Executor>)>,
    ) -> Vec<(String, RegisterError)> {
        let mut come = ToolsByName::new();
        let mut refused = Vec::new();
        let mut late_names = self.late_names.lock();
        for (definition, executor) in tools {
            let name = definition.name.clone();
            match registered(definition, Runs::Executor(executor)) {
                Ok(tool) if self.taken.contains(&tool.name) || late_names.contains(&tool.name) => {
                    refused.push((name.clone(), RegisterError::Twice(name)));
                }
                Ok(tool) => {
                    late_names.push(Arc::clone(&tool.name));
                    come.insert(Arc::clone(&tool.name), Arc::new(tool));
                }
                Err(error) => refused.push((name, error)),
            }
        }
        drop(late_names);
        // No other thread can use this slot.
        let _ = self.place.set(come);
        refused
    }
}

impl Drop for LateTools {
    fn drop(&mut self) {
        self.awaited.send_modify(|awaited| *awaited -= 1);
        self.changes.send_modify(|number| *number += 1);
    }
}

fn registered(mut definition: ToolDefinition, runs: Runs) -> Result<RegisteredTool, RegisterError> {
    // The argument is offered where it means something.
    definition.shape.keep = definition.lifecycle.may_keep()
        && definition.shape.actions.contains(HandleAction::Spawn)
        && matches!(&runs, Runs::Executor(executor) if executor.keeps());
    let name: Arc<str> = definition.name.as_str().into();
    check_name(&name)?;
    check_reserved(&definition)?;
    definition.shape.lines = definition.is_digested();
    let schema = definition.shape.parameters.to_object_schema();
    let validator =
        jsonschema::validator_for(&schema).map_err(|error| RegisterError::BadSchema {
            tool: definition.name.clone(),
            problem: error.to_string(),
        })?;
    Ok(RegisteredTool {
        name,
        definition: Arc::new(definition),
        runs,
        validator,
    })
}

fn check_name(name: &str) -> Result<(), RegisterError> {
    let mut bytes = name.bytes();
    let fits = name.len() <= 48
        && bytes
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if fits {
        Ok(())
    } else {
        Err(RegisterError::BadName(name.to_owned()))
    }
}

fn check_reserved(definition: &ToolDefinition) -> Result<(), RegisterError> {
    let shape = &definition.shape;
    let keep = shape.keep.then_some(ToolShape::KEEP);
    let taken = ToolShape::RESERVED
        .into_iter()
        .chain(keep)
        .find(|name| shape.parameters.properties.contains_key(*name));
    match taken {
        Some(parameter) if !shape.actions.is_empty() => Err(RegisterError::Reserved {
            tool: definition.name.clone(),
            parameter: parameter.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The tools, ready for sessions. Cloning is cheap.
#[derive(Clone)]
pub struct Runtime {
    catalogue: Arc<Catalogue>,
    sessions: Arc<Sessions>,
}

impl Runtime {
    /// A runtime that offers these tools.
    pub fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue: Arc::new(catalogue),
            sessions: Arc::default(),
        }
    }

    /// The tools.
    pub fn tools(&self) -> &Catalogue {
        &self.catalogue
    }

    /// A runtime that offers these tools instead. Both share their sessions.
    pub fn offering(&self, catalogue: Catalogue) -> Self {
        Self {
            catalogue: Arc::new(catalogue),
            sessions: Arc::clone(&self.sessions),
        }
    }

    /// A runtime that offers the same tools, now and later, and to which
    /// further tools can be [appended](Catalogue::append). Both share their
    /// sessions.
    pub fn layered(&self) -> Self {
        self.offering(Catalogue::over(&self.catalogue))
    }

    /// Replaces the tools in every session of this runtime with those of
    /// another; calls in progress are not affected. Works once: later calls
    /// return false. The other catalogue must be a
    /// [`successor`](Catalogue::successor) of this one's.
    pub fn replace_tools(&self, other: &Self) -> bool {
        self.catalogue.replace(&other.catalogue)
    }

    /// The open sessions.
    pub fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// Begins a session. [`Session::close`] or dropping it ends the session and
    /// its handles.
    pub fn session(&self, options: SessionOptions) -> Session {
        Session::new(Arc::clone(&self.catalogue), &self.sessions, options)
    }
}
