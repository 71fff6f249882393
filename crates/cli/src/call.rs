//! `windlass call`: one tool, once.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use windlass::Windlass;
use windlass::config::nearest;
use windlass_protocol::{Arguments, Batch, BatchReply, ToolCall};
use windlass_runtime::{Attendance, RunOptions, SessionOptions};

use crate::args::{CallArgs, Global};
use crate::exit;
use crate::prompt;
use crate::setup;
use crate::signals::Signals;
use crate::stdout::{self, errln};
use crate::tools;
use crate::trust;

async fn set_up(global: &Global) -> anyhow::Result<Windlass> {
    trust::ask_if_untrusted(global).await?;
    setup::windlass(global).await
}

pub(crate) async fn run(global: &Global, args: CallArgs) -> anyhow::Result<ExitCode> {
    let arguments = read_arguments(args.arguments.as_deref())?;
    let mut signals = Signals::new()?;
    // Querying a program for its tools may take long.
    let windlass = tokio::select! {
        windlass = set_up(global) => windlass?,
        code = signals.next() => return Ok(ExitCode::from(code)),
    };
    let can_ask = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    setup::warn_of_record(&windlass);
    let session = windlass.session(SessionOptions {
        front_end: Some("call".to_owned()),
        // The user who types the call has thereby permitted it.
        trusted: true,
        attendance: Attendance::when(can_ask),
        ..SessionOptions::default()
    });
    // It ends with the session, and is awaited so that no prompt is left on the
    // terminal.
    let prompting = windlass_task::spawn(prompt::attend(session.requests().watch()));
    let close = async {
        session.close().await;
        let _ = prompting.await;
        setup::tell_unrecorded(&session);
    };
    let offered = windlass.runtime().tools();
    let names: Vec<String> = offered
        .offered()
        .map(|tool| tool.definition().name.clone())
        .collect();
    let names = names.iter().map(String::as_str);
    if offered.get(&args.tool).is_none() && nearest(&args.tool, names.clone()).is_some() {
        bail!("{}", tools::unknown(&args.tool, names));
    }
    let declares = offered
        .get(&args.tool)
        .is_some_and(|tool| !tool.definition().shape.actions.is_empty());
    let names_action = arguments
        .get("action")
        .is_some_and(|action| !action.is_null());
    if declares && names_action {
        bail!("`call` runs a tool once, without `action`; use `windlass drive` for handles");
    }
    let batch = Batch {
        id: "call".to_owned(),
        calls: vec![ToolCall {
            id: "call".to_owned(),
            tool: args.tool,
            arguments,
        }],
    };
    let reply = tokio::select! {
        reply = session.run(batch, RunOptions::default()) => reply,
        code = signals.next() => {
            signals.finish(close).await;
            return Ok(ExitCode::from(code));
        }
    };
    let code = print(global, &reply);
    signals.finish(close).await;
    Ok(code?)
}

pub(crate) fn read_arguments(arguments: Option<&str>) -> anyhow::Result<Arguments> {
    let text = match arguments {
        None => return Ok(Arguments::new()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("the arguments cannot be read from stdin")?;
            text
        }
        Some(text) => text.to_owned(),
    };
    serde_json::from_str(&text)
        .context("the arguments must be a JSON object, such as '{\"command\": \"ls\"}'")
}

fn print(global: &Global, reply: &BatchReply) -> std::io::Result<ExitCode> {
    let Some(answer) = reply.replies.first() else {
        return Ok(ExitCode::from(exit::FAILED));
    };
    let text = if global.json {
        let line = serde_json::json!({
            "content": answer.content,
            "is_error": answer.is_error,
            "notices": reply.notices,
        });
        line.to_string()
    } else {
        for notice in &reply.notices {
            errln!("windlass: {}", notice.for_person());
        }
        answer.content.to_text()
    };
    let newline = if text.ends_with('\n') || text.is_empty() {
        ""
    } else {
        "\n"
    };
    stdout::write(format!("{text}{newline}").as_bytes())?;
    Ok(if answer.is_error {
        ExitCode::from(exit::FAILED)
    } else {
        ExitCode::SUCCESS
    })
}
