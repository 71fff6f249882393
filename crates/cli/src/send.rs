//! `windlass send` and `windlass kill`: a person's hand on a handle.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::Value;
use windlass_protocol::{PersonInput, Typing};

use crate::args::{KillArgs, SendArgs};
use crate::stdout::{errln, outln};
use crate::{person, reach};

pub(crate) async fn run(args: SendArgs) -> anyhow::Result<ExitCode> {
    person::only("send")?;
    let target = reach::find(&args.handle).await?;
    person::sees(&target.peer, "send").await?;
    let typing = Typing {
        input: args.text.map(Value::String),
        enter: !args.no_enter,
        keys: args.key,
    };
    let input = PersonInput {
        typing: Some(typing),
        ..PersonInput::default()
    };
    target.peer.post(&target.path("/input"), &input).await?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn kill(args: KillArgs) -> anyhow::Result<ExitCode> {
    person::only("kill")?;
    let target = reach::find(&args.handle).await?;
    person::sees(&target.peer, "kill").await?;
    let receipt = target.peer.post(&target.path("/abort"), &()).await?;
    let receipt: Value =
        serde_json::from_slice(&receipt).context("the receipt is not understood")?;
    let survivors = receipt["survivors"].as_array().map_or(0, Vec::len);
    outln!("{}: ended {}", target.handle.id, receipt["ended"])?;
    if survivors > 0 {
        errln!("windlass: could not end {}", receipt["survivors"]);
        return Ok(ExitCode::from(crate::exit::FAILED));
    }
    Ok(ExitCode::SUCCESS)
}
