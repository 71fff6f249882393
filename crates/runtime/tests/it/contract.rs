//! The contract of a job, with scripted tools: the contract itself can be kept, also after an adoption.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use windlass_protocol::{Arguments, HandleId, SessionId};
use windlass_runtime::{
    AdoptError, Executor, Job, JobDescription, Reporter, Reports, Start, ToolDefinition,
};
use windlass_testing::contract::{Behaviour, Contractor, Specimen, check_contract};
use windlass_testing::{Scripted, ScriptedJob, TerminalEcho, text_question};

struct ScriptedTools {
    executor: Scripted,
    on_terminal: bool,
}

impl ScriptedTools {
    fn new(on_terminal: bool) -> Self {
        Self {
            executor: Scripted::new(),
            on_terminal,
        }
    }

    fn newest(&self) -> ScriptedJob {
        self.executor.started().pop().unwrap()
    }

    fn specimen(&self, job: Arc<dyn Job>, reports: Reports) -> Specimen {
        let scripted = self.newest();
        Specimen {
            job,
            reports,
            runs: Arc::new(move || !scripted.has_ended()),
            is_remote: false,
        }
    }
}

fn start() -> Start {
    Start {
        session: SessionId::from_suffix("contract"),
        root: std::env::temp_dir().into(),
        log: None,
        handle: Some(HandleId::new("h").unwrap()),
        keep: None,
        outside: false,
        widenings: Vec::new(),
        tool: Arc::new(ToolDefinition::new("tool")),
        args: Arguments::new(),
    }
}

/// The behaviour of the tool, once it is observed.
fn behave(job: &ScriptedJob, behaviour: Behaviour) {
    match behaviour {
        Behaviour::Writes => {
            job.write("one\ntwo\n");
            job.end();
        }
        Behaviour::Stays => job.write("ready\n"),
        Behaviour::Repeats => {
            job.write("ready\n");
            job.at_prompt(true);
        }
        Behaviour::Asks | Behaviour::AsksSecret => job.ask(text_question("name", "Who?")),
    }
}

#[async_trait]
impl Contractor for ScriptedTools {
    async fn start(&self, behaviour: Behaviour) -> Option<Specimen> {
        if behaviour == Behaviour::AsksSecret {
            return None;
        }
        let (reporter, reports) = Reporter::channel();
        let job = self.executor.start(start(), reporter).await.unwrap();
        let scripted = self.newest();
        if self.on_terminal {
            scripted.on_terminal(TerminalEcho::Shown);
        }
        scripted.on_input(|job, typing| {
            let input = typing.input.as_ref().and_then(Value::as_str);
            job.write(&format!("got {}\n", input.unwrap_or_default()));
        });
        scripted.on_answer(|job, answer| {
            job.write(&format!("hello {}\n", answer.as_str().unwrap_or_default()));
            job.end();
        });
        behave(&scripted, behaviour);
        Some(self.specimen(job, reports))
    }

    async fn describe(&self, specimen: &Specimen) -> Option<JobDescription> {
        let scripted = self.newest();
        if scripted.has_ended() {
            return None;
        }
        specimen.job.leave().await;
        Some(JobDescription {
            start: start(),
            key: specimen.job.key()?,
            at: specimen.job.output().written(),
        })
    }

    async fn adopt(&self, running: JobDescription) -> Result<Specimen, AdoptError> {
        let (reporter, reports) = Reporter::channel();
        let job = self.executor.adopt(running, reporter).await?;
        Ok(self.specimen(job, reports))
    }
}

#[tokio::test]
async fn scripted_tools_keep_the_contract() {
    check_contract(&ScriptedTools::new(false)).await;
}

#[tokio::test]
async fn scripted_tools_on_a_terminal_keep_the_contract() {
    check_contract(&ScriptedTools::new(true)).await;
}

#[tokio::test]
async fn a_tool_that_has_ended_cannot_be_adopted() {
    let tools = ScriptedTools::new(false);
    let specimen = tools.start(Behaviour::Stays).await.unwrap();
    let running = tools.describe(&specimen).await.unwrap();
    tools.newest().end();
    drop(specimen);
    assert_eq!(tools.adopt(running).await.err(), Some(AdoptError::Gone));
}
