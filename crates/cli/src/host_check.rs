//! `windlass hosts check`: connects to a host and reports what works there.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass::config::HostConfig;
use windlass::executors::{Launcher, LauncherOptions};
use windlass::host::{CarrierAnswer, CarrierAsker, CarrierQuestion, FarHello, Host};
use windlass_process::{Command, Exit, RemoteFuture};
use windlass_protocol::Ask;

use crate::exit;
use crate::prompt;
use crate::stdout::outln;

/// The programs that every check looks for.
const PROGRAMS: [&str; 3] = ["sh", "git", "python3"];

/// Connects to a host that is reached by a command, and reports what works there. These programs are looked for, too.
pub(crate) async fn check(
    host: &HostConfig,
    root: &Path,
    programs: &[String],
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let link = Host::new(windlass::host_options(host, root), None)?;
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        link.ask_through(Arc::new(TerminalAsker));
    }
    let begun = Instant::now();
    let mut asks = PROGRAMS.map(str::to_owned).to_vec();
    for program in programs {
        if !asks.contains(program) {
            asks.push(program.clone());
        }
    }
    let machine = match link.connect(asks).await {
        Ok(machine) => machine,
        Err(error) => return unreached(host, &error.to_string(), is_json),
    };
    let report = HostReport {
        host,
        replied: begun.elapsed(),
        machine,
        copied: link.was_copied(),
        problem: run_there(&link, root).await.err(),
    };
    if is_json {
        outln!("{}", report.json())?;
    } else {
        report.print()?;
    }
    Ok(match report.problem {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::from(exit::FAILED),
    })
}

/// Reports that a host cannot be reached.
pub(crate) fn unreached(host: &HostConfig, error: &str, is_json: bool) -> anyhow::Result<ExitCode> {
    if is_json {
        let report = json!({"host": host.name, "works": false, "error": error});
        outln!("{report}")?;
    } else {
        outln!("host `{}`: {error}", host.name)?;
    }
    Ok(ExitCode::from(exit::FAILED))
}

/// The result of a check.
struct HostReport<'a> {
    host: &'a HostConfig,
    /// The time until the host replied.
    replied: Duration,
    machine: FarHello,
    /// Whether this program was copied there, if it is installed.
    copied: Option<bool>,
    /// Why tools cannot run there.
    problem: Option<anyhow::Error>,
}

impl HostReport<'_> {
    fn json(&self) -> Value {
        let Self { host, machine, .. } = self;
        let programs = machine.programs.iter();
        let sandbox = machine.sandbox.iter();
        json!({
            "host": host.name,
            "works": self.problem.is_none(),
            "error": self.problem.as_ref().map(|problem| format!("{problem:#}")),
            "replied_ms": u64::try_from(self.replied.as_millis()).unwrap_or(u64::MAX),
            "machine": {
                "name": machine.machine,
                "os": machine.os,
                "arch": machine.arch,
                "cpus": machine.cpus,
                "memory": machine.memory,
                "load": machine.load,
                "home": machine.home,
                "labels": machine.labels,
            },
            "labels": host.labels,
            "version": machine.program,
            "copied": self.copied,
            "root": host.root,
            "lease_secs": host.lease.as_secs(),
            "keeps_handles": machine.holds_trees,
            "sandbox": sandbox
                .map(|(is_enforced, part)| json!({"part": part, "enforced": is_enforced}))
                .collect::<Vec<_>>(),
            "programs": programs
                .map(|(program, file)| json!({"program": program, "file": file}))
                .collect::<Vec<_>>(),
        })
    }

    fn print(&self) -> anyhow::Result<()> {
        let Self { host, machine, .. } = self;
        let replied = self.replied.as_millis();
        outln!("host `{}` replied after {replied} ms", host.name)?;
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
        outln!("labels    {}", self.labels())?;
        outln!("windlass  {}{}", machine.program, skew(&machine.program))?;
        match self.copied {
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
        match &self.problem {
            None => outln!("tools     can run there")?,
            Some(why) => outln!("tools     cannot run there: {why}")?,
        }
        Ok(())
    }

    /// The labels of the configuration and those of the machine.
    fn labels(&self) -> String {
        let groups = [
            ("configured", &self.host.labels),
            ("set there", &self.machine.labels),
        ];
        let groups = groups.iter().filter(|(_, labels)| !labels.is_empty());
        let texts: Vec<String> = groups
            .map(|(origin, labels)| format!("{origin}: {}", labels.join(", ")))
            .collect();
        if texts.is_empty() {
            return String::from("none");
        }
        texts.join("; ")
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
