//! The contract of a job, with programs that run on a host.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;
use windlass::executors::{Kept, Launcher, LauncherOptions, LocalCommand, LocalTool, Shell};
use windlass::host::{Host, HostOptions};
use windlass::runtime::protocol::{ActionSet, Arguments, HandleId, IoMode, SessionId};
use windlass::runtime::{
    AdoptError, Executor, Job, JobDescription, KeepRequest, Reporter, Reports, Start,
    ToolDefinition,
};
use windlass_outside::needs;
use windlass_process::RemoteHost;
use windlass_testing::contract::{Behaviour, Contractor, Specimen, check_contract};

use crate::programs::windlass;
use crate::ssh_server::SshServer;

/// Gives an executor and the arguments for a tool that behaves so; `None` if it cannot.
type Starting = fn(Launcher, &Path, Behaviour) -> Option<(Arc<dyn Executor>, Arguments)>;

/// Starts shell scripts on a host through an executor.
pub(crate) struct HostPrograms {
    folder: TempDir,
    /// The host, of the runtime that starts programs and of the next one, which adopts them.
    hosts: [Arc<dyn RemoteHost>; 2],
    count: AtomicU64,
    kind: Kind,
    /// Those that were started, by the name that they are kept under.
    started: Mutex<HashMap<String, Started>>,
}

/// A kind of tools.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    start: Starting,
    /// Whether they can be adopted.
    is_adoptable: bool,
}

#[derive(Clone)]
struct Started {
    behaviour: Behaviour,
    start: Start,
}

impl HostPrograms {
    fn new(via: &[OsString], kind: Kind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let environment = [
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("SHELL".into(), "/bin/sh".into()),
            ("XDG_STATE_HOME".into(), folder.path().join("state").into()),
        ];
        let host = || -> Arc<dyn RemoteHost> {
            let options = HostOptions::new("there", via.to_vec(), folder.path());
            Arc::new(Host::new(options, Some(environment.to_vec())).unwrap())
        };
        let hosts = [host(), host()];
        Self::on(folder, hosts, kind)
    }

    /// With a host that runs programs on this machine, as two runtimes have it.
    pub(crate) fn on(folder: TempDir, hosts: [Arc<dyn RemoteHost>; 2], kind: Kind) -> Self {
        Self {
            folder,
            hosts,
            count: AtomicU64::new(0),
            kind,
            started: Mutex::default(),
        }
    }

    fn executor(
        &self,
        host: &Arc<dyn RemoteHost>,
        folder: &Path,
        behaviour: Behaviour,
    ) -> Option<(Arc<dyn Executor>, Arguments)> {
        let launcher = Launcher::new(LauncherOptions::default()).unwrap();
        let launcher = launcher.on_host(Arc::clone(host));
        (self.kind.start)(launcher, folder, behaviour)
    }

    fn specimen(job: Arc<dyn Job>, reports: Reports, folder: &Path) -> Specimen {
        let pid = folder.join("pid");
        Specimen {
            job,
            reports,
            runs: Arc::new(move || is_running(&pid)),
            is_remote: false,
        }
    }
}

#[async_trait]
impl Contractor for HostPrograms {
    async fn start(&self, behaviour: Behaviour) -> Option<Specimen> {
        let number = self.count.fetch_add(1, Ordering::Relaxed).to_string();
        let folder = self.folder.path().join(&number);
        std::fs::create_dir(&folder).unwrap();
        let (executor, args) = self.executor(&self.hosts[0], &folder, behaviour)?;
        let mut tool = ToolDefinition::new("tool");
        tool.shape.actions = ActionSet::all();
        let start = Start {
            session: SessionId::from_suffix("contract"),
            root: folder.clone().into(),
            log: Some(folder.join("log").into()),
            handle: Some(HandleId::new("h").unwrap()),
            keep: self.kind.is_adoptable.then(|| KeepRequest {
                lease_secs: 60,
                folder: folder.clone().into(),
                name: number.clone(),
                registration: None,
            }),
            outside: false,
            widenings: Vec::new(),
            tool: Arc::new(tool),
            args,
        };
        let started = Started {
            behaviour,
            start: start.clone(),
        };
        self.started.lock().unwrap().insert(number, started);
        let (reporter, reports) = Reporter::channel();
        let job = executor.start(start, reporter).await.unwrap();
        let pid = folder.join("pid");
        while behaviour == Behaviour::Stays && !pid.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Some(Self::specimen(job, reports, &folder))
    }

    async fn describe(&self, specimen: &Specimen) -> Option<JobDescription> {
        let key = specimen.job.key();
        assert_eq!(key.is_some(), self.kind.is_adoptable, "{key:?}");
        let key = key?;
        let name = key["name"].as_str().unwrap();
        let start = self.started.lock().unwrap()[name].start.clone();
        let at = specimen.job.output().written();
        specimen.job.leave().await;
        Some(JobDescription { start, key, at })
    }

    async fn adopt(&self, running: JobDescription) -> Result<Specimen, AdoptError> {
        let folder = running.start.root.local.clone();
        let name = running.key["name"].as_str().unwrap();
        let behaviour = self.started.lock().unwrap()[name].behaviour;
        let (executor, _) = self
            .executor(&self.hosts[1], &folder, behaviour)
            .expect("it was started so");
        let (reporter, reports) = Reporter::channel();
        let job = executor.adopt(running, reporter).await?;
        Ok(Self::specimen(job, reports, &folder))
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

fn local(
    launcher: Launcher,
    folder: &Path,
    script: &str,
    io: IoMode,
) -> (Arc<dyn Executor>, Arguments) {
    let tool = LocalTool {
        launcher,
        command: LocalCommand {
            program: "/bin/sh".to_owned(),
            args: vec![file(folder, "script", script)],
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

fn file(folder: &Path, name: &str, script: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, script).unwrap();
    path.display().to_string()
}

/// A tool that answers with another program.
fn exec(
    launcher: Launcher,
    folder: &Path,
    behaviour: Behaviour,
    io: &str,
) -> (Arc<dyn Executor>, Arguments) {
    let other = file(folder, "other", behaviour.script());
    let answer = json!({"type": "exec", "program": "/bin/sh", "args": [other], "io": io});
    let script = format!("cat <<'END'\n{answer}\nEND\n");
    local(launcher, folder, &script, IoMode::Text)
}

/// Programs that write text.
pub(crate) const TEXT: Kind = Kind {
    start: |launcher, folder, behaviour| {
        (behaviour != Behaviour::AsksSecret)
            .then(|| local(launcher, folder, behaviour.script(), IoMode::Text))
    },
    is_adoptable: true,
};

/// Lines of `shell`.
pub(crate) const SHELL: Kind = Kind {
    start: |launcher, _, behaviour| {
        let asks = matches!(behaviour, Behaviour::Asks | Behaviour::AsksSecret);
        let args = json!({"command": behaviour.script()});
        let shell: Arc<dyn Executor> = Arc::new(Shell::new(launcher));
        (!asks).then(|| (shell, serde_json::from_value(args).unwrap()))
    },
    is_adoptable: true,
};

/// Programs on a terminal.
pub(crate) const TERMINAL: Kind = Kind {
    start: |launcher, folder, behaviour| {
        (behaviour != Behaviour::Asks)
            .then(|| local(launcher, folder, behaviour.script(), IoMode::Terminal))
    },
    is_adoptable: true,
};

/// Programs that report their state.
pub(crate) const STATE: Kind = Kind {
    start: |launcher, folder, behaviour| {
        let script = behaviour.state_script()?;
        Some(local(launcher, folder, script, IoMode::State))
    },
    is_adoptable: false,
};

/// Programs that answer with a program on a terminal.
pub(crate) const EXEC_TERMINAL: Kind = Kind {
    start: |launcher, folder, behaviour| {
        (behaviour != Behaviour::Asks).then(|| exec(launcher, folder, behaviour, "terminal"))
    },
    is_adoptable: false,
};

/// Programs that answer with a program on pipes.
pub(crate) const EXEC_TEXT: Kind = Kind {
    start: |launcher, folder, behaviour| {
        let asks = matches!(behaviour, Behaviour::Asks | Behaviour::AsksSecret);
        (!asks).then(|| exec(launcher, folder, behaviour, "text"))
    },
    is_adoptable: false,
};

async fn check_over_a_pipe(kind: Kind) {
    let via = [windlass(), "host"].map(Into::into);
    check_contract(&HostPrograms::new(&via, kind)).await;
}

async fn check_over_ssh(kind: Kind) {
    let server = SshServer::start();
    let via: Vec<OsString> = server.via().into_iter().map(Into::into).collect();
    check_contract(&HostPrograms::new(&via, kind)).await;
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
async fn state_programs_on_a_host_keep_the_contract() {
    check_over_a_pipe(STATE).await;
}

#[tokio::test]
async fn tools_that_answer_exec_with_a_terminal_on_a_host_keep_the_contract() {
    check_over_a_pipe(EXEC_TERMINAL).await;
}

#[tokio::test]
async fn tools_that_answer_exec_with_pipes_on_a_host_keep_the_contract() {
    check_over_a_pipe(EXEC_TEXT).await;
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

#[tokio::test]
async fn state_programs_over_ssh_keep_the_contract() {
    needs!("ssh", "sshd", "ssh-keygen");
    check_over_ssh(STATE).await;
}

#[tokio::test]
async fn tools_that_answer_exec_with_a_terminal_over_ssh_keep_the_contract() {
    needs!("ssh", "sshd", "ssh-keygen");
    check_over_ssh(EXEC_TERMINAL).await;
}

#[tokio::test]
async fn tools_that_answer_exec_with_pipes_over_ssh_keep_the_contract() {
    needs!("ssh", "sshd", "ssh-keygen");
    check_over_ssh(EXEC_TEXT).await;
}
