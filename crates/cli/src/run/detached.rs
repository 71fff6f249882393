//! `windlass run -d`: a command for the running server, with this folder and
//! environment.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use windlass_control::Peer;
use windlass_protocol::{NewSession, SessionBegun};

use super::{default_id, shell_line};
use crate::args::{Global, RunArgs};
use crate::print::Printer;
use crate::{person, reach};

/// The server ends a session that has had no requests for this long.
const IDLE_SECS: u64 = 30 * 86_400;

pub(super) async fn run(global: &Global, args: &RunArgs) -> anyhow::Result<ExitCode> {
    person::only("run -d")?;
    let runtimes = reach::runtimes().await?;
    let Some(peer) = runtimes.iter().find(|peer| peer.front_end == "serve") else {
        bail!("no server is running; start `windlass serve`, or leave out `-d`");
    };
    person::sees(peer, "run -d").await?;
    let id = match &args.id {
        Some(id) => id.clone(),
        None => default_id(&args.command),
    };
    let new = NewSession {
        trusted: true,
        idle_secs: Some(IDLE_SECS),
    };
    let begun = peer.post("/api/v1/sessions", &new).await?;
    let begun: SessionBegun =
        serde_json::from_slice(&begun).context("the server's reply cannot be read")?;
    let session = begun.id;
    let spawned = spawn(peer, session.as_str(), &id, args).await;
    if let Err(error) = spawned {
        let _ = peer.delete(&format!("/api/v1/sessions/{session}")).await;
        return Err(error);
    }
    let short = reach::short(session.as_str());
    Printer::new(global).outcome(
        &json!({"session": session, "handle": id, "pid": peer.pid}),
        format!(
            "`{id}` runs in `windlass serve` (pid {}); `windlass logs -f {short}/{id}` follows it, \
             `windlass kill {short}/{id}` ends it",
            peer.pid
        ),
    )?;
    Ok(ExitCode::SUCCESS)
}

async fn spawn(peer: &Peer, session: &str, id: &str, args: &RunArgs) -> anyhow::Result<()> {
    let (set, unset) = difference(peer.pid);
    let mut command = format!("exec {}", shell_line(&args.command)?);
    if !unset.is_empty() {
        command = format!("unset {}; {command}", unset.join(" "));
    }
    let call = json!([{"tool": "shell", "arguments": {
        "action": "spawn",
        "id": id,
        "command": command,
        "cwd": std::env::current_dir()?,
        "env": set,
        "terminal": args.terminal,
    }}]);
    let path = format!("/api/v1/sessions/{session}/calls");
    let reply = peer.post(&path, &call).await?;
    let reply: Value =
        serde_json::from_slice(&reply).context("the server's reply cannot be read")?;
    let reply = &reply["replies"][0];
    if reply["is_error"] == json!(true) {
        bail!("{}", reply["content"].as_str().unwrap_or("it was refused"));
    }
    Ok(())
}

/// The variables of this process that the server does not have, and those of
/// the server that this process does not have.
fn difference(pid: u32) -> (BTreeMap<String, String>, Vec<String>) {
    let theirs = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let theirs: BTreeMap<String, String> = theirs
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let entry = std::str::from_utf8(entry).ok()?;
            let (name, value) = entry.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect();
    let ours: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let is_name = |name: &String| {
        let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        !name.is_empty()
            && !name.starts_with(|letter: char| letter.is_ascii_digit())
            && name.chars().all(word)
    };
    let unset = theirs
        .keys()
        .filter(|name| !ours.contains_key(*name) && is_name(name));
    let unset = unset.cloned().collect();
    let set = ours.into_iter();
    let set = set
        .filter(|(name, value)| theirs.get(name) != Some(value))
        .collect();
    (set, unset)
}
