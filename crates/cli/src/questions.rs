//! `windlass questions` and `windlass answer`: open questions of all sessions
//! on this machine.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use windlass_control::Peer;
use windlass_protocol::{
    AnswerBody, AnswerType, OpenQuestion, Question, RequestRendering, visible_line,
};

use crate::args::{AnswerArgs, Global};
use crate::print::{self, Listing, Printer, Tone, cell, column};
use crate::reach::{self, NoSuchId};
use crate::replies::indented;
use crate::stdout::errln;
use crate::{exit, person, prompt};

/// The maximum length of an answer from stdin.
const LONGEST: u64 = 1 << 20;

pub(crate) async fn list(global: &Global) -> anyhow::Result<ExitCode> {
    let open: Vec<OpenQuestion> = all().await?.into_iter().map(|(_, open)| open).collect();
    let mut listing = listing(
        "No question is open. Tools ask when they need an answer from you, such as a password; \
         `windlass permissions pending` lists requests for permission.",
    );
    add(&mut listing, &open);
    Printer::new(global).list(json!(open), &listing)?;
    Ok(ExitCode::SUCCESS)
}

/// A list of requests to the person.
pub(crate) fn listing(empty: &str) -> Listing {
    let columns = [
        column("ID"),
        column("SESSION").spare(1),
        column("TOOL").cut_to(6),
        column("ASKS").cut_to(20),
    ];
    Listing::new(columns, empty)
}

/// Adds questions to a list: a row each, followed by the full text and the
/// command that answers it.
pub(crate) fn add(listing: &mut Listing, questions: &[OpenQuestion]) {
    for open in questions {
        let ask = &open.ask;
        let id = reach::short(&ask.ask);
        listing.row([
            cell(id),
            cell(reach::short(open.session.as_str())),
            cell(&ask.tool),
            cell(&ask.question.text).tone(Tone::Waiting),
        ]);
        for line in shown(open).lines() {
            listing.note(line);
        }
    }
}

/// The requests to trust a project, which are listed with permissions.
pub(crate) async fn asking_trust() -> anyhow::Result<Vec<OpenQuestion>> {
    let open = all().await?.into_iter().map(|(_, open)| open);
    Ok(open
        .filter(|open| open.ask.ask.starts_with("tru_"))
        .collect())
}

/// A question with its details and the command that answers it.
fn shown(open: &OpenQuestion) -> String {
    let ask = &open.ask;
    let id = reach::short(&ask.ask);
    let rendering = RequestRendering::of_question(ask);
    let choices = match choices(&ask.question) {
        Some(choices) => format!(" {}", choices.join("|")),
        None if ask.question.secret => String::new(),
        None => " TEXT".to_owned(),
    };
    let details = indented(&rendering.details());
    format!(
        "\n{id}  {}\n{details}\n    windlass answer {id}{choices}",
        rendering.title
    )
}

pub(crate) async fn answer(global: &Global, args: AnswerArgs) -> anyhow::Result<ExitCode> {
    person::only("answer")?;
    let wanted = &args.question;
    if wanted.starts_with("per_") {
        bail!(
            "`{wanted}` asks for permission; reply with `windlass permissions reply {wanted} once`, \
             or `always`, or `reject`"
        );
    }
    let all = all().await?;
    let id = match reach::by_end(wanted, all.iter().map(|(_, open)| open.ask.ask.as_str())) {
        Ok(id) => id,
        Err(NoSuchId::Several(ids)) => bail!(
            "several questions end in `{wanted}`; give one of {}",
            ids.join(", ")
        ),
        Err(NoSuchId::None) => {
            bail!("no question `{wanted}` is open; `windlass questions` lists the open ones")
        }
    };
    let Some((peer, open)) = all.iter().find(|(_, open)| open.ask.ask == id) else {
        bail!("no question `{wanted}` is open; `windlass questions` lists the open ones");
    };
    person::sees(peer, "answer").await?;
    let question = &open.ask.question;
    let value = match args.value {
        Some(_) if question.secret => bail!(
            "`{id}` asks for a secret, and other users can read a command line; run `windlass \
             answer {id}` and type it, or pass it on stdin"
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
    if global.json {
        print::json(&json!({ "id": id }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Every open question, with its runtime.
pub(crate) async fn all() -> anyhow::Result<Vec<(Peer, OpenQuestion)>> {
    let mut all = Vec::new();
    for peer in reach::runtimes().await? {
        // A runtime that ends meanwhile has no questions.
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

/// Converts typed text to the type of answer that the question requires.
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
            "`{}` is not a choice; the choices are {}",
            visible_line(text),
            choices.join(", ")
        ),
        None => bail!("the answer is empty; give any text"),
    }
}

/// The possible answers; `None` for free text.
fn choices(question: &Question) -> Option<Vec<String>> {
    match &question.answer_type {
        AnswerType::Boolean => Some(vec!["yes".to_owned(), "no".to_owned()]),
        AnswerType::Select { options } => Some(options.iter().map(|it| visible_line(it)).collect()),
        AnswerType::Text => None,
    }
}
