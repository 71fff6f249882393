//! `windlass permissions pending` and `reply`: what waits for a person in any
//! session of this machine.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;
use windlass_protocol::{PermissionAnswer, PermissionReply, PermissionRequest, RequestRendering};
use windlass_serve_http::PeerError;

use crate::args::{Reply, ReplyArgs};
use crate::stdout::{errln, outln};
use crate::{person, questions, reach};

pub(crate) async fn pending(as_json: bool) -> anyhow::Result<ExitCode> {
    let waiting = waiting().await?;
    if waiting.is_empty() && !as_json {
        outln!("No permission is being asked for.")?;
    }
    for request in waiting {
        if as_json {
            outln!("{}", json!(request))?;
            continue;
        }
        let rendering = RequestRendering::of_permission(&request);
        let id = &request.id;
        outln!("{id}  {}", rendering.title)?;
        for line in rendering.details().lines() {
            outln!("  {line}")?;
        }
        outln!("    windlass permissions reply {id} once|always|reject")?;
    }
    questions::list_trust(as_json).await?;
    Ok(ExitCode::SUCCESS)
}

/// Says that permissions wait for a reply, where any do.
pub(crate) async fn remind() {
    let waiting = waiting().await.map_or(0, |waiting| waiting.len());
    if waiting > 0 {
        errln!(
            "windlass: your reply is waited for ({waiting}); `windlass permissions pending` lists what is asked"
        );
    }
}

/// The permissions that wait for a reply, in every runtime.
async fn waiting() -> anyhow::Result<Vec<PermissionRequest>> {
    let mut waiting = Vec::new();
    for peer in reach::runtimes().await? {
        // One that ends meanwhile asks for nothing any more.
        let requests = peer.get("/api/v1/permissions").await;
        waiting.extend(requests.unwrap_or_else(|_| Vec::<PermissionRequest>::new()));
    }
    Ok(waiting)
}

pub(crate) async fn reply(args: ReplyArgs) -> anyhow::Result<ExitCode> {
    person::only("permissions reply")?;
    let body = PermissionAnswer {
        reply: match args.reply {
            Reply::Once => PermissionReply::Once,
            Reply::Always => PermissionReply::Always,
            Reply::Reject => PermissionReply::Reject,
        },
        message: args.message,
        arguments: None,
    };
    let id = &args.permission;
    if !id
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || character == '_')
    {
        bail!(
            "`{id}` is not a permission's id; `windlass permissions pending` lists those that wait"
        );
    }
    if id.starts_with("q_") {
        bail!("`{id}` is a question; answer it with `windlass answer {id}`");
    }
    let path = format!("/api/v1/permissions/{id}");
    for peer in reach::runtimes().await? {
        person::sees(&peer, "permissions reply").await?;
        match peer.post(&path, &body).await {
            Ok(_) => return Ok(ExitCode::SUCCESS),
            Err(PeerError::Refused { status, .. }) if status.as_u16() == 404 => {}
            Err(PeerError::Unreachable(..)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!("no permission `{id}` is being asked for; it may have been answered elsewhere")
}
