//! The contract of a job, with real programs and functions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;
use windlass_executors::{
    Function, FunctionCall, Kept, Launcher, LauncherOptions, LocalCommand, LocalTool, Shell,
};
use windlass_protocol::{ActionSet, Arguments, HandleId, IoMode, SessionId};
use windlass_runtime::{
    AdoptError, Executor, Job, JobDescription, KeepRequest, Reporter, Reports, Start,
    ToolDefinition,
};
use windlass_testing::contract::{Behaviour, Contractor, Specimen, check_contract};

/// Gives an executor and the arguments for a tool that behaves so; `None` if it cannot.
type Starting = fn(&Path, Behaviour) -> Option<(Arc<dyn Executor>, Arguments)>;

/// Starts shell scripts through an executor.
struct Programs {
    folder: TempDir,
    count: AtomicU64,
    start: Starting,
    /// Whether they can be adopted.
    adoptable: bool,
    /// Those that were started, by the name that they are kept under.
    started: Mutex<HashMap<String, Started>>,
}

#[derive(Clone)]
struct Started {
    executor: Arc<dyn Executor>,
    start: Start,
}

impl Programs {
    fn new(start: Starting) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            count: AtomicU64::new(0),
            start,
            adoptable: false,
            started: Mutex::default(),
        }
    }

    fn adoptable(start: Starting) -> Self {
        Self {
            adoptable: true,
            ..Self::new(start)
        }
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
impl Contractor for Programs {
    async fn start(&self, behaviour: Behaviour) -> Option<Specimen> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let (executor, args) = (self.start)(&folder, behaviour)?;
        let mut tool = ToolDefinition::new("tool");
        tool.shape.actions = ActionSet::all();
        let start = Start {
            session: SessionId::from_suffix("contract"),
            root: folder.clone().into(),
            log: Some(folder.join("log").into()),
            handle: Some(HandleId::new("h").unwrap()),
            keep: self.adoptable.then(|| KeepRequest {
                lease_secs: 60,
                folder: folder.clone().into(),
                name: number.to_string(),
                registration: None,
            }),
            outside: false,
            widenings: Vec::new(),
            tool: Arc::new(tool),
            args,
        };
        let started = Started {
            executor: Arc::clone(&executor),
            start: start.clone(),
        };
        self.started
            .lock()
            .unwrap()
            .insert(number.to_string(), started);
        let (reporter, reports) = Reporter::channel();
        let job = executor.start(start, reporter).await.unwrap();
        if behaviour == Behaviour::Stays {
            let pid = folder.join("pid");
            while !pid.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Some(Self::specimen(job, reports, &folder))
    }

    async fn describe(&self, specimen: &Specimen) -> Option<JobDescription> {
        let key = specimen.job.key();
        assert_eq!(key.is_some(), self.adoptable, "{key:?}");
        let key = key?;
        let name = key["name"].as_str().unwrap();
        let start = self.started.lock().unwrap()[name].start.clone();
        let at = specimen.job.output().written();
        specimen.job.leave().await;
        Some(JobDescription { start, key, at })
    }

    async fn adopt(&self, running: JobDescription) -> Result<Specimen, AdoptError> {
        let folder = running.start.root.local.clone();
        let name = running.key["name"].as_str().unwrap().to_owned();
        let executor = Arc::clone(&self.started.lock().unwrap()[&name].executor);
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

fn launcher() -> Launcher {
    Launcher::new(LauncherOptions::default()).unwrap()
}

/// A script as a configured tool.
fn local(folder: &Path, script: &str, io: IoMode) -> Arc<dyn Executor> {
    Arc::new(LocalTool {
        launcher: launcher(),
        command: LocalCommand {
            program: "/bin/sh".to_owned(),
            args: vec![file(folder, "script", script).display().to_string()],
            shell: false,
        },
        tool: "tool".to_owned(),
        io,
        options: Arguments::new(),
        takes_call: true,
        formats_arguments: false,
        workspace_id: None,
        kept: Kept::default(),
    })
}

fn file(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, script).unwrap();
    path
}

#[tokio::test]
async fn text_programs_keep_the_contract() {
    let programs = Programs::adoptable(|folder, behaviour| {
        (behaviour != Behaviour::AsksSecret).then(|| {
            (
                local(folder, behaviour.script(), IoMode::Text),
                Arguments::new(),
            )
        })
    });
    check_contract(&programs).await;
}

#[tokio::test]
async fn shell_lines_keep_the_contract() {
    let programs = Programs::adoptable(|_, behaviour| {
        let asks = matches!(behaviour, Behaviour::Asks | Behaviour::AsksSecret);
        let args = json!({"command": behaviour.script()});
        let shell: Arc<dyn Executor> = Arc::new(Shell::new(launcher()));
        (!asks).then(|| (shell, serde_json::from_value(args).unwrap()))
    });
    check_contract(&programs).await;
}

#[tokio::test]
async fn programs_on_a_terminal_keep_the_contract() {
    let programs = Programs::adoptable(|folder, behaviour| {
        (behaviour != Behaviour::Asks).then(|| {
            let tool = local(folder, behaviour.script(), IoMode::Terminal);
            (tool, Arguments::new())
        })
    });
    check_contract(&programs).await;
}

/// A tool that answers with another program.
fn exec(folder: &Path, behaviour: Behaviour, io: &str) -> (Arc<dyn Executor>, Arguments) {
    let other = file(folder, "other", behaviour.script());
    let answer = json!({"type": "exec", "program": "/bin/sh", "args": [other], "io": io});
    let script = format!("cat <<'END'\n{answer}\nEND\n");
    (local(folder, &script, IoMode::Text), Arguments::new())
}

#[tokio::test]
async fn a_tool_that_answers_exec_with_a_terminal_keeps_the_contract() {
    let programs = Programs::new(|folder, behaviour| {
        (behaviour != Behaviour::Asks).then(|| exec(folder, behaviour, "terminal"))
    });
    check_contract(&programs).await;
}

#[tokio::test]
async fn a_tool_that_answers_exec_with_pipes_keeps_the_contract() {
    let programs = Programs::new(|folder, behaviour| {
        let asks = matches!(behaviour, Behaviour::Asks | Behaviour::AsksSecret);
        (!asks).then(|| exec(folder, behaviour, "text"))
    });
    check_contract(&programs).await;
}

#[tokio::test]
async fn state_programs_keep_the_contract() {
    let programs = Programs::new(|folder, behaviour| {
        let tool = local(folder, behaviour.state_script()?, IoMode::State);
        Some((tool, Arguments::new()))
    });
    check_contract(&programs).await;
}

/// Functions of this program.
struct Functions;

#[async_trait]
impl Contractor for Functions {
    async fn start(&self, behaviour: Behaviour) -> Option<Specimen> {
        let runs = Arc::new(AtomicBool::new(true));
        let running = Arc::clone(&runs);
        let function = match behaviour {
            Behaviour::Writes => Function::new(|_: FunctionCall| async { Ok("one\ntwo\n".into()) }),
            Behaviour::Stays => Function::new(move |_: FunctionCall| {
                let ends = EndsWithUs(Arc::clone(&running));
                async move {
                    let _ends = ends;
                    std::future::pending().await
                }
            }),
            Behaviour::Repeats | Behaviour::Asks | Behaviour::AsksSecret => return None,
        };
        let start = Start {
            session: SessionId::from_suffix("contract"),
            root: std::env::temp_dir().into(),
            log: None,
            handle: Some(HandleId::new("h").unwrap()),
            keep: None,
            outside: false,
            widenings: Vec::new(),
            tool: Arc::new(ToolDefinition::new("tool")),
            args: Arguments::new(),
        };
        let (reporter, reports) = Reporter::channel();
        Some(Specimen {
            job: function.start(start, reporter).await.unwrap(),
            reports,
            runs: Arc::new(move || runs.load(Ordering::Acquire)),
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

struct EndsWithUs(Arc<AtomicBool>);

impl Drop for EndsWithUs {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[tokio::test]
async fn functions_keep_the_contract() {
    check_contract(&Functions).await;
}
