//! An isolated environment for one agent: its directories and its model.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::Programs;
use super::agent::{self, Agent, Place, Setup};
use super::npm::{self, Installed};
use super::sitting::{self, Trace, Verdict};
use super::terminal::Terminal;
use crate::packages;
use crate::sandboxed::ToolSandbox;

/// An environment variable that all processes of a sitting inherit.
const MARKER: &str = "WINDLASS_AGENTS_SITTING";
/// The time limit of an agent, on a busy machine.
const SITTING: Duration = Duration::from_mins(5);
/// The time limit until all of its processes have ended.
const LEAVING: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(50);

/// The user's configuration, and the name of the directory.
pub(super) struct Scenery {
    pub(super) name: &'static str,
    pub(super) config: String,
    pub(super) sandbox: ToolSandbox,
}

/// An agent with its environment.
pub(super) struct Stage<'a> {
    pub(super) agent: &'a Agent,
    installed: &'a Installed,
    programs: &'a Programs,
    folder: PathBuf,
    marker: String,
    sandbox: ToolSandbox,
}

impl<'a> Stage<'a> {
    /// Creates a home and a project, and sets Windlass up as a user does.
    pub(super) fn set(
        agent: &'a Agent,
        installed: &'a Installed,
        programs: &'a Programs,
        scenery: &Scenery,
    ) -> anyhow::Result<Self> {
        let folder = npm::folder()?.join(format!("{}-{}", scenery.name, agent.name));
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot remove `{}`", folder.display()))?;
        }
        let stage = Self {
            agent,
            installed,
            programs,
            folder,
            sandbox: scenery.sandbox,
            marker: format!("{}-{}-{}", scenery.name, agent.name, std::process::id()),
        };
        fs::create_dir_all(stage.project())?;
        let config = stage.home().join(".config/windlass");
        fs::create_dir_all(&config)?;
        fs::write(config.join("config.toml"), &scenery.config)?;
        if let Setup::Install(client) = agent.setup {
            let mut install = stage.command(&programs.windlass)?;
            let status = install
                .args(["mcp", "install", client, "--yes"])
                .stdout(Stdio::null())
                .status()
                .context("cannot run `windlass mcp install`")?;
            ensure!(status.success(), "`windlass mcp install` failed");
        }
        Ok(stage)
    }

    /// Runs the agent to its end and judges the results.
    pub(super) fn play(&self) -> anyhow::Result<Verdict> {
        let model = Model::start(self, &sitting::script(self.agent))?;
        let project = self.project();
        let command = self.prepare(&model)?;
        let (said, code) = if self.agent.is_interactive {
            self.play_on_terminal(&command)?
        } else {
            self.play_with_pipes(command)?
        };
        let left = self.clear();
        let requests = model.stop()?;
        let trace = Trace {
            project: &project,
            requests: &requests,
            left: &left,
            said: &said,
            code,
            sandbox: self.sandbox,
        };
        Ok(sitting::judge(self.agent, &trace))
    }

    /// The command that runs the agent with this model.
    pub(super) fn prepare(&self, model: &Model) -> anyhow::Result<Command> {
        let (home, project) = (self.home(), self.project());
        let mut command = self.command(&self.installed.program)?;
        let place = Place {
            home: &home,
            project: &project,
            url: &model.url,
            windlass: &self.programs.windlass,
        };
        (self.agent.prepare)(&mut command, &place)?;
        Ok(command)
    }

    /// Starts an agent that gets the message on its command line.
    pub(super) fn start(&self, command: &mut Command) -> anyhow::Result<Child> {
        let log = File::create(self.said())?;
        command
            .stdin(Stdio::null())
            .stderr(log.try_clone()?)
            .stdout(log)
            .spawn()
            .with_context(|| format!("cannot run `{}`", self.installed.program.display()))
    }

    /// Runs an agent that gets the message on its command line; returns its
    /// output and its exit code.
    pub(super) fn play_with_pipes(
        &self,
        mut command: Command,
    ) -> anyhow::Result<(String, Option<i32>)> {
        let status = wait(self.start(&mut command)?)?;
        let said = fs::read(self.said())?;
        let code = status.and_then(|status| status.code());
        Ok((String::from_utf8_lossy(&said).into_owned(), code))
    }

    /// Runs an interactive agent; returns its last screen. It is ended by us,
    /// which counts as success.
    fn play_on_terminal(&self, command: &Command) -> anyhow::Result<(String, Option<i32>)> {
        let drive = self.command(&self.programs.windlass)?;
        let mut terminal = Terminal::start(drive, command)?;
        let screen = terminal.say(agent::MESSAGE, sitting::LAST_WORDS)?;
        terminal.end()?;
        Ok((screen, Some(0)))
    }

    /// Kills all processes of the agent itself at once, but not Windlass and
    /// its tools.
    pub(super) fn kill_agent(&self) {
        for (pid, command) in self.running() {
            if self.is_agent(&command) {
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    /// Whether a process of Windlass or the agent runs, other than tools and
    /// their holders.
    pub(super) fn is_attended(&self) -> bool {
        let windlass = self.programs.windlass.display().to_string();
        let mut running = self.running().into_iter();
        running.any(|(_, command)| self.is_agent(&command) || command.starts_with(&windlass))
    }

    fn is_agent(&self, command: &str) -> bool {
        command.contains(&*self.installed.folder.to_string_lossy())
    }

    fn said(&self) -> PathBuf {
        self.folder.join("said")
    }

    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// A command in this environment, without the user's own settings.
    fn command(&self, program: &Path) -> anyhow::Result<Command> {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", packages::path_with(&self.programs.node)?)
            .env("HOME", self.home())
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm-256color")
            .env(MARKER, &self.marker);
        Ok(command)
    }

    /// Waits until all processes of the sitting have ended. The remaining ones
    /// are returned and killed. Daemons of the agent itself do not count.
    pub(super) fn clear(&self) -> Vec<String> {
        let is_foreign = |(_, command): &(Pid, String)| !self.is_agent(command);
        let start = Instant::now();
        while start.elapsed() < LEAVING && self.running().iter().any(is_foreign) {
            thread::sleep(PAUSE);
        }
        let left = self.running();
        for (pid, _) in &left {
            // It may have ended meanwhile.
            let _ = kill_process(*pid, Signal::KILL);
        }
        let left = left.into_iter().filter(is_foreign);
        left.map(|(_, command)| command).collect()
    }

    fn running(&self) -> Vec<(Pid, String)> {
        let wanted = format!("{MARKER}={}", self.marker);
        let Ok(processes) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let found = processes.flatten().filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(process.path().join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            variables.find(|variable| *variable == wanted.as_bytes())?;
            let command = fs::read(process.path().join("cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            Some((Pid::from_raw(pid)?, command))
        });
        found.collect()
    }
}

/// The exit status of the agent, if it ended in time.
fn wait(mut child: Child) -> anyhow::Result<Option<ExitStatus>> {
    let start = Instant::now();
    while start.elapsed() < SITTING {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// The scripted model, and its requests.
pub(super) struct Model {
    child: Child,
    url: String,
    /// The bodies of all requests.
    requests: Arc<Mutex<Vec<Value>>>,
    reader: JoinHandle<()>,
}

impl Model {
    pub(super) fn start(stage: &Stage<'_>, script: &Value) -> anyhow::Result<Self> {
        let mut child = Command::new(&stage.programs.model)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run the scripted model")?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the scripted model has no pipes");
        };
        stdin.write_all(script.to_string().as_bytes())?;
        drop(stdin);
        let mut lines = BufReader::new(stdout).lines();
        let url = lines.next().context("the scripted model did not start")??;
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let reader = thread::spawn(move || {
            let lines = lines.map_while(Result::ok);
            let read = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
            for mut request in read {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.push(request["body"].take());
            }
        });
        Ok(Self {
            child,
            url,
            requests,
            reader,
        })
    }

    /// The bodies of all requests so far.
    pub(super) fn requests(&self) -> Vec<Value> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops it, and returns the bodies of all requests.
    pub(super) fn stop(mut self) -> anyhow::Result<Vec<Value>> {
        self.child.kill()?;
        self.child.wait()?;
        let requests = Arc::clone(&self.requests);
        if self.reader.join().is_err() {
            bail!("the requests to the scripted model could not be read");
        }
        let requests = requests.lock();
        Ok(requests.unwrap_or_else(PoisonError::into_inner).clone())
    }
}
