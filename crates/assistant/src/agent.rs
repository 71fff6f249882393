//! The tool `agent`: another assistant with a task, in a session of its own.
//!
//! Start at [`Agents`], which is how the tool runs. `job.rs` is one agent,
//! `log.rs` what can be read of it, and `ask.rs` the tool by which it asks
//! whoever started it. Its tools ask the user among the requests of the session
//! that started it. An agent is a handle like any other: it runs until its turn
//! is over, and its last word is the result.

mod ask;
mod job;
mod log;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use windlass_protocol::{
    ActionSet, Arguments, HandleId, Parameters, SessionId, ToolError, ToolShape,
};
use windlass_runtime::output::OutputOptions;
use windlass_runtime::{
    AdoptError, Catalogue, Conversations, Executor, Job, JobDescription, OnBehalf, QuestionPolicy,
    QuestionTarget, Reporter, Runtime, Session, SessionOptions, Start, Subject, ToolDefinition,
};

use self::ask::Ask;
use self::job::{AgentJob, Shared};
use crate::conversation::Conversation;
use crate::inquiry::ModelInquirer;
use crate::model::{Effort, Model};
use crate::prompt::system_prompt;
use crate::provider::OpenError;
use crate::turn::Assistant;

/// What an agent is told beside the usual.
const OF_AN_AGENT: &str = "\n\n## You are an agent\n\nAnother assistant has given you the task that \
    follows. It sees your last message and nothing else, so put into it everything that was asked \
    for.";
const HOW_TO_ASK: &str = " What only that assistant can tell you, ask it with `ask`.";

/// How many agents there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentLimits {
    /// How deep: at 1, an agent may not start agents of its own.
    pub depth: usize,
    /// How many at once, in all.
    pub active: usize,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            depth: 2,
            active: 8,
        }
    }
}

/// What agents are made of. A front end knows it, the tool does not.
#[async_trait]
pub trait AgentSource: Send + Sync {
    /// Where the tools are.
    fn runtime(&self) -> &Runtime;

    /// Opens a model by its name, or the usual one. The error says what would
    /// work.
    async fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, OpenError>;

    /// Begins a session that offers the tools of this runtime.
    fn session(&self, runtime: &Runtime, options: SessionOptions) -> Session;

    /// Where conversations are kept, if they are.
    fn conversations(&self) -> Option<Arc<dyn Conversations>>;

    /// What the user wants every assistant told first.
    fn system_prompt(&self) -> Option<&str>;

    /// How much an assistant may say at once, in tokens.
    fn max_tokens(&self) -> Option<u32>;

    /// How hard it should think.
    fn effort(&self) -> Option<Effort>;
}

/// Starts agents. It is registered before there is a runtime, and connected
/// when there is.
pub struct Agents {
    limits: AgentLimits,
    source: OnceLock<Weak<dyn AgentSource>>,
    active: Arc<Active>,
}

/// The sessions of the agents that are at work, and how deep each is.
type Active = Mutex<HashMap<SessionId, usize>>;

/// An agent's place among those that are at work.
struct Place {
    active: Arc<Active>,
    session: SessionId,
    depth: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.active.lock().remove(&self.session);
    }
}

impl Agents {
    /// The name the tool is called by.
    pub const NAME: &str = "agent";

    /// Starts no more than these.
    pub fn new(limits: AgentLimits) -> Self {
        Self {
            limits,
            source: OnceLock::new(),
            active: Arc::default(),
        }
    }

    /// Says what agents are made of. Only the first time counts. Whoever
    /// connects keeps it alive as long as agents may be started.
    pub fn connect(&self, source: &Arc<dyn AgentSource>) {
        let _ = self.source.set(Arc::downgrade(source));
    }

    /// How it is registered.
    pub fn definition() -> ToolDefinition {
        let properties = [
            ("task", json!({"type": "string"})),
            (
                "model",
                json!({"type": "string", "description": "provider/name; the usual one by default"}),
            ),
            (
                "tools",
                json!({
                    "type": "array", "items": {"type": "string"},
                    "description": "Those it may use; all of yours by default"
                }),
            ),
        ];
        let asks = QuestionPolicy {
            target: QuestionTarget::Caller,
            answer: None,
        };
        ToolDefinition {
            summary: Some(
                "Give a task to another assistant, with a context of its own. It knows only what \
                 the task says, and its last word is the result."
                    .to_owned(),
            ),
            shape: ToolShape {
                parameters: Parameters::exactly(properties, &["task"]),
                actions: ActionSet::all(),
                one_shot: true,
                typing: false,
                lines: false,
                keep: false,
            },
            questions: HashMap::from([(Ask::QUESTION.to_owned(), asks)]),
            ..ToolDefinition::new(Self::NAME)
        }
    }

    /// Takes a place for an agent that this session starts.
    fn place(&self, parent: &SessionId, session: &SessionId) -> Result<Place, ToolError> {
        let AgentLimits {
            depth: deepest,
            active: most,
        } = self.limits;
        let mut active = self.active.lock();
        let depth = active.get(parent).map_or(1, |depth| depth + 1);
        if depth > deepest {
            return Err(ToolError::new(format!(
                "agents may be {deepest} deep (`max_depth` of [assistant.agents]); do it yourself, \
                 with your own tools"
            )));
        }
        if active.len() >= most {
            return Err(ToolError::new(format!(
                "{most} agents are at work, which is as many as `max_active` of [assistant.agents] \
                 allows; await or abort one of them first"
            )));
        }
        active.insert(session.clone(), depth);
        Ok(Place {
            active: Arc::clone(&self.active),
            session: session.clone(),
            depth,
        })
    }
}

#[async_trait]
impl Executor for Agents {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let gone = || ToolError::new("agents cannot be started here any more");
        let source = self.source.get().and_then(Weak::upgrade).ok_or_else(gone)?;
        let parent = source.runtime().sessions().get(start.session.as_str());
        let parent = parent.ok_or_else(gone)?;
        let id = Session::new_id();
        let place = self.place(&start.session, &id)?;
        let mut catalogue = chosen(parent.tools(), &start.args)?;
        let model = source.model(text(&start.args, "model")).await;
        let model = model.map_err(|error| ToolError::new(error.to_string()))?;
        let output = OutputOptions {
            log: start.log.clone().map(Into::into),
            ..OutputOptions::default()
        };
        let shared = Arc::new(Shared::new(reporter, output));
        // A one-shot has nobody who could answer.
        let can_ask = start.handle.is_some();
        if can_ask {
            catalogue
                .register_builtin(Ask::definition(), Arc::new(Ask(Arc::clone(&shared))))
                .map_err(|error| ToolError::new(error.to_string()))?;
        }
        let conversation = Arc::new(match source.conversations() {
            Some(record) => Conversation::kept(record, id.clone()),
            None => Conversation::new(),
        });
        let inquirer = ModelInquirer::new(Arc::clone(&model), Arc::clone(&conversation));
        let runtime = source.runtime().offering(catalogue);
        let mut tools = Assistant::offered(runtime.tools());
        if place.depth >= self.limits.depth {
            tools.retain(|tool| tool.name != Self::NAME);
        }
        let mut system = system_prompt(source.system_prompt(), &start.root, &tools);
        system.push_str(OF_AN_AGENT);
        if can_ask {
            system.push_str(HOW_TO_ASK);
        }
        let session = source.session(
            &runtime,
            SessionOptions {
                id: Some(id),
                root: start.root.local.clone(),
                front_end: Some("agent".to_owned()),
                parent: Some(start.session.clone()),
                trusted: parent.is_trusted(),
                on_behalf: Some(on_behalf(start.handle.as_ref(), &parent)),
                inquirer: Some(Arc::new(inquirer)),
                ..SessionOptions::default()
            },
        );
        let assistant = Assistant {
            model,
            system,
            max_tokens: source.max_tokens(),
            effort: source.effort(),
            tools,
            session,
            conversation,
        };
        let task = text(&start.args, "task").unwrap_or_default().to_owned();
        Ok(Arc::new(AgentJob::start(assistant, task, shared, place)))
    }

    async fn adopt(&self, _: JobDescription, _: Reporter) -> Result<Arc<dyn Job>, AdoptError> {
        Err(AdoptError::Unsupported)
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments, _: &Path) -> Subject {
        let task = text(args, "task").unwrap_or_default();
        Subject::new(&tool.name, [task]).remembering(["*"])
    }
}

/// Whoever is asked in the parent's session is asked for the agent, by its name.
fn on_behalf(agent: Option<&HandleId>, parent: &Session) -> OnBehalf {
    OnBehalf {
        requests: parent.requests().clone(),
        agent: agent.map_or(Agents::NAME, HandleId::as_str).to_owned(),
    }
}

/// The tools that an agent may use: those that were named, or all but the one
/// by which its parent asks.
fn chosen(tools: &Catalogue, args: &Arguments) -> Result<Catalogue, ToolError> {
    let Some(named) = args.get("tools").and_then(Value::as_array) else {
        return Ok(tools.subset(|name| name != Ask::NAME));
    };
    let named: Vec<&str> = named.iter().filter_map(Value::as_str).collect();
    let unknown = named
        .iter()
        .find(|name| **name == Ask::NAME || tools.get(name).is_none());
    if let Some(unknown) = unknown {
        let known: Vec<&str> = tools
            .offered()
            .map(|tool| tool.definition().name.as_str())
            .filter(|name| *name != Ask::NAME)
            .collect();
        return Err(ToolError::new(format!(
            "there is no tool `{unknown}` for an agent; there are {}",
            known.join(", ")
        )));
    }
    Ok(tools.subset(|name| named.contains(&name)))
}

fn text<'a>(args: &'a Arguments, name: &str) -> Option<&'a str> {
    args.get(name).and_then(Value::as_str)
}
