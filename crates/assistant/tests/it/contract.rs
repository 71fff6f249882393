//! The contract of a job, with agents.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use windlass_assistant::{AgentLimits, AgentSource, Agents, Effort, Model, OpenError};
use windlass_outside::model::{Fault, ModelServer, Script, Turn};
use windlass_protocol::HandleId;
use windlass_runtime::{
    AdoptError, Catalogue, Conversations, Executor, JobDescription, Reporter, Runtime, Session,
    SessionOptions, Start,
};
use windlass_testing::contract::{Behaviour, Contractor, Specimen, check_contract};

use crate::support::model;

/// Agents of a scripted model, each in a runtime of its own.
struct ScriptedAgents;

/// Everything that an agent is made of.
struct Source {
    runtime: Runtime,
    server: ModelServer,
}

#[async_trait]
impl AgentSource for Source {
    fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    async fn model(&self, _: Option<&str>) -> Result<Arc<dyn Model>, OpenError> {
        Ok(model(&self.server, 0))
    }

    fn session(&self, runtime: &Runtime, options: SessionOptions) -> Session {
        runtime.session(options)
    }

    fn conversations(&self) -> Option<Arc<dyn Conversations>> {
        None
    }

    fn system_prompt(&self) -> Option<&str> {
        None
    }

    fn max_tokens(&self) -> Option<u32> {
        None
    }

    fn effort(&self) -> Option<Effort> {
        None
    }
}

#[async_trait]
impl Contractor for ScriptedAgents {
    async fn start(&self, behaviour: Behaviour) -> Option<Specimen> {
        let turns = match behaviour {
            Behaviour::Writes => vec![Turn::text("one\ntwo")],
            Behaviour::Stays => vec![Turn::text("ready").with(Fault::Hang(0))],
            Behaviour::Asks => vec![
                Turn::calls([("ask", json!({"question": "Who?"}))]),
                Turn::text("hello Ada").when("Ada"),
            ],
            Behaviour::Repeats | Behaviour::AsksSecret => return None,
        };
        let server = ModelServer::start(Script::new(turns)).await.unwrap();
        let agents = Arc::new(Agents::new(AgentLimits::default()));
        let runtime = Runtime::new(Catalogue::new());
        let parent = runtime.session(SessionOptions::default());
        let source: Arc<dyn AgentSource> = Arc::new(Source { runtime, server });
        agents.connect(&source);
        let start = Start {
            session: parent.id().clone(),
            root: std::env::temp_dir().into(),
            log: None,
            handle: Some(HandleId::new("h").unwrap()),
            keep: None,
            outside: false,
            widenings: Vec::new(),
            tool: Arc::new(Agents::definition()),
            args: serde_json::from_value(json!({"task": "do it"})).unwrap(),
        };
        let (reporter, reports) = Reporter::channel();
        let job = agents.start(start, reporter).await.unwrap();
        let runs = move || {
            // The agent's session beside its parent's.
            let _parent = &parent;
            source.runtime().sessions().list().len() > 1
        };
        Some(Specimen {
            job,
            reports,
            runs: Arc::new(runs),
            is_remote: false,
        })
    }

    async fn describe(&self, specimen: &Specimen) -> Option<JobDescription> {
        assert_eq!(specimen.job.key(), None, "an agent ends with its runtime");
        None
    }

    async fn adopt(&self, _: JobDescription) -> Result<Specimen, AdoptError> {
        Err(AdoptError::Unsupported)
    }
}

#[tokio::test]
async fn agents_keep_the_contract() {
    check_contract(&ScriptedAgents).await;
}
