//! `windlass permissions`: remembered rules, and the evaluation of a call.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use windlass_protocol::{Arguments, PermissionRule, Request, RuleAction, ToolCommand, parse};
use windlass_runtime::{Archive, Explanation, Finding, RegisteredTool, RuleSource, RunMode};

use crate::args::{Global, PermissionsArgs, PermissionsCommand};
use crate::call::read_arguments;
use crate::exit;
use crate::print::{self, Listing, Printer, Tone, cell, column};
use crate::replies;
use crate::setup;
use crate::stdout;
use crate::tools;
use crate::trust;

pub(crate) async fn run(global: &Global, args: PermissionsArgs) -> anyhow::Result<ExitCode> {
    let printer = Printer::new(global);
    match args.command {
        None => list(printer).await,
        Some(PermissionsCommand::Pending) => replies::pending(printer).await,
        Some(PermissionsCommand::Reply(args)) => replies::reply(printer, args).await,
        Some(PermissionsCommand::Forget { id }) => forget(printer, id).await,
        Some(PermissionsCommand::Explain { tool, arguments }) => {
            explain(global, &tool, arguments.as_deref()).await
        }
    }
}

async fn list(printer: Printer) -> anyhow::Result<ExitCode> {
    replies::remind().await;
    let store = windlass::open_record().context("the record cannot be opened")?;
    let rules = Archive::rules(&store).await?;
    let columns = [
        column("ID"),
        column("RULE"),
        column("TOOL"),
        column("PATTERN").cut_to(12),
        column("PROJECT").cut_to(10),
    ];
    let empty = "No permissions are remembered. The reply \"always\" to a request creates a rule. \
         `windlass config show` lists the rules of the configuration.";
    let mut listing = Listing::new(columns, empty);
    for record in &rules {
        let PermissionRule {
            permission,
            pattern,
            action,
        } = &record.rule;
        let tone = match action {
            RuleAction::Allow => Tone::Good,
            RuleAction::Ask => Tone::Waiting,
            RuleAction::Deny => Tone::Bad,
        };
        listing.row([
            cell(record.id.to_string()),
            cell(word(*action)).tone(tone),
            cell(permission),
            cell(pattern),
            cell(&record.directory),
        ]);
    }
    printer.list(json!(rules), &listing)?;
    Ok(ExitCode::SUCCESS)
}

async fn forget(printer: Printer, id: i64) -> anyhow::Result<ExitCode> {
    let store = windlass::open_record().context("the record cannot be opened")?;
    if !store.forget_rule(id).await? {
        bail!("there is no rule {id}; `windlass permissions` lists them");
    }
    printer.outcome(
        &json!({"id": id, "forgotten": true}),
        format!("forgot rule {id}"),
    )?;
    Ok(ExitCode::SUCCESS)
}

async fn explain(global: &Global, name: &str, arguments: Option<&str>) -> anyhow::Result<ExitCode> {
    let arguments = read_arguments(arguments)?;
    trust::ask_if_untrusted(global).await?;
    let windlass = setup::build(setup::builder(global)?.only(Some(name))).await?;
    let tools = windlass.runtime().tools();
    let Some(tool) = tools.get(name) else {
        let names: Vec<&str> = tools.all().map(|tool| &*tool.definition().name).collect();
        bail!("{}", tools::unknown(name, names.into_iter()));
    };
    let root = windlass.config().root.as_path();
    let remembered = match windlass.record() {
        Ok(store) => store.rules(&windlass.project_id(), root).remembered().await,
        Err(_) => Vec::new(),
    };
    let explanation = match parse(&tool.definition().shape, arguments)? {
        Request::OneShot { args } => tool.explain(None, &args, root, &remembered),
        Request::Handle(command) => explain_command(tool, &command, root, &remembered),
    };
    if global.json {
        print::json(&to_json(&explanation))?;
    } else {
        print(name, &explanation)?;
    }
    Ok(match outcome(&explanation) {
        "denied" => ExitCode::from(exit::FAILED),
        _ => ExitCode::SUCCESS,
    })
}

fn explain_command(
    tool: &RegisteredTool,
    command: &ToolCommand,
    root: &Path,
    remembered: &[PermissionRule],
) -> Explanation {
    let action = Some(command.action());
    let args = match command {
        ToolCommand::Spawn { args, .. } => args.clone(),
        ToolCommand::Apply { typing, .. } => {
            let typing = serde_json::to_value(typing);
            let typing = typing.ok().and_then(|typing| typing.as_object().cloned());
            typing.unwrap_or_default()
        }
        ToolCommand::Fetch { .. } | ToolCommand::Abort { .. } => Arguments::new(),
    };
    tool.explain(action, &args, root, remembered)
}

/// The verdict in one word.
fn outcome(explanation: &Explanation) -> &'static str {
    match (explanation.mode, explanation.verdict) {
        (RunMode::Skip, _) => "skipped",
        (_, Some(RuleAction::Deny)) => "denied",
        (RunMode::Edit, _) | (_, Some(RuleAction::Ask)) | (RunMode::Ask, None) => "asked",
        (_, Some(RuleAction::Allow)) | (RunMode::Unattended, None) => "allowed",
    }
}

fn to_json(explanation: &Explanation) -> Value {
    let patterns: Vec<Value> = explanation
        .findings
        .iter()
        .map(|finding| {
            let mut found = json!({"pattern": finding.pattern, "why": why(finding, explanation)});
            if let Some((rule, _)) = &finding.rule {
                found["rule"] = json!(rule);
            }
            found
        })
        .collect();
    json!({
        "outcome": outcome(explanation),
        "permission": explanation.permission,
        "patterns": patterns,
        "always": explanation.always,
    })
}

fn print(name: &str, explanation: &Explanation) -> anyhow::Result<()> {
    let mut stdout = stdout::lock();
    writeln!(stdout, "{name}: {}", outcome(explanation))?;
    for finding in &explanation.findings {
        let pattern = &finding.pattern;
        writeln!(stdout, "  `{pattern}`: {}", why(finding, explanation))?;
    }
    if !explanation.always.is_empty() && outcome(explanation) == "asked" {
        let always = explanation.always.join("`, `");
        writeln!(stdout, "  the reply \"always\" would remember `{always}`")?;
    }
    Ok(())
}

fn why(finding: &Finding, explanation: &Explanation) -> String {
    if let Some((rule, source)) = &finding.rule {
        let source = match source {
            RuleSource::Config => "the configuration",
            RuleSource::Remembered => "an earlier \"always\"",
        };
        return format!("{} by `{}` of {source}", word(rule.action), rule.pattern);
    }
    let mode = match explanation.mode {
        RunMode::Ask => "ask",
        RunMode::Unattended => "unattended",
        RunMode::Edit => "edit",
        RunMode::Skip => "skip",
    };
    let unsplit = if finding.exact {
        "; no pattern can describe everything it does, so only a rule with its exact text allows it"
    } else {
        ""
    };
    format!("no rule matches, so `run = \"{mode}\"` decides{unsplit}")
}

fn word(action: RuleAction) -> &'static str {
    match action {
        RuleAction::Allow => "allow",
        RuleAction::Ask => "ask",
        RuleAction::Deny => "deny",
    }
}
