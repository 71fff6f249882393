//! `windlass host`: the far end of a link; `windlass hosts`: the machines of the configuration.

use std::os::fd::AsFd as _;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::net::unix::pipe;
use windlass::config::{ConfigError, HostConfig, LoadOptions, ProjectTrust};
use windlass::host::{ResourceLimits, ServeOptions, UnknownLimits};

use crate::args::{Global, HostArgs, HostsArgs, HostsCommand};
use crate::host_check;
use crate::setup;
use crate::signals::Signals;
use crate::stdout::outln;

/// Serves a link on stdin and stdout.
pub(crate) async fn serve(args: HostArgs) -> anyhow::Result<ExitCode> {
    // If near and far side are the same machine, programs must neither prompt on the carrier's terminal nor end with
    // it.
    windlass::leave_terminal();
    let options = ServeOptions {
        folder: windlass::state_dir().join("hosts"),
        limits: user_limits().map_err(|error| UnknownLimits {
            why: error.to_string(),
        }),
        labels: args.labels,
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
        None if global.json => {
            let hosts: Vec<Value> = config.hosts.iter().map(host_json).collect();
            outln!("{}", json!(hosts))?;
            Ok(ExitCode::SUCCESS)
        }
        None => {
            if config.hosts.is_empty() {
                outln!("There are no hosts; add [hosts.NAME] with `via` to the configuration.")?;
            }
            for host in &config.hosts {
                outln!("{}  {}{}", host.name, host.way(), labels(host))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(HostsCommand::Check { name, programs }) => {
            let host = config.hosts.iter().find(|host| host.name == name);
            let host = host.with_context(|| unknown_host(&name, &config.hosts))?;
            #[cfg(feature = "nats")]
            if let Some(pool) = &host.pool {
                if let Some(program) = programs.first() {
                    anyhow::bail!(
                        "host `{name}` is a pool, so `{program}` cannot be looked for; give its workers a label for it"
                    );
                }
                return crate::pool_check::check(host, pool, &config.root, global.json).await;
            }
            host_check::check(host, &config.root, &programs, global.json).await
        }
    }
}

/// A host of the configuration, for programs.
fn host_json(host: &HostConfig) -> Value {
    json!({
        "name": host.name,
        "way": host.way(),
        "pool": host.pool.as_ref().map(|pool| &pool.pool),
        "labels": host.labels,
        "root": host.root,
        "lease_secs": host.lease.as_secs(),
    })
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
