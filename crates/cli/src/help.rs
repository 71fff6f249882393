//! The command line with its help: commands in groups, and examples.
//!
//! Start at [`command`]. `args.rs` has the options themselves.

mod examples;

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use crate::args::Args;
use crate::{print, wrap};
use examples::EXAMPLES;

/// The commands in the groups of `--help`.
pub(crate) const GROUPS: [(&str, &[&str]); 5] = [
    ("Talk with a model", &["chat", "query", "models"]),
    (
        "Watch and control what runs",
        &[
            "run",
            "ps",
            "logs",
            "attach",
            "send",
            "kill",
            "questions",
            "answer",
            "permissions",
            "sessions",
            "gain",
        ],
    ),
    (
        "Connect agents and programs",
        &["mcp", "serve", "drive", "call"],
    ),
    ("Write tools", &["tools"]),
    (
        "Set up",
        &[
            "init",
            "config",
            "doctor",
            "hosts",
            "workers",
            "worker",
            "trust",
            "untrust",
            "completions",
        ],
    ),
];

/// The command line.
pub(crate) fn command() -> Command {
    let command = Args::command();
    let help = overview(&command);
    command
        .override_help(help)
        .mut_subcommands(|subcommand| with_examples(&[], subcommand))
}

/// The help of the whole program: the groups, then the options.
fn overview(command: &Command) -> StyledStr {
    let mut text = StyledStr::new();
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let about = command.get_about().map(ToString::to_string);
    let _ = writeln!(text, "{}\n", about.unwrap_or_default());
    let _ = writeln!(
        text,
        "{header}Usage:{header:#} {literal}windlass{literal:#} [OPTIONS] <COMMAND>\n"
    );
    let _ = writeln!(text, "{}\n", groups(command, print::columns()).ansi());
    // Without the commands, which the groups list.
    let options = command.clone().mut_subcommands(|below| below.hide(true));
    let mut options = options.help_template("{all-args}");
    let _ = write!(text, "{}", options.render_help().ansi());
    text
}

/// The width of the column of command names.
const NAME_WIDTH: usize = 15;

/// The groups as text of this width, with the first help line of each command.
fn groups(command: &Command, columns: usize) -> StyledStr {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let mut text = StyledStr::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let rows = wrap::wrapped(&about, columns.saturating_sub(NAME_WIDTH).max(20));
            let indent = " ".repeat(NAME_WIDTH);
            let rows: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
            let about = rows.join(&format!("\n{indent}"));
            let _ = writeln!(text, "  {literal}{name:<13}{literal:#}{about}");
        }
        let _ = writeln!(text);
    }
    let end = "`windlass help COMMAND` shows the options and examples of a command. Start with `windlass doctor`.";
    let _ = write!(text, "{}", wrap::wrapped(end, columns).join("\n"));
    text
}

/// Adds examples to the subcommand and those below it.
fn with_examples(above: &[&str], subcommand: Command) -> Command {
    let name = subcommand.get_name().to_owned();
    let path: Vec<&str> = above.iter().copied().chain([name.as_str()]).collect();
    let examples = EXAMPLES.iter().find(|(of, _)| *of == path.join(" "));
    let mut subcommand = subcommand;
    if let Some((_, examples)) = examples {
        let header = subcommand.get_styles().get_header();
        let literal = subcommand.get_styles().get_literal();
        let mut text = StyledStr::new();
        let _ = write!(text, "{header}Examples:{header:#}");
        for (line, about) in *examples {
            let _ = write!(text, "\n  {literal}{line}{literal:#}\n      {about}");
        }
        subcommand = subcommand.after_help(text);
    }
    subcommand.mut_subcommands(|below| with_examples(&path, below))
}

#[cfg(test)]
#[path = "help_tests.rs"]
mod tests;
