//! `windlass permissions pending` and `reply`: open permission requests of all
//! sessions on this machine.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;
use windlass_control::PeerError;
use windlass_protocol::{PermissionAnswer, PermissionReply, PermissionRequest, RequestRendering};

use crate::args::{ReplyArgs, ReplyChoice};
use crate::print::{self, Printer, cell};
use crate::reach::{self, NoSuchId};
use crate::stdout::errln;
use crate::{person, questions};

pub(crate) async fn pending(printer: Printer) -> anyhow::Result<ExitCode> {
    let waiting = waiting().await?;
    let trust = questions::asking_trust().await?;
    let mut listing = questions::listing(
        "No permission request is open. Calls that no rule allows need your permission; `windlass \
         permissions` lists the rules.",
    );
    for request in &waiting {
        let rendering = RequestRendering::of_permission(request);
        let id = reach::short(request.id.as_str());
        listing.row([
            cell(id),
            cell(reach::short(request.session_id.as_str())),
            cell(&request.permission),
            cell(format!("{} {}", rendering.title, rendering.body.join(" "))),
        ]);
        listing.note(format!("\n{id}  {}", rendering.title));
        let details = rendering.details();
        listing.note(indented(&details));
        listing.note(format!(
            "    windlass permissions reply {id} once|always|reject"
        ));
    }
    questions::add(&mut listing, &trust);
    let mut values = json!(waiting).as_array().cloned().unwrap_or_default();
    values.extend(trust.iter().map(|open| json!(open)));
    printer.list(values, &listing)?;
    Ok(ExitCode::SUCCESS)
}

/// The lines of a text, indented.
pub(crate) fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| format!("  {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Reports whether permissions wait for a reply.
pub(crate) async fn remind() {
    let waiting = waiting().await.map_or(0, |waiting| waiting.len());
    if waiting > 0 {
        errln!(
            "windlass: waiting for your reply ({waiting}); `windlass permissions pending` lists \
             the requests"
        );
    }
}

/// The permissions that wait for a reply, in every runtime.
pub(crate) async fn waiting() -> anyhow::Result<Vec<PermissionRequest>> {
    let mut waiting = Vec::new();
    for peer in reach::runtimes().await? {
        // A runtime that ends meanwhile has no requests.
        let requests = peer.get("/api/v1/permissions").await;
        waiting.extend(requests.unwrap_or_else(|_| Vec::<PermissionRequest>::new()));
    }
    Ok(waiting)
}

pub(crate) async fn reply(printer: Printer, args: ReplyArgs) -> anyhow::Result<ExitCode> {
    person::only("permissions reply")?;
    let body = PermissionAnswer {
        reply: match args.reply {
            ReplyChoice::Once => PermissionReply::Once,
            ReplyChoice::Always => PermissionReply::Always,
            ReplyChoice::Reject => PermissionReply::Reject,
        },
        message: args.message,
        arguments: None,
    };
    let wanted = &args.permission;
    if wanted.starts_with("q_") {
        bail!("`{wanted}` is a question; answer it with `windlass answer {wanted}`");
    }
    let id = resolved(wanted).await?;
    let path = format!("/api/v1/permissions/{id}");
    for peer in reach::runtimes().await? {
        person::sees(&peer, "permissions reply").await?;
        match peer.post(&path, &body).await {
            Ok(_) => {
                if printer.is_json {
                    print::json(&json!({"id": id, "reply": args.reply.as_str()}))?;
                }
                return Ok(ExitCode::SUCCESS);
            }
            Err(PeerError::Refused { status, .. }) if status.as_u16() == 404 => {}
            Err(PeerError::Unreachable(..)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!("no permission request `{wanted}` is open; it may have been answered elsewhere")
}

/// The full id of a request.
async fn resolved(wanted: &str) -> anyhow::Result<String> {
    let waiting = waiting().await?;
    let ids = waiting.iter().map(|request| request.id.as_str());
    match reach::by_end(wanted, ids) {
        Ok(id) => Ok(id.to_owned()),
        Err(NoSuchId::Several(ids)) => bail!(
            "several requests end in `{wanted}`; give one of {}",
            ids.join(", ")
        ),
        Err(NoSuchId::None) => bail!(
            "no permission request `{wanted}` is open; it may have been answered elsewhere; \
             `windlass permissions pending` lists the open ones"
        ),
    }
}
