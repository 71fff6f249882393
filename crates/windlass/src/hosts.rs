//! The machines that a configuration's tools run on.
//!
//! Start at [`Hosts::place`]: it returns the executor of a tool on its host. A
//! tool with `host` runs there. A tool with `hosts` gets an argument by which
//! the assistant chooses; without it, the tool runs on this machine.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use windlass_config::{Config, HostConfig, ToolConfig};
use windlass_executors::Launcher;
use windlass_host::{CarrierAnswer, CarrierAsker, CarrierQuestion, Host, HostOptions};
use windlass_process::{RemoteFuture, RemoteHost, RemotePlace};
use windlass_runtime::protocol::{AnswerType, Arguments, Question, ToolError};
use windlass_runtime::{
    AdoptError, Answered, Executor, Job, JobDescription, Reporter, Start, Subject, SubjectPattern,
    ToolDefinition,
};

use windlass_sandbox::UnresolvedSandbox;

use crate::environment::Environment;
use crate::pools;

/// The argument by which an assistant chooses a host.
const ARGUMENT: &str = "host";

/// A tool cannot run on its host.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaceError {
    #[error("its host `{name}` is not configured; add [hosts.{name}] with `via`")]
    NoHost { name: String },
    #[error(
        "it has its own parameter `host`, so `hosts` cannot add one; choose the host with `host`"
    )]
    OwnParameter,
}

/// A configured host.
pub(crate) struct ConfiguredHost {
    pub(crate) config: HostConfig,
    /// Starts programs there.
    remote: Arc<dyn RemoteHost>,
    /// The same host, if it is reached by a command, which may ask questions.
    pub(crate) carrier: Option<Host>,
}

/// The hosts of a configuration. A link is made only when a tool needs it.
pub(crate) struct Hosts {
    hosts: Vec<ConfiguredHost>,
}

impl Hosts {
    pub(crate) fn of(config: &Config, environment: &Environment) -> io::Result<Self> {
        let host = |host: &HostConfig| {
            let (remote, carrier) = if let Some(pool) = &host.pool {
                (pools::pool(host, pool, &config.root)?, None)
            } else {
                let options = host_options(host, &config.root);
                let host = Host::new(options, Some(environment.usual()))?;
                let remote: Arc<dyn RemoteHost> = Arc::new(host.clone());
                (remote, Some(host))
            };
            Ok(ConfiguredHost {
                config: host.clone(),
                remote,
                carrier,
            })
        };
        Ok(Self {
            hosts: config.hosts.iter().map(host).collect::<io::Result<_>>()?,
        })
    }

    pub(crate) fn all(&self) -> &[ConfiguredHost] {
        &self.hosts
    }

    /// The host on which a kept program runs.
    pub(crate) fn having(&self, place: &RemotePlace) -> Option<&Arc<dyn RemoteHost>> {
        let mut remotes = self.hosts.iter().map(|host| &host.remote);
        remotes.find(|remote| remote.has_place(place))
    }

    fn get(&self, name: &str) -> Result<&ConfiguredHost, PlaceError> {
        let found = self.hosts.iter().find(|host| host.config.name == name);
        found.ok_or_else(|| PlaceError::NoHost {
            name: name.to_owned(),
        })
    }

    /// The executor of a tool, created by `make` for a launcher. The definition
    /// gets the argument that chooses a host.
    pub(crate) fn place(
        &self,
        tool: &ToolConfig,
        launcher: Launcher,
        definition: &mut ToolDefinition,
        make: impl Fn(Launcher) -> Arc<dyn Executor>,
    ) -> Result<Arc<dyn Executor>, PlaceError> {
        let there = |name: &String| {
            let host = self.get(name)?;
            let mut launcher = launcher.on_host(Arc::clone(&host.remote));
            if launcher.confinement().is_some() {
                launcher = launcher.confined_on_host(UnresolvedSandbox {
                    settings: tool.settings.sandbox.clone().unwrap_or_default(),
                    bound: tool.settings.sandbox_floor.clone(),
                });
            }
            Ok(Arc::new(HostedTool {
                name: name.clone(),
                carrier: host.carrier.clone(),
                executor: make(launcher),
            }))
        };
        if let Some(name) = &tool.settings.host {
            return there(name).map(|tool| tool as _);
        }
        if tool.settings.hosts.is_empty() {
            return Ok(make(launcher));
        }
        let properties = &mut definition.shape.parameters.properties;
        if properties.contains_key(ARGUMENT) {
            return Err(PlaceError::OwnParameter);
        }
        let choices = tool.settings.hosts.iter().map(|name| self.get(name));
        let choices: Vec<_> = choices.collect::<Result<_, _>>()?;
        properties.insert(ARGUMENT.to_owned(), argument(&choices));
        let there: Result<_, PlaceError> = tool.settings.hosts.iter().map(there).collect();
        Ok(Arc::new(HostChoice {
            here: make(launcher.clone()),
            there: there?,
        }))
    }
}

/// The options of a configured host, for a project.
pub fn host_options(host: &HostConfig, project: &Path) -> HostOptions {
    let via = host.carrier().into_iter().map(Into::into).collect();
    // One that has no file cannot be installed, which the attempt says.
    let own = || std::env::current_exe().unwrap_or_default();
    HostOptions {
        install: host.install.then(own),
        root: host.root.as_ref().map(Into::into),
        lease: host.lease,
        heartbeat: host.heartbeat,
        ..HostOptions::new(&host.name, via, project)
    }
}

/// The schema of the argument that chooses a host.
fn argument(choices: &[&ConfiguredHost]) -> Value {
    let choices = || choices.iter().map(|host| &host.config);
    let names: Vec<&str> = choices().map(|host| host.name.as_str()).collect();
    let described: Vec<String> = choices()
        .map(|host| {
            if host.labels.is_empty() {
                host.name.clone()
            } else {
                format!("{} ({})", host.name, host.labels.join(", "))
            }
        })
        .collect();
    let description = format!("Runs there: {}. Default: here", described.join("; "));
    json!({"type": "string", "enum": names, "description": description})
}

/// The pattern by which rules speak of a host.
fn add_host(mut subject: Subject, host: &str) -> Subject {
    let pattern = format!("host:{host}");
    subject.patterns.push(SubjectPattern::from(pattern.clone()));
    if !subject.always.is_empty() {
        subject.always.push(pattern);
    }
    subject
}

/// The question of a carrier, for front ends.
pub fn carrier_question(asked: CarrierQuestion) -> Question {
    let CarrierQuestion {
        host,
        program,
        before,
        text,
        is_secret,
    } = asked;
    let lead = format!("To reach host `{host}`, `{program}` asks:");
    let lines = [lead, before].into_iter().filter(|line| !line.is_empty());
    Question {
        id: String::from("carrier"),
        text,
        pre_amble: Some(lines.collect::<Vec<_>>().join("\n")),
        answer_type: AnswerType::Text,
        default: None,
        secret: is_secret,
    }
}

/// Puts a carrier's questions to the person of the session in which a tool is
/// being started.
struct SessionAsker(Reporter);

impl CarrierAsker for SessionAsker {
    fn ask(&self, question: CarrierQuestion) -> RemoteFuture<'_, CarrierAnswer> {
        Box::pin(async move {
            match self.0.ask_person(carrier_question(question)).await {
                Answered::With(Value::String(line)) => CarrierAnswer::Typed(line),
                Answered::With(_) | Answered::Nobody => CarrierAnswer::Nobody,
                Answered::Declined(why) => CarrierAnswer::Declined(why),
            }
        })
    }

    fn is_wanted(&self) -> bool {
        self.0.is_wanted()
    }
}

/// A tool that runs on one host.
struct HostedTool {
    name: String,
    /// Set if the connection to the host may ask a person.
    carrier: Option<Host>,
    executor: Arc<dyn Executor>,
}

impl HostedTool {
    fn ask_through(&self, reporter: &Reporter) {
        if let Some(carrier) = &self.carrier {
            carrier.ask_through(Arc::new(SessionAsker(reporter.clone())));
        }
    }
}

#[async_trait]
impl Executor for HostedTool {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        self.ask_through(&reporter);
        self.executor.start(start, reporter).await
    }

    async fn adopt(
        &self,
        running: JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError> {
        self.ask_through(&reporter);
        self.executor.adopt(running, reporter).await
    }

    fn keeps(&self) -> bool {
        self.executor.keeps()
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> Subject {
        add_host(self.executor.subject(tool, args, root), &self.name)
    }

    fn title(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> String {
        self.executor.title(tool, args, root)
    }

    async fn format_arguments(&self, start: Start) -> Option<String> {
        self.executor.format_arguments(start).await
    }

    fn timeout(&self, args: &Arguments) -> Option<Duration> {
        self.executor.timeout(args)
    }
}

/// A tool that runs here or on one of several hosts.
struct HostChoice {
    here: Arc<dyn Executor>,
    there: Vec<Arc<HostedTool>>,
}

impl HostChoice {
    /// The executor that the arguments choose. A remote one adds its host to
    /// subjects.
    fn chosen(&self, args: &Arguments) -> Arc<dyn Executor> {
        let name = args.get(ARGUMENT).and_then(Value::as_str);
        let mut there = self.there.iter();
        let found = there.find(|tool| Some(tool.name.as_str()) == name);
        found.map_or_else(|| Arc::clone(&self.here), |tool| Arc::clone(tool) as _)
    }
}

/// The arguments without the choice of a host, which the tool itself does not
/// know.
fn without_host(args: &Arguments) -> Arguments {
    let mut args = args.clone();
    args.shift_remove(ARGUMENT);
    args
}

fn here_start(start: Start) -> Start {
    Start {
        args: without_host(&start.args),
        ..start
    }
}

#[async_trait]
impl Executor for HostChoice {
    async fn start(&self, start: Start, reporter: Reporter) -> Result<Arc<dyn Job>, ToolError> {
        let executor = self.chosen(&start.args);
        executor.start(here_start(start), reporter).await
    }

    async fn adopt(
        &self,
        mut running: JobDescription,
        reporter: Reporter,
    ) -> Result<Arc<dyn Job>, AdoptError> {
        let executor = self.chosen(&running.start.args);
        running.start = here_start(running.start);
        executor.adopt(running, reporter).await
    }

    fn keeps(&self) -> bool {
        self.here.keeps()
    }

    fn subject(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> Subject {
        self.chosen(args).subject(tool, &without_host(args), root)
    }

    fn title(&self, tool: &ToolDefinition, args: &Arguments, root: &Path) -> String {
        let executor = self.chosen(args);
        executor.title(tool, &without_host(args), root)
    }

    async fn format_arguments(&self, start: Start) -> Option<String> {
        let executor = self.chosen(&start.args);
        executor.format_arguments(here_start(start)).await
    }

    fn timeout(&self, args: &Arguments) -> Option<Duration> {
        self.chosen(args).timeout(args)
    }
}
