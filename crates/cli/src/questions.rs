//! `windlass questions` and `windlass answer`: what tools ask the person in any
//! session of this machine.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use windlass_protocol::{
    AnswerBody, AnswerType, OpenQuestion, Question, RequestRendering, visible_line,
};
use windlass_serve_http::Peer;

use crate::args::{AnswerArgs, Global};
use crate::stdout::{errln, outln};
use crate::{exit, person, prompt, reach};

/// The longest answer that is read from stdin.
const LONGEST: u64 = 1 << 20;

pub(crate) async fn list(global: &Global) -> anyhow::Result<ExitCode> {
    let as_json = global.json || !std::io::stdout().is_terminal();
    let open = all().await?;
    for (_, question) in &open {
        if as_json {
            outln!("{}", json!(question))?;
        } else {
            outln!("{}", shown(question))?;
        }
    }
    if open.is_empty() && !as_json {
        outln!("No question is open.")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the requests to trust a project, which are asked like permissions.
pub(crate) async fn list_trust(as_json: bool) -> anyhow::Result<()> {
    let open = all().await?.into_iter();
    for (_, question) in open.filter(|(_, open)| open.ask.ask.starts_with("tru_")) {
        if as_json {
            outln!("{}", json!(question))?;
        } else {
            outln!("{}", shown(&question))?;
        }
    }
    Ok(())
}

/// A question as it is listed, with the command that answers it.
fn shown(open: &OpenQuestion) -> String {
    let ask = &open.ask;
    let rendering = RequestRendering::of_question(ask);
    let mut lines = vec![format!("{}  {}", ask.ask, rendering.title)];
    let details = rendering.details();
    lines.extend(details.lines().map(|line| format!("  {line}")));
    let choices = match choices(&ask.question) {
        Some(choices) => format!(" {}", choices.join("|")),
        None if ask.question.secret => String::new(),
        None => " TEXT".to_owned(),
    };
    lines.push(format!("    windlass answer {}{choices}", ask.ask));
    lines.join("\n")
}

pub(crate) async fn answer(args: AnswerArgs) -> anyhow::Result<ExitCode> {
    person::only("answer")?;
    let id = &args.question;
    if id.starts_with("per_") {
        bail!(
            "`{id}` asks for permission; reply with `windlass permissions reply {id} once`, \
             or `always`, or `reject`"
        );
    }
    let found = all()
        .await?
        .into_iter()
        .find(|(_, open)| open.ask.ask == *id);
    let Some((peer, open)) = found else {
        bail!("no question `{id}` is open; `windlass questions` lists those that are");
    };
    person::sees(&peer, "answer").await?;
    let question = &open.ask.question;
    let value = match args.value {
        Some(_) if question.secret => bail!(
            "`{id}` asks for a secret, and others can read a command line; \
             run `windlass answer {id}` and type it, or send it to stdin"
        ),
        Some(text) => read(question, &text)?,
        None if std::io::stdin().is_terminal() => {
            let Some(value) = prompt::ask(&open.ask).await else {
                errln!("windlass: not answered; `{id}` stays open");
                return Ok(ExitCode::from(exit::FAILED));
            };
            value
        }
        None => read(question, &from_stdin()?)?,
    };
    let body = AnswerBody { value };
    peer.post(&format!("/api/v1/questions/{id}"), &body).await?;
    Ok(ExitCode::SUCCESS)
}

/// Every open question, and the runtime that it is open in.
async fn all() -> anyhow::Result<Vec<(Peer, OpenQuestion)>> {
    let mut all = Vec::new();
    for peer in reach::runtimes().await? {
        // One that ends meanwhile asks nothing any more.
        let open = peer.get::<Vec<OpenQuestion>>("/api/v1/questions").await;
        let open = open.unwrap_or_default().into_iter();
        all.extend(open.map(|question| (peer.clone(), question)));
    }
    Ok(all)
}

fn from_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    let mut stdin = std::io::stdin().take(LONGEST);
    stdin
        .read_to_string(&mut text)
        .context("the answer cannot be read from stdin")?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// The text that was typed, as the answer that the question wants.
fn read(question: &Question, text: &str) -> anyhow::Result<Value> {
    let value = match (&question.answer_type, text) {
        (AnswerType::Boolean, "yes" | "y" | "true") => Value::Bool(true),
        (AnswerType::Boolean, "no" | "n" | "false") => Value::Bool(false),
        (_, text) => Value::String(text.to_owned()),
    };
    if question.check(value.clone()).is_ok() {
        return Ok(value);
    }
    match choices(question) {
        Some(choices) => bail!(
            "`{}` is no answer to it; the choices are {}",
            visible_line(text),
            choices.join(", ")
        ),
        None => bail!("it takes any text, and there is none"),
    }
}

/// The answers that a question takes; `None` when that is any text.
fn choices(question: &Question) -> Option<Vec<String>> {
    match &question.answer_type {
        AnswerType::Boolean => Some(vec!["yes".to_owned(), "no".to_owned()]),
        AnswerType::Select { options } => Some(options.iter().map(|it| visible_line(it)).collect()),
        AnswerType::Text => None,
    }
}
