//! The contract of a job, with calls of a real server.

use std::sync::Arc;

use async_trait::async_trait;
use windlass_mcp_client::McpTool;
use windlass_outside::needs;
use windlass_protocol::{Arguments, HandleId, SessionId};
use windlass_runtime::{
    AdoptError, Catalogue, Executor, JobDescription, Reporter, Start, ToolDefinition,
};
use windlass_testing::contract::{Behaviour, Contractor, Specimen, check_contract};

use crate::support::{fixture, server};

/// Calls of the fixture server, each with a server of its own.
struct Calls;

#[async_trait]
impl Contractor for Calls {
    async fn start(&self, behaviour: Behaviour) -> Option<Specimen> {
        let tool = match behaviour {
            Behaviour::Writes => "lines",
            Behaviour::Stays => "ready",
            Behaviour::Asks => "greet",
            Behaviour::Repeats | Behaviour::AsksSecret => return None,
        };
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::new();
        let executor = McpTool {
            server: server(&catalogue, fixture(&folder, &[]), None),
            tool: tool.to_owned(),
            log_limit: 1 << 30,
        };
        let start = Start {
            session: SessionId::from_suffix("contract"),
            root: folder.path().to_owned().into(),
            log: Some(folder.path().join("log").into()),
            handle: Some(HandleId::new("h").unwrap()),
            keep: None,
            outside: false,
            widenings: Vec::new(),
            tool: Arc::new(ToolDefinition::new("tool")),
            args: Arguments::new(),
        };
        let (reporter, mut reports) = Reporter::channel();
        let job = executor.start(start, reporter).await.unwrap();
        if behaviour == Behaviour::Stays {
            // From here on the server has the call.
            reports.next().await.unwrap();
        }
        let came = folder.path().join("came");
        let runs = move || {
            let _server = &executor;
            let _folder = &folder;
            let came = std::fs::read_to_string(&came).unwrap_or_default();
            !came.contains("notifications/cancelled")
        };
        Some(Specimen {
            job,
            reports,
            runs: Arc::new(runs),
            is_remote: true,
        })
    }

    async fn describe(&self, specimen: &Specimen) -> Option<JobDescription> {
        assert_eq!(specimen.job.key(), None, "a call ends with its connection");
        None
    }

    async fn adopt(&self, _: JobDescription) -> Result<Specimen, AdoptError> {
        Err(AdoptError::Unsupported)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_servers_keep_the_contract() {
    needs!("python3");
    check_contract(&Calls).await;
}
