//! `windlass host`: the far end of a link; `windlass hosts`: the machines of the configuration.

use std::io::IsTerminal as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use serde_json::Value;
use tokio::net::unix::pipe;
use windlass::config::{ConfigError, HostConfig, LoadOptions, ProjectTrust};
use windlass::executors::{Launcher, LauncherOptions};
use windlass::host::{
    CarrierAnswer, CarrierAsker, CarrierQuestion, Host, ResourceLimits, ServeOptions,
};
use windlass_process::{Command, Exit, RemoteFuture};
use windlass_protocol::Ask;

use crate::args::{Global, HostsArgs, HostsCommand};
use crate::exit;
use crate::prompt;
use crate::setup;
use crate::signals::Signals;
use crate::stdout::outln;

/// Serves a link on stdin and stdout.
pub(crate) async fn serve() -> anyhow::Result<ExitCode> {
    // If near and far side are the same machine, programs must neither prompt on the carrier's terminal nor end with
    // it.
    windlass::leave_terminal();
    let options = ServeOptions {
        folder: windlass::state_dir().join("hosts"),
        limits: user_limits().map_err(|error| error.to_string()),
        places: windlass::project_places,
    };
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    for pipe in [&input, &output] {
        rustix::io::ioctl_fionbio(pipe, true).context("stdin and stdout must be pipes")?;
    }
    let input = pipe::Receiver::from_owned_fd_unchecked(input);
    let output = pipe::Sender::from_owned_fd_unchecked(output);
    let hint = "`windlass host` is started by a runtime and needs pipes as stdin and stdout";
    let (input, output) = (input.context(hint)?, output.context(hint)?);
    let mut signals = Signals::new()?;
    let stopped = async {
        signals.next().await;
    };
    windlass::host::serve(input, output, options, stopped).await?;
    Ok(ExitCode::SUCCESS)
}

/// The limits of the user's own configuration for every tool.
pub(crate) fn user_limits() -> Result<ResourceLimits, ConfigError> {
    let options = LoadOptions {
        trust: ProjectTrust::Unsaid,
        ..LoadOptions::for_process("/")
    };
    let config = windlass::config::load(&options)?;
    Ok(config.defaults.limits)
}

/// Lists the hosts, or checks one.
pub(crate) async fn list(global: &Global, args: HostsArgs) -> anyhow::Result<ExitCode> {
    let config = setup::config(global)?;
    match args.command {
        None => {
            if config.hosts.is_empty() {
                outln!("There are no hosts; add [hosts.NAME] with `via` to the configuration.")?;
            }
            for host in &config.hosts {
                outln!("{}  {}{}", host.name, host.way(), labels(host))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(HostsCommand::Check { name }) => {
            let host = config.hosts.iter().find(|host| host.name == name);
            let host = host.with_context(|| unknown_host(&name, &config.hosts))?;
            #[cfg(feature = "nats")]
            if let Some(pool) = &host.pool {
                return crate::workers::check(host, pool, &config.root).await;
            }
            check(host, &config.root).await
        }
    }
}

fn unknown_host(name: &str, hosts: &[HostConfig]) -> String {
    let names: Vec<String> = hosts.iter().map(|it| format!("`{}`", it.name)).collect();
    let others = match names.as_slice() {
        [] => String::new(),
        names => format!(", or choose one of {}", names.join(", ")),
    };
    format!("there is no host `{name}`; add [hosts.{name}] with `via`{others}")
}

fn labels(host: &HostConfig) -> String {
    if host.labels.is_empty() {
        String::new()
    } else {
        format!("  [{}]", host.labels.join(", "))
    }
}

/// A note on a different version of the program.
fn skew(version: &str) -> String {
    let own = env!("CARGO_PKG_VERSION");
    if version == own {
        String::new()
    } else {
        format!(" (this machine has {own}; the two are compatible)")
    }
}

/// Connects to a host, and reports what works there.
async fn check(host: &HostConfig, root: &Path) -> anyhow::Result<ExitCode> {
    let link = Host::new(windlass::host_options(host, root), None)?;
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        link.ask_through(Arc::new(TerminalAsker));
    }
    let begun = Instant::now();
    let asks = ["sh", "git", "python3"].map(str::to_owned).to_vec();
    let machine = match link.connect(asks).await {
        Ok(machine) => machine,
        Err(error) => {
            outln!("host `{}`: {error}", host.name)?;
            return Ok(ExitCode::from(exit::FAILED));
        }
    };
    outln!(
        "host `{}` replied after {} ms",
        host.name,
        begun.elapsed().as_millis()
    )?;
    outln!(
        "machine   {} ({} {}), {} CPUs, {} MiB",
        machine.machine,
        machine.os,
        machine.arch,
        machine.cpus,
        machine.memory >> 20
    )?;
    outln!(
        "load      {}.{:02}",
        machine.load / 1000,
        machine.load % 1000 / 10
    )?;
    outln!("windlass  {}{}", machine.program, skew(&machine.program))?;
    match link.was_copied() {
        None => {}
        Some(true) => outln!("install   this program was copied there")?,
        Some(false) => outln!("install   this program was there already")?,
    }
    outln!("home      {}", machine.home)?;
    outln!(
        "root      {}",
        host.root.as_deref().unwrap_or("the same as here")
    )?;
    outln!("lease     {} s", host.lease.as_secs())?;
    if machine.holds_trees {
        outln!("kept      handles can outlive this runtime there")?;
    } else {
        outln!("kept      not supported: programs end with the link (Linux is required)")?;
    }
    let mut missing = machine.sandbox.iter().filter(|(enforced, _)| !enforced);
    match missing.next() {
        None => outln!("sandbox   fully enforced")?,
        Some((_, first)) => {
            outln!("sandbox   not enforced: {first}")?;
            for (_, part) in missing {
                outln!("          not enforced: {part}")?;
            }
        }
    }
    for (program, file) in &machine.programs {
        outln!("{program:<8}  {}", file.as_deref().unwrap_or("not found"))?;
    }
    match run_there(&link, root).await {
        Ok(()) => {
            outln!("tools     can run there")?;
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => {
            outln!("tools     cannot run there: {why}")?;
            Ok(ExitCode::from(exit::FAILED))
        }
    }
}

/// Runs a program in the project's folder there; the error is the reason why it did not run.
async fn run_there(link: &Host, project: &Path) -> anyhow::Result<()> {
    let launcher = Launcher::new(LauncherOptions::default())?.on_host(Arc::new(link.clone()));
    let shell = Command::new("sh").args(["-c", ":"]).cwd(project);
    match launcher.start(shell).await?.wait().await {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => anyhow::bail!("`sh` exited with code {code}"),
        Exit::Signal(signal) => anyhow::bail!("`sh` was ended by signal {signal}"),
        Exit::Lost(why) => anyhow::bail!(why),
    }
}

/// Asks a carrier's questions on the terminal.
struct TerminalAsker;

impl CarrierAsker for TerminalAsker {
    fn ask(&self, question: CarrierQuestion) -> RemoteFuture<'_, CarrierAnswer> {
        Box::pin(async move {
            let ask = Ask {
                ask: String::from("carrier"),
                call: None,
                handle: None,
                tool: format!("host {}", question.host),
                question: windlass::carrier_question(question),
                content: None,
                form: None,
                rendering: None,
            };
            match prompt::ask(&ask).await {
                Some(Value::String(line)) => CarrierAnswer::Typed(line),
                _ => CarrierAnswer::Declined(String::from("the question was dismissed")),
            }
        })
    }

    fn is_wanted(&self) -> bool {
        true
    }
}
