//! The commands that an assistant gives to a tool, and the parser for their
//! arguments.
//!
//! Start at [`parse`]: it reads raw arguments once and returns a [`Request`].
//! It checks the parts common to all tools: the action, the id, and required
//! parameters. Values are validated against the parameter's schema where the
//! schema is compiled.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::defaults::fill_defaults;
use crate::misspelt::{find_misspelt, find_misspelt_id};
use crate::null::null_as_default;
use crate::{Arguments, HandleId, InvalidHandleId, LineRange, Parameters};

/// An action on a handle.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HandleAction {
    /// Start a tool under an id.
    Spawn,
    /// Read new output.
    Fetch,
    /// Send input, or answer the open question.
    Apply,
    /// End it, tree and all.
    Abort,
}

impl HandleAction {
    /// All actions, in display order.
    pub const ALL: [Self; 4] = [Self::Spawn, Self::Fetch, Self::Apply, Self::Abort];

    /// The action's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Fetch => "fetch",
            Self::Apply => "apply",
            Self::Abort => "abort",
        }
    }

    /// The action of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

impl fmt::Display for HandleAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The actions that a tool declares; none for a one-shot tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ActionSet(u8);

impl ActionSet {
    /// No action: the tool is one-shot only.
    pub const NONE: Self = Self(0);

    /// Every action.
    pub fn all() -> Self {
        HandleAction::ALL.into_iter().collect()
    }

    /// The tool declares this action.
    pub fn contains(self, action: HandleAction) -> bool {
        self.0 & (1 << action as u8) != 0
    }

    /// The tool declares nothing.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The declared actions in their usual order.
    pub fn iter(self) -> impl Iterator<Item = HandleAction> {
        HandleAction::ALL
            .into_iter()
            .filter(move |action| self.contains(*action))
    }
}

impl FromIterator<HandleAction> for ActionSet {
    fn from_iter<I: IntoIterator<Item = HandleAction>>(actions: I) -> Self {
        Self(
            actions
                .into_iter()
                .fold(0, |set, action| set | 1 << action as u8),
        )
    }
}

/// A tool's interface: enough to write its schema and to read a call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says whether the schema offers one thing"
)]
pub struct ToolShape {
    /// The parameters of a one-shot or a spawn.
    pub parameters: Parameters,
    /// The actions on its handles.
    pub actions: ActionSet,
    /// The schema offers the call without `action` too. Such a call is accepted
    /// in any case.
    pub one_shot: bool,
    /// The schema offers `enter` and `keys` for `apply`, and `view` for
    /// `fetch`. They are accepted in any case.
    pub typing: bool,
    /// The schema offers `lines` for `fetch`. They are accepted in any case,
    /// unless the tool has a parameter of that name.
    #[serde(default)]
    pub lines: bool,
    /// A spawn accepts `keep`: whether the handle outlives its runtime.
    #[serde(default)]
    pub keep: bool,
}

impl ToolShape {
    /// Reserved names: a tool with actions cannot have parameters called like
    /// this.
    pub const RESERVED: [&str; 6] = ["action", "id", "input", "view", "keys", "enter"];
    /// Also reserved in a tool whose spawns accept it.
    pub const KEEP: &str = "keep";

    /// Whether lines of its output can be fetched by number.
    pub fn can_fetch_lines(&self) -> bool {
        self.actions.contains(HandleAction::Fetch)
            && !self.parameters.properties.contains_key(LINES)
    }
}

/// The field of `fetch` that names lines.
const LINES: &str = "lines";

/// The part of a handle's output that a `fetch` returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Output since the last read.
    #[default]
    New,
    /// The current screen; for a tool without a screen, the whole output.
    Screen,
    /// The whole output.
    All,
}

/// The input of an `apply`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Typing {
    /// Text to type, or the answer to the open question. Any other value is
    /// written as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Whether the input is submitted with Enter.
    #[serde(
        default = "yes",
        deserialize_with = "null_as_yes",
        skip_serializing_if = "Clone::clone"
    )]
    pub enter: bool,
    /// Keys to press after the input, by name.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub keys: Vec<String>,
}

fn yes() -> bool {
    true
}

fn null_as_yes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(yes))
}

impl Typing {
    /// This input, submitted with Enter.
    pub fn input(input: impl Into<Value>) -> Self {
        Self {
            input: Some(input.into()),
            enter: true,
            keys: Vec::new(),
        }
    }
}

/// One action on one handle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ToolCommand {
    /// Start the tool under an id of the assistant's choice.
    Spawn {
        /// The new handle.
        id: HandleId,
        /// Whether the handle outlives its runtime, if the tool offers that
        /// choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<bool>,
        /// The tool's arguments.
        #[serde(flatten)]
        args: Arguments,
    },
    /// Read new output.
    Fetch {
        /// The handle.
        id: HandleId,
        /// The part of its output.
        #[serde(default)]
        view: View,
        /// Lines by number, instead of a view. They are returned verbatim.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<LineRange>,
    },
    /// Send input, or answer the open question.
    Apply {
        /// The handle.
        id: HandleId,
        /// The input.
        #[serde(flatten)]
        typing: Typing,
    },
    /// End the tool.
    Abort {
        /// The handle.
        id: HandleId,
    },
}

impl ToolCommand {
    /// The handle it is for.
    pub fn id(&self) -> &HandleId {
        match self {
            Self::Spawn { id, .. }
            | Self::Fetch { id, .. }
            | Self::Apply { id, .. }
            | Self::Abort { id } => id,
        }
    }

    /// The command's action.
    pub fn action(&self) -> HandleAction {
        match self {
            Self::Spawn { .. } => HandleAction::Spawn,
            Self::Fetch { .. } => HandleAction::Fetch,
            Self::Apply { .. } => HandleAction::Apply,
            Self::Abort { .. } => HandleAction::Abort,
        }
    }
}

/// A call, read.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Run the tool once and answer with its result.
    OneShot {
        /// The tool's arguments.
        args: Arguments,
    },
    /// Act on a handle.
    Handle(ToolCommand),
}

/// Arguments that cannot be read. Each message says what would work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// `action` is not a string, or no action has that name.
    #[error("`{got}` is not an action of this tool; it has {}", list(.declared))]
    UnknownAction {
        /// The given action.
        got: String,
        /// The actions that the tool declares.
        declared: Vec<HandleAction>,
    },
    /// The tool has no actions at all.
    #[error("this tool has no actions; call it without `action`")]
    NoActions,
    /// No `id` was given.
    #[error("action `{0}` needs an `id`")]
    MissingId(HandleAction),
    /// `id` is not a string.
    #[error("`id` must be a string")]
    IdNotString,
    /// The id has the wrong characters or length.
    #[error(transparent)]
    InvalidId(#[from] InvalidHandleId),
    /// A required parameter was not given.
    #[error("missing `{name}`{}", needed_by(*.action))]
    MissingParameter {
        /// The parameter.
        name: String,
        /// The action that needs it, if there was one.
        action: Option<HandleAction>,
    },
    /// There is no parameter of that name.
    #[error("unknown argument `{name}`; {}", takes(.known))]
    UnknownParameter {
        /// The given name.
        name: String,
        /// The tool's parameters.
        known: Vec<String>,
    },
    /// There is no parameter of that name, but one that is spelt like it was not given.
    #[error("unknown argument `{name}`; did you mean `{meant}`?")]
    Misspelt {
        /// The name that was given.
        name: String,
        /// The name that was probably meant.
        meant: String,
    },
    /// The action has no field of that name.
    #[error("action `{action}` does not take `{name}`; it takes {}", taken_by(*.action).join(", "))]
    NotTaken {
        /// The field that was given.
        name: String,
        /// The action.
        action: HandleAction,
    },
    /// `apply` came with nothing to send.
    #[error("action `apply` needs `input`{}", if *.typing { " or `keys`" } else { "" })]
    MissingInput {
        /// `keys` would be accepted instead.
        typing: bool,
    },
    /// A field of an action has the wrong type.
    #[error("`{field}` must be {expected}")]
    WrongType {
        /// The field.
        field: &'static str,
        /// The expected type.
        expected: &'static str,
    },
}

fn list(declared: &[HandleAction]) -> String {
    declared
        .iter()
        .map(|action| action.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn needed_by(action: Option<HandleAction>) -> String {
    action.map_or_else(String::new, |action| {
        format!(", which action `{action}` needs")
    })
}

/// The fields that an action accepts beside `action`. A spawn also accepts the
/// tool's own parameters.
fn taken_by(action: HandleAction) -> &'static [&'static str] {
    match action {
        HandleAction::Spawn | HandleAction::Abort => &["id"],
        HandleAction::Fetch => &["id", "view", LINES],
        HandleAction::Apply => &["id", "input", "enter", "keys"],
    }
}

fn takes(known: &[String]) -> String {
    if known.is_empty() {
        "this tool takes none".to_owned()
    } else {
        format!("this tool takes {}", known.join(", "))
    }
}

/// The `action` of a call that runs once, for callers that cannot leave
/// `action` out.
pub const RUN: &str = "run";

/// Reads the arguments of a call.
///
/// A `null` counts as absent unless the parameter's schema admits null, since
/// strict schemas make every property required and nullable. A neutral value
/// (`""`, `[]`, a default) of a parameter that the action does not take counts
/// as absent too, and so does a `0` where an optional number must be more:
/// converters that know no null must fill every property. For the same reason
/// [`RUN`] and `""` are as good as no `action`.
pub fn parse(shape: &ToolShape, mut arguments: Arguments) -> Result<Request, ParseError> {
    if shape.actions.is_empty() {
        let named = shape.parameters.properties.contains_key("action");
        let given = arguments
            .get("action")
            .is_some_and(|action| !action.is_null());
        if given && !named && !shape.parameters.additional {
            return Err(ParseError::NoActions);
        }
    } else if let Some(action) = arguments.shift_remove("action")
        && !(action.is_null() || action == "" || action == RUN)
    {
        return handle_command(shape, &action, arguments);
    }
    drop_neutral(shape, &mut arguments);
    // A one-shot is never kept, and a caller that must fill every property may say so.
    if shape.keep && arguments.get(ToolShape::KEEP) == Some(&Value::Bool(false)) {
        arguments.shift_remove(ToolShape::KEEP);
    }
    let own: &[&str] = if shape.actions.is_empty() {
        &[]
    } else {
        &["action"]
    };
    find_misspelt(&shape.parameters, own, &arguments)?;
    let args = check_parameters(&shape.parameters, arguments, None)?;
    Ok(Request::OneShot { args })
}

fn handle_command(
    shape: &ToolShape,
    action: &Value,
    mut arguments: Arguments,
) -> Result<Request, ParseError> {
    let declared = action
        .as_str()
        .and_then(HandleAction::from_name)
        .filter(|action| shape.actions.contains(*action));
    let Some(action) = declared else {
        return Err(ParseError::UnknownAction {
            got: action
                .as_str()
                .map_or_else(|| action.to_string(), str::to_owned),
            declared: shape.actions.iter().collect(),
        });
    };
    let id = match arguments.shift_remove("id") {
        None | Some(Value::Null) => {
            find_misspelt_id(&shape.parameters, &arguments)?;
            return Err(ParseError::MissingId(action));
        }
        Some(Value::String(id)) => HandleId::new(&id)?,
        Some(_) => return Err(ParseError::IdNotString),
    };
    if action != HandleAction::Spawn {
        check_fields(shape, action, &arguments)?;
    }
    Ok(Request::Handle(match action {
        HandleAction::Spawn => {
            drop_neutral(shape, &mut arguments);
            let own: &[&str] = if shape.keep { &[ToolShape::KEEP] } else { &[] };
            find_misspelt(&shape.parameters, own, &arguments)?;
            let keep = read_keep(shape, &mut arguments)?;
            let args = check_parameters(&shape.parameters, arguments, Some(action))?;
            ToolCommand::Spawn { id, keep, args }
        }
        HandleAction::Fetch => ToolCommand::Fetch {
            id,
            view: read_view(&arguments)?,
            lines: read_lines(shape, &arguments)?,
        },
        HandleAction::Apply => ToolCommand::Apply {
            id,
            typing: read_typing(shape, arguments)?,
        },
        HandleAction::Abort => ToolCommand::Abort { id },
    }))
}

/// Rejects a field that an action on a running handle does not have. The tool's
/// own parameters are ignored: some clients must fill every property, and not
/// every property has a neutral value.
fn check_fields(
    shape: &ToolShape,
    action: HandleAction,
    arguments: &Arguments,
) -> Result<(), ParseError> {
    let stray = arguments.iter().find(|(name, value)| {
        let is_keep = shape.keep && name.as_str() == ToolShape::KEEP;
        !is_keep
            && !taken_by(action).contains(&name.as_str())
            && !shape.parameters.properties.contains_key(name.as_str())
            && !is_neutral(name, value)
    });
    stray.map_or(Ok(()), |(name, _)| {
        Err(ParseError::NotTaken {
            name: name.clone(),
            action,
        })
    })
}

/// Drops neutral values of the parameters that only other actions take.
fn drop_neutral(shape: &ToolShape, arguments: &mut Arguments) {
    if shape.actions.is_empty() {
        return;
    }
    arguments.retain(|name, value| {
        let is_foreign = (ToolShape::RESERVED.contains(&name.as_str()) || name == LINES)
            && !shape.parameters.properties.contains_key(name);
        !(is_foreign && is_neutral(name, value))
    });
}

/// The value has no effect: it is empty, or equal to the default.
fn is_neutral(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty() || name == "view" && text == "new",
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(flag) => name == "enter" || !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
    }
}

/// Drops nulls that mean "absent", adds defaults, and rejects missing and
/// unknown parameters.
fn check_parameters(
    parameters: &Parameters,
    mut arguments: Arguments,
    action: Option<HandleAction>,
) -> Result<Arguments, ParseError> {
    arguments.retain(|name, value| match parameters.properties.get(name) {
        Some(schema) if value.is_null() => admits_null(schema),
        Some(schema) if !parameters.required.contains(name) => !is_forbidden_zero(schema, value),
        Some(_) => true,
        None => !value.is_null(),
    });
    fill_defaults(parameters, &mut arguments);
    if let Some(name) = parameters
        .required
        .iter()
        .find(|name| !arguments.contains_key(name.as_str()))
    {
        return Err(ParseError::MissingParameter {
            name: name.clone(),
            action,
        });
    }
    let unknown = arguments
        .keys()
        .find(|name| !parameters.properties.contains_key(name.as_str()));
    match unknown {
        Some(name) if !parameters.additional => Err(ParseError::UnknownParameter {
            name: name.clone(),
            known: parameters.properties.keys().cloned().collect(),
        }),
        _ => Ok(arguments),
    }
}

/// The value is 0, which the schema's minimum forbids.
fn is_forbidden_zero(schema: &Value, value: &Value) -> bool {
    let is_zero = value.as_f64() == Some(0.0);
    is_zero && schema["minimum"].as_f64().is_some_and(|least| least > 0.0)
}

pub(crate) fn admits_null(schema: &Value) -> bool {
    let holds_null = |list: &Value| {
        list.as_array()
            .is_some_and(|list| list.contains(&Value::Null))
    };
    let some_admits = |list: &Value| {
        list.as_array()
            .is_some_and(|list| list.iter().any(admits_null))
    };
    match &schema["type"] {
        Value::String(kind) => kind == "null",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
        _ => {
            holds_null(&schema["enum"])
                || some_admits(&schema["anyOf"])
                || some_admits(&schema["oneOf"])
        }
    }
}

fn read_keep(shape: &ToolShape, arguments: &mut Arguments) -> Result<Option<bool>, ParseError> {
    if !shape.keep {
        return Ok(None);
    }
    match arguments.shift_remove(ToolShape::KEEP) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(keep)) => Ok(Some(keep)),
        Some(_) => Err(ParseError::WrongType {
            field: ToolShape::KEEP,
            expected: "true or false",
        }),
    }
}

fn read_view(arguments: &Arguments) -> Result<View, ParseError> {
    match arguments.get("view") {
        Some(view) if !view.is_null() && view != "" => {
            View::deserialize(view).map_err(|_| ParseError::WrongType {
                field: "view",
                expected: "\"new\", \"screen\" or \"all\"",
            })
        }
        _ => Ok(View::New),
    }
}

fn read_lines(shape: &ToolShape, arguments: &Arguments) -> Result<Option<LineRange>, ParseError> {
    match arguments.get(LINES) {
        Some(lines) if shape.can_fetch_lines() && !is_neutral(LINES, lines) => {
            let lines = LineRange::deserialize(lines).map_err(|_| ParseError::WrongType {
                field: LINES,
                expected: "a range of line numbers, such as \"4-98\"",
            })?;
            Ok(Some(lines))
        }
        _ => Ok(None),
    }
}

fn read_typing(shape: &ToolShape, mut arguments: Arguments) -> Result<Typing, ParseError> {
    let input = arguments
        .shift_remove("input")
        .filter(|input| !input.is_null());
    let mut typing = Typing {
        input,
        enter: true,
        keys: Vec::new(),
    };
    match arguments.get("enter") {
        None | Some(Value::Null) => {}
        Some(Value::Bool(enter)) => typing.enter = *enter,
        Some(_) => {
            return Err(ParseError::WrongType {
                field: "enter",
                expected: "true or false",
            });
        }
    }
    if let Some(keys) = arguments
        .shift_remove("keys")
        .filter(|keys| !keys.is_null())
    {
        typing.keys = Vec::deserialize(keys).map_err(|_| ParseError::WrongType {
            field: "keys",
            expected: "a list of key names, such as [\"ctrl-c\"]",
        })?;
    }
    // Keys that come with an empty input are pressed alone. Enter would be a
    // key of its own there.
    if !typing.keys.is_empty() && typing.input.as_ref().is_some_and(|input| input == "") {
        typing.input = None;
    }
    if typing.input.is_none() && typing.keys.is_empty() {
        return Err(ParseError::MissingInput {
            typing: shape.typing,
        });
    }
    Ok(typing)
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
