//! The tool `agent`: another assistant with a task, in a session of its own.
//!
//! Start at [`Agents`], the executor of the tool. `job.rs` runs one agent,
//! `log.rs` writes its output, and `ask.rs` is the tool by which the agent asks
//! its parent. Requests of an agent's tools to the user are part of the parent
//! session. An agent is a handle like any other: it runs until its turn is
//! over, and its last message is the result.

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

use self::ask::AskTool;
use self::job::{AgentJob, AgentState};
use crate::conversation::Conversation;
use crate::inquiry::ModelInquirer;
use crate::model::{Effort, Model};
use crate::prompt::system_prompt;
use crate::provider::OpenError;
use crate::turn::Assistant;

/// The addition to an agent's system prompt.
const OF_AN_AGENT: &str = "\n\n## You are an agent\n\nAnother assistant gave you the task below. It sees only your last message, so include everything it asked for.";
const HOW_TO_ASK: &str = " If you need information that only that assistant has, call `ask`.";

/// Limits on agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentLimits {
    /// Maximum depth: at 1, an agent may not start agents of its own.
    pub depth: usize,
    /// Maximum number of agents at the same time.
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

/// The front end's part of running agents: models, sessions and settings.
#[async_trait]
pub trait AgentSource: Send + Sync {
    /// The runtime with the tools.
    fn runtime(&self) -> &Runtime;

    /// Opens a model by its name, or the default model. The error says what
    /// would work.
    async fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, OpenError>;

    /// Starts a session that offers the tools of this runtime.
    fn session(&self, runtime: &Runtime, options: SessionOptions) -> Session;

    /// The store for conversations, if they are kept.
    fn conversations(&self) -> Option<Arc<dyn Conversations>>;

    /// The user's system prompt for every assistant.
    fn system_prompt(&self) -> Option<&str>;

    /// The maximum length of a reply, in tokens.
    fn max_tokens(&self) -> Option<u32>;

    /// The reasoning effort.
    fn effort(&self) -> Option<Effort>;
}

/// Starts agents. It is registered before the runtime exists, and connected
/// afterwards.
pub struct Agents {
    limits: AgentLimits,
    source: OnceLock<Weak<dyn AgentSource>>,
    active: Arc<Active>,
}

/// The sessions of running agents, with the depth of each.
type Active = Mutex<HashMap<SessionId, usize>>;

/// An agent's place among those that are at work.
struct AgentSlot {
    active: Arc<Active>,
    session: SessionId,
    depth: usize,
}

impl Drop for AgentSlot {
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

    /// Sets the source of models and sessions. Only the first call has an
    /// effect. The caller must keep the source alive for as long as agents may
    /// be started.
    pub fn connect(&self, source: &Arc<dyn AgentSource>) {
        let _ = self.source.set(Arc::downgrade(source));
    }

    /// The tool definition for registration.
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
                "Give a task to another assistant, with a context of its own. It knows only the \
                 text of the task; its last message is the result."
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
            questions: HashMap::from([(AskTool::QUESTION.to_owned(), asks)]),
            ..ToolDefinition::new(Self::NAME)
        }
    }

    /// Reserves a slot for an agent that this session starts.
    fn place(&self, parent: &SessionId, session: &SessionId) -> Result<AgentSlot, ToolError> {
        let AgentLimits {
            depth: deepest,
            active: most,
        } = self.limits;
        let mut active = self.active.lock();
        let depth = active.get(parent).map_or(1, |depth| depth + 1);
        if depth > deepest {
            return Err(ToolError::new(format!(
                "agents may be nested {deepest} deep (`max_depth` of [assistant.agents]); do the \
                 task yourself, with your own tools"
            )));
        }
        if active.len() >= most {
            return Err(ToolError::new(format!(
                "{most} agents are running, the maximum (`max_active` of [assistant.agents]); \
                 await or abort one of them first"
            )));
        }
        active.insert(session.clone(), depth);
        Ok(AgentSlot {
            active: Arc::clone(&self.active),
            session: session.clone(),
            depth,
        })
    }
}

#[async_trait]
impl Executor for Agents {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let gone = || ToolError::new("the session has ended, so agents can no longer be started");
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
        let shared = Arc::new(AgentState::new(reporter, output));
        // A one-shot's questions cannot be answered.
        let can_ask = start.handle.is_some();
        if can_ask {
            catalogue
                .register_builtin(
                    AskTool::definition(),
                    Arc::new(AskTool(Arc::clone(&shared))),
                )
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

/// Forwards the agent's requests to the parent's session, under the agent's
/// name.
fn on_behalf(agent: Option<&HandleId>, parent: &Session) -> OnBehalf {
    OnBehalf {
        requests: parent.requests().clone(),
        agent: agent.map_or(Agents::NAME, HandleId::as_str).to_owned(),
    }
}

/// The tools that an agent may use: the named ones, or all except the one by
/// which its parent asks.
fn chosen(tools: &Catalogue, args: &Arguments) -> Result<Catalogue, ToolError> {
    let Some(named) = args.get("tools").and_then(Value::as_array) else {
        return Ok(tools.subset(|name| name != AskTool::NAME));
    };
    let named: Vec<&str> = named.iter().filter_map(Value::as_str).collect();
    let unknown = named
        .iter()
        .find(|name| **name == AskTool::NAME || tools.get(name).is_none());
    if let Some(unknown) = unknown {
        let known: Vec<&str> = tools
            .offered()
            .map(|tool| tool.definition().name.as_str())
            .filter(|name| *name != AskTool::NAME)
            .collect();
        return Err(ToolError::new(format!(
            "there is no tool `{unknown}` for an agent; the tools are {}",
            known.join(", ")
        )));
    }
    Ok(tools.subset(|name| named.contains(&name)))
}

fn text<'a>(args: &'a Arguments, name: &str) -> Option<&'a str> {
    args.get(name).and_then(Value::as_str)
}
