//! `windlass send` and `windlass kill`: input to handles, and their end.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};
use windlass_control::PeerError;
use windlass_kept::SurveyedHandle;
use windlass_protocol::{HandleState, PersonInput, Typing};

use crate::args::{Global, KillArgs, SendArgs};
use crate::print::{self, Listing, Printer, Tone, cell, column};
use crate::reach::{self, HandleTarget};
use crate::{exit, held, person};

pub(crate) async fn run(global: &Global, args: SendArgs) -> anyhow::Result<ExitCode> {
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
    if global.json {
        let sent = json!({"session": target.session.id, "handle": target.handle.id});
        print::json(&sent)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn kill(global: &Global, args: KillArgs) -> anyhow::Result<ExitCode> {
    person::only("kill")?;
    let mut targets = Vec::new();
    let mut held_targets = Vec::new();
    if args.all {
        let all = reach::all().await?.into_iter();
        targets.extend(all.filter(|target| target.handle.state != HandleState::Stopped));
    }
    for handle in &args.handles {
        match reach::find(handle).await {
            Ok(target) => targets.push(target),
            Err(error) => held_targets.push(held::find(handle).await?.ok_or(error)?),
        }
    }
    if args.all {
        held_targets.extend(held::all().await?);
    }
    for target in &targets {
        person::sees(&target.peer, "kill").await?;
    }
    let printer = Printer::new(global);
    let columns = [
        column("HANDLE").cut_to(8),
        column("SESSION"),
        column("OUTCOME").cut_to(20),
    ];
    let mut listing = Listing::new(columns, "Nothing is running, so nothing was ended.");
    let mut receipts = Vec::new();
    let mut failed = false;
    for target in &targets {
        let ended = end(target).await;
        let (text, tone) = match &ended {
            Ok(receipt) if survivors(receipt) > 0 => {
                (format!("could not end {}", receipt["survivors"]), Tone::Bad)
            }
            Ok(receipt) => (processes(&receipt["ended"]), Tone::Plain),
            Err(error) => (format!("{error:#}"), Tone::Bad),
        };
        failed |= tone == Tone::Bad;
        receipts.push(match ended {
            Ok(receipt) => json!({
                "session": target.session.id, "handle": target.handle.id,
                "ended": receipt["ended"], "survivors": receipt["survivors"],
            }),
            Err(error) => json!({
                "session": target.session.id, "handle": target.handle.id,
                "error": format!("{error:#}"),
            }),
        });
        let session = reach::short(target.session.id.as_str());
        listing.row([
            cell(target.handle.id.as_str()),
            cell(session),
            cell(text).tone(tone),
        ]);
    }
    for kept in &held_targets {
        let (text, receipt, tone) = end_held(global, kept).await;
        failed |= tone == Tone::Bad;
        receipts.push(receipt);
        listing.row([
            cell(kept.handle.handle.as_str()),
            cell(reach::short(kept.handle.session.as_str())),
            cell(text).tone(tone),
        ]);
    }
    printer.list(receipts, &listing)?;
    Ok(if failed {
        ExitCode::from(exit::FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// Ends a handle that is held without a runtime; returns the outcome as text
/// and as a value.
async fn end_held(global: &Global, kept: &SurveyedHandle) -> (String, Value, Tone) {
    let (session, handle) = (&kept.handle.session, &kept.handle.handle);
    match held::end(global, kept).await {
        Ok(receipt) => {
            let value = json!({
                "session": session, "handle": handle,
                "ended": receipt.ended, "survivors": receipt.survivors,
            });
            if receipt.survivors.is_empty() {
                (processes(&json!(receipt.ended)), value, Tone::Plain)
            } else {
                let text = format!("could not end {:?}", receipt.survivors);
                (text, value, Tone::Bad)
            }
        }
        Err(error) => {
            let text = format!("{error:#}");
            let value = json!({"session": session, "handle": handle, "error": text});
            (text, value, Tone::Bad)
        }
    }
}

/// Ends a handle; returns the receipt. A runtime that ends with its handle,
/// such as `windlass run`, may not reply.
async fn end(target: &HandleTarget) -> anyhow::Result<Value> {
    match target.peer.post(&target.path("/abort"), &()).await {
        Ok(receipt) => serde_json::from_slice(&receipt).context("the reply cannot be read"),
        Err(PeerError::Broken(_) | PeerError::Unreachable(..)) if has_gone(target).await => {
            Ok(json!({"ended": null, "survivors": []}))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the handle's runtime has ended.
async fn has_gone(target: &HandleTarget) -> bool {
    let runtimes = reach::runtimes().await.unwrap_or_default();
    !runtimes.iter().any(|peer| peer.pid == target.peer.pid)
}

fn survivors(receipt: &Value) -> usize {
    receipt["survivors"].as_array().map_or(0, Vec::len)
}

/// The outcome of an end, from the number of processes in a receipt.
pub(crate) fn processes(ended: &Value) -> String {
    match ended.as_u64() {
        Some(0) => "had ended already".to_owned(),
        Some(1) => "ended 1 process".to_owned(),
        None => "ended, and its runtime with it".to_owned(),
        _ => format!("ended {ended} processes"),
    }
}
