//! The contract of a job, with programs that run on a host.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;
use windlass::executors::{Kept, Launcher, LauncherOptions, LocalCommand, LocalTool, Shell};
use windlass::host::{Host, HostOptions};
use windlass::runtime::protocol::{ActionSet, Arguments, HandleId, IoMode, SessionId};
use windlass::runtime::{AdoptError, Executor, JobDescription, Reporter, Start, ToolDefinition};
use windlass_process::RemoteHost;
use windlass_testing::contract::{Behaviour, Contractor, Specimen, check_contract};
use windlass_testing::needs;

use crate::hosts::WINDLASS;
use crate::ssh_server::SshServer;

pub(crate) type Starting = fn(Launcher, &Path, Behaviour) -> Option<(Arc<dyn Executor>, Arguments)>;

/// Starts shell scripts on a host through an executor.
pub(crate) struct HostPrograms {
    folder: TempDir,
    host: Arc<dyn RemoteHost>,
    count: AtomicU64,
    start: Starting,
}

impl HostPrograms {
    fn new(via: Vec<OsString>, start: Starting) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = HostOptions::new("there", via, folder.path());
        let environment = [
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("SHELL".into(), "/bin/sh".into()),
            ("XDG_STATE_HOME".into(), folder.path().join("state").into()),
        ];
        let host = Host::new(options, Some(environment.to_vec())).unwrap();
        Self::on(folder, Arc::new(host), start)
    }

    /// With a host that runs programs on this machine.
    pub(crate) fn on(folder: TempDir, host: Arc<dyn RemoteHost>, start: Starting) -> Self {
        Self {
            folder,
            host,
            count: AtomicU64::new(0),
            start,
        }
    }
}

#[async_trait]
impl Contractor for HostPrograms {
    async fn start(&self, behaviour: Behaviour) -> Option<Specimen> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let launcher = Launcher::new(LauncherOptions::default()).unwrap();
        let launcher = launcher.on_host(Arc::clone(&self.host));
        let (executor, args) = (self.start)(launcher, &folder, behaviour)?;
        let mut tool = ToolDefinition::new("tool");
        tool.shape.actions = ActionSet::all();
        let start = Start {
            session: SessionId::from_suffix("contract"),
            root: folder.clone().into(),
            log: Some(folder.join("log").into()),
            handle: Some(HandleId::new("h").unwrap()),
            keep: None,
            outside: false,
            widenings: Vec::new(),
            tool: Arc::new(tool),
            args,
        };
        let (reporter, reports) = Reporter::channel();
        let job = executor.start(start, reporter).await.unwrap();
        let pid = folder.join("pid");
        while behaviour == Behaviour::Stays && !pid.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Some(Specimen {
            job,
            reports,
            runs: Arc::new(move || is_running(&pid)),
            is_remote: false,
        })
    }

    async fn describe(&self, specimen: &Specimen) -> Option<JobDescription> {
        assert_eq!(specimen.job.key(), None);
        None
    }

    async fn adopt(&self, _: JobDescription) -> Result<Specimen, AdoptError> {
        Err(AdoptError::Unsupported)
    }
}

/// The process whose number is in the file is there.
fn is_running(file: &Path) -> bool {
    let Ok(pid) = std::fs::read_to_string(file) else {
        return false;
    };
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    status.is_ok_and(|status| !status.contains(") Z "))
}

fn script(behaviour: Behaviour) -> &'static str {
    match behaviour {
        Behaviour::Writes => "printf 'one\\ntwo\\n'",
        Behaviour::Stays => "echo $$ > pid.new; mv pid.new pid; echo ready; exec sleep 1000",
        Behaviour::Repeats => {
            "echo $$ > pid; echo ready; while read -r line; do echo \"got $line\"; done"
        }
        Behaviour::Asks => {
            "case \"$*\" in *Ada*) echo 'hello Ada' ;; \
             *) echo '{\"type\":\"waiting\",\"content\":\"well\",\
             \"question\":{\"id\":\"name\",\"text\":\"Who?\",\"answer_type\":\"Text\"}}' ;; esac"
        }
        Behaviour::AsksSecret => {
            "stty -echo; printf 'Password: '; read -r x; stty echo; echo; echo \"hello $x\""
        }
    }
}

fn local(
    launcher: Launcher,
    folder: &Path,
    behaviour: Behaviour,
    io: IoMode,
) -> (Arc<dyn Executor>, Arguments) {
    let path = folder.join("script");
    std::fs::write(&path, script(behaviour)).unwrap();
    let tool = LocalTool {
        launcher,
        command: LocalCommand {
            program: "/bin/sh".to_owned(),
            args: vec![path.display().to_string()],
            shell: false,
        },
        tool: "tool".to_owned(),
        io,
        options: Arguments::new(),
        takes_call: true,
        formats_arguments: false,
        workspace_id: None,
        kept: Kept::default(),
    };
    (Arc::new(tool), Arguments::new())
}

/// Programs of the executors: text, shell lines, terminals.
pub(crate) const TEXT: Starting = |launcher, folder, behaviour| {
    (behaviour != Behaviour::AsksSecret).then(|| local(launcher, folder, behaviour, IoMode::Text))
};
pub(crate) const SHELL: Starting = |launcher, _, behaviour| {
    let asks = matches!(behaviour, Behaviour::Asks | Behaviour::AsksSecret);
    let args = json!({"command": script(behaviour)});
    let shell: Arc<dyn Executor> = Arc::new(Shell::new(launcher));
    (!asks).then(|| (shell, serde_json::from_value(args).unwrap()))
};
pub(crate) const TERMINAL: Starting = |launcher, folder, behaviour| {
    (behaviour != Behaviour::Asks).then(|| local(launcher, folder, behaviour, IoMode::Terminal))
};

async fn check_over_a_pipe(start: Starting) {
    let via = [WINDLASS, "host"].map(Into::into).to_vec();
    check_contract(&HostPrograms::new(via, start)).await;
}

async fn check_over_ssh(start: Starting) {
    let server = SshServer::start();
    let via = server.via().into_iter().map(Into::into).collect();
    check_contract(&HostPrograms::new(via, start)).await;
}

#[tokio::test]
async fn text_programs_on_a_host_keep_the_contract() {
    check_over_a_pipe(TEXT).await;
}

#[tokio::test]
async fn shell_lines_on_a_host_keep_the_contract() {
    check_over_a_pipe(SHELL).await;
}

#[tokio::test]
async fn terminals_on_a_host_keep_the_contract() {
    check_over_a_pipe(TERMINAL).await;
}

#[tokio::test]
async fn text_programs_over_ssh_keep_the_contract() {
    needs!("ssh", "sshd", "ssh-keygen");
    check_over_ssh(TEXT).await;
}

#[tokio::test]
async fn shell_lines_over_ssh_keep_the_contract() {
    needs!("ssh", "sshd", "ssh-keygen");
    check_over_ssh(SHELL).await;
}

#[tokio::test]
async fn terminals_over_ssh_keep_the_contract() {
    needs!("ssh", "sshd", "ssh-keygen");
    check_over_ssh(TERMINAL).await;
}
