//! Reads a batch before anything runs.
//!
//! [`plan`] parses the raw JSON once; a parse error becomes the call's own
//! refusal. [`in_lanes`] determines which calls wait for each other.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_protocol::{
    Arguments, Ending, HandleAction, HandleId, ParseError, Request, ToolCall, ToolCommand, parse,
};

use crate::arguments::without_nulls;
use crate::builtin::BuiltinTool;
use crate::catalogue::{RegisteredTool, Runs};
use crate::handle::Handle;
use crate::refusal::Refusal;
use crate::session::Session;

/// A parsed call.
pub(crate) struct Planned {
    pub(crate) id: Arc<str>,
    pub(crate) tool: Arc<str>,
    pub(crate) work: Result<PlannedWork, Refusal>,
    /// The original arguments, for the record.
    pub(crate) input: Arc<Arguments>,
}

/// The operation of a call.
pub(crate) enum PlannedWork {
    Builtin {
        tool: Arc<RegisteredTool>,
        builtin: Arc<dyn BuiltinTool>,
        args: Arguments,
    },
    OneShot {
        tool: Arc<RegisteredTool>,
        args: Arguments,
    },
    Handle {
        tool: Arc<RegisteredTool>,
        command: ToolCommand,
        /// A spawn's own handle, once its id is reserved.
        reserved: Option<Reservation>,
        /// The handle that had the id when the batch was reserved: the target
        /// of calls before a spawn of the same id, and the one that the spawn
        /// replaces.
        before: Option<Arc<Handle>>,
    },
}

impl PlannedWork {
    /// Whether it starts a tool or sends input to one.
    pub(crate) fn starts_or_types(&self) -> bool {
        match self {
            Self::Builtin { .. } => false,
            Self::OneShot { .. } => true,
            Self::Handle { command, .. } => matches!(
                command,
                ToolCommand::Spawn { .. } | ToolCommand::Apply { .. }
            ),
        }
    }
}

/// Guard: a reserved id. Dropping it before the tool runs stops the handle.
pub(crate) struct Reservation(pub(crate) Arc<Handle>);

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0
            .never_started(Ending::failed("cancelled before it started"));
    }
}

/// Parses a call. Raw JSON is not examined after this.
pub(crate) fn plan(session: &Session, call: ToolCall) -> Planned {
    let inner = &session.inner;
    let input = Arc::new(call.arguments.clone());
    let known = inner.catalogue.get(&call.tool);
    let tool = known.map_or_else(|| call.tool.as_str().into(), |tool| Arc::clone(&tool.name));
    let work = read(session, &call.tool, call.arguments);
    Planned {
        id: call.id.into(),
        tool,
        work,
        input,
    }
}

fn read(session: &Session, name: &str, arguments: Arguments) -> Result<PlannedWork, Refusal> {
    let inner = &session.inner;
    let Some(tool) = inner.catalogue.get(name) else {
        return Err(inner.catalogue.missing(name));
    };
    let arguments = match tool.runs {
        Runs::Builtin(_) => without_nulls(arguments),
        Runs::Executor(_) => arguments,
    };
    let mut request = parse(&tool.definition.shape, arguments).map_err(|error| {
        let lost = matches!(error, ParseError::MissingId(action) if action != HandleAction::Spawn);
        Refusal::Unreadable {
            handles: if lost { session.handles() } else { Vec::new() },
            error,
        }
    })?;
    let tool = Arc::clone(tool);
    if let Request::OneShot { args } | Request::Handle(ToolCommand::Spawn { args, .. }) =
        &mut request
    {
        let given = std::mem::take(args);
        *args = tool.validate(given)?;
    }
    Ok(match request {
        Request::OneShot { args } => match &tool.runs {
            Runs::Builtin(builtin) => PlannedWork::Builtin {
                builtin: Arc::clone(builtin),
                tool: Arc::clone(&tool),
                args,
            },
            Runs::Executor(_) => PlannedWork::OneShot { tool, args },
        },
        Request::Handle(command) => PlannedWork::Handle {
            tool,
            command,
            reserved: None,
            before: None,
        },
    })
}

/// Groups calls on one handle into a lane; every other call has its own. Calls
/// keep their index in the batch. Lanes are ordered by their first call, so
/// that an `await` sees the calls before it.
pub(crate) fn in_lanes(planned: Vec<Planned>) -> Vec<Vec<(usize, Planned)>> {
    let mut lanes: Vec<Vec<(usize, Planned)>> = Vec::new();
    let mut by_handle: HashMap<HandleId, usize> = HashMap::new();
    for (place, call) in planned.into_iter().enumerate() {
        let lane = match &call.work {
            Ok(PlannedWork::Handle { command, .. }) => {
                *by_handle.entry(command.id().clone()).or_insert(lanes.len())
            }
            _ => lanes.len(),
        };
        match lanes.get_mut(lane) {
            Some(lane) => lane.push((place, call)),
            None => lanes.push(vec![(place, call)]),
        }
    }
    lanes
}
