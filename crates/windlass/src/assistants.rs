//! Sets up assistants from a runtime and its configuration: models, agents,
//! inquiries and the system prompt.

use std::sync::Arc;

use windlass_assistant::{
    AgentSource, Assistant, Conversation, Model, ModelInquirer, OpenError, system_prompt,
};
use windlass_runtime::protocol::{InvalidId, SessionId};
use windlass_runtime::{ArchiveError, Conversations, Session, SessionOptions};

use crate::agents::{ConfiguredAgents, effort};
use crate::build::Windlass;

/// Makes assistants that work with a runtime's tools. Every front end that
/// talks to models starts here.
///
/// Keep it for as long as its assistants work: without it they can start no
/// agents.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use windlass::{Assistants, Resume, Windlass, runtime::SessionOptions};
/// # async fn run(config: windlass::config::Config) -> Result<(), Box<dyn std::error::Error>> {
/// let windlass = Arc::new(Windlass::builder(config).agents().build().await?);
/// let assistants = Assistants::open(&windlass, Some("ollama/qwen3")).await?;
/// let (id, conversation) = assistants.conversation(Resume::New).await?;
/// let options = SessionOptions { id: Some(id), ..SessionOptions::default() };
/// let assistant = assistants.begin(conversation, options);
/// # let (_interject, mut interjections) = tokio::sync::mpsc::channel(1);
/// let outcome = assistant.turn("what changed?", &(), &mut interjections).await?;
/// println!("{}", outcome.text);
/// # Ok(())
/// # }
/// ```
pub struct Assistants {
    windlass: Arc<Windlass>,
    model: Arc<dyn Model>,
    inquiry_model: Arc<dyn Model>,
    /// The runtime's `Agents` hold it weakly.
    _agent_source: Arc<dyn AgentSource>,
}

/// No model is available.
#[derive(Debug, thiserror::Error)]
pub enum ChooseModelError {
    /// Neither the caller nor the configuration names a model.
    #[error("no model is chosen; name one as provider/name, or set `model` under [assistant]")]
    NotNamed,
    /// The named model cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// The conversation to start or continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// A new one.
    New,
    /// The newest of the project.
    Newest,
    /// That of this session.
    Session(String),
}

/// There is no conversation to continue.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The configuration turns the record off.
    #[error("sessions are not recorded, so there is nothing to continue")]
    NotRecorded,
    /// The record cannot be opened.
    #[error("the record cannot be opened: {0}")]
    Closed(String),
    /// The record cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The text is not a session id.
    #[error(transparent)]
    BadId(#[from] InvalidId),
    /// The project has none.
    #[error("there is no conversation of this project to continue")]
    NoneYet,
    /// The session has none.
    #[error("session `{0}` has no conversation; `windlass sessions` lists the sessions")]
    Empty(SessionId),
}

impl Assistants {
    /// Opens this model, or the configured one, and the one for inquiries.
    pub async fn open(
        windlass: &Arc<Windlass>,
        model: Option<&str>,
    ) -> Result<Self, ChooseModelError> {
        let config = &windlass.config().assistant;
        let providers = windlass.providers();
        let name = model.or(config.model.as_deref());
        let model = providers
            .open(name.ok_or(ChooseModelError::NotNamed)?)
            .await?;
        let inquiry_model = match &config.inquiry_model {
            Some(name) => providers.open(name).await?,
            None => Arc::clone(&model),
        };
        Ok(Self::with_models(windlass, model, inquiry_model))
    }

    /// Uses these models: one for conversations and one for inquiries. Agents
    /// use the first unless they name another.
    pub fn with_models(
        windlass: &Arc<Windlass>,
        model: Arc<dyn Model>,
        inquiry_model: Arc<dyn Model>,
    ) -> Self {
        let source: Arc<dyn AgentSource> = Arc::new(ConfiguredAgents {
            windlass: Arc::clone(windlass),
            providers: windlass.providers(),
            model: Arc::clone(&model),
        });
        if let Some(agents) = &windlass.agents {
            agents.connect(&source);
        }
        Self {
            windlass: Arc::clone(windlass),
            model,
            inquiry_model,
            _agent_source: source,
        }
    }

    /// Starts or loads a conversation, and returns it with its session id. It
    /// is recorded if sessions are.
    pub async fn conversation(
        &self,
        resume: Resume,
    ) -> Result<(SessionId, Conversation), ResumeError> {
        let record = self.windlass.config().record;
        let record = record.then(|| self.windlass.record());
        if resume == Resume::New {
            let id = Session::new_id();
            let conversation = match record {
                Some(Ok(record)) => Conversation::kept(Arc::new(record.clone()), id.clone()),
                _ => Conversation::new(),
            };
            return Ok((id, conversation));
        }
        let record = match record {
            Some(Ok(record)) => Arc::new(record.clone()),
            Some(Err(error)) => return Err(ResumeError::Closed(error.to_string())),
            None => return Err(ResumeError::NotRecorded),
        };
        let id = match resume {
            Resume::Session(id) => SessionId::new(id)?,
            Resume::New | Resume::Newest => {
                let project = self.windlass.project_id();
                let newest = Conversations::newest(&*record, &project).await?;
                newest.ok_or(ResumeError::NoneYet)?
            }
        };
        let conversation = Conversation::load(record, id.clone()).await?;
        if conversation.events().is_empty() {
            return Err(ResumeError::Empty(id));
        }
        Ok((id, conversation))
    }

    /// An assistant with this model that continues the session and conversation
    /// of another one.
    pub fn take_over(&self, assistant: &Assistant) -> Assistant {
        Assistant {
            model: Arc::clone(&self.model),
            system: assistant.system.clone(),
            max_tokens: assistant.max_tokens,
            effort: assistant.effort,
            tools: Assistant::offered(self.windlass.runtime().tools()),
            session: assistant.session.clone(),
            conversation: Arc::clone(&assistant.conversation),
        }
    }

    /// Starts a session with an assistant. The model answers the session's
    /// inquiries unless the options name another inquirer.
    pub fn begin(&self, conversation: Conversation, options: SessionOptions) -> Assistant {
        let config = &self.windlass.config().assistant;
        let conversation = Arc::new(conversation);
        let inquirer = options.inquirer.clone().unwrap_or_else(|| {
            let model = Arc::clone(&self.inquiry_model);
            Arc::new(ModelInquirer::new(model, Arc::clone(&conversation)))
        });
        let tools = Assistant::offered(self.windlass.runtime().tools());
        let own = config.system_prompt.as_deref();
        Assistant {
            model: Arc::clone(&self.model),
            system: system_prompt(own, &self.windlass.config().root, &tools),
            max_tokens: config.max_tokens,
            effort: effort(config),
            tools,
            session: self.windlass.session(SessionOptions {
                inquirer: Some(inquirer),
                ..options
            }),
            conversation,
        }
    }
}
