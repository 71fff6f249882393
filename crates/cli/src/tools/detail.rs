//! One tool in detail, for the user.

use std::fmt::Write as _;

use serde_json::Value;
use windlass_protocol::visible_line;
use windlass_schema::{Dialect, render};

use super::Outline;
use crate::print::{Listing, Printer, Tone, cell, column};

/// A tool with a list of its parameters.
pub(super) fn text(outline: &Outline<'_>, hidden: &[String], printer: Printer) -> String {
    let tool = outline.tool;
    let mut text = String::new();
    let summary = tool.summary.as_ref().or(tool.description.as_ref());
    let summary = summary
        .map(|summary| visible_line(summary))
        .unwrap_or_default();
    let lines = printer.wrapped(&format!("{}  {summary}", tool.name));
    for (number, line) in lines.iter().enumerate() {
        let line = match line.strip_prefix(&tool.name) {
            Some(rest) if number == 0 => printer.paint(&tool.name, Tone::Heading) + rest,
            _ => line.clone(),
        };
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "  source:     {}", visible_line(&outline.source));
    let _ = writeln!(text, "  defined by: {}", visible_line(&tool.origin));
    let actions = outline.actions();
    if !actions.is_empty() {
        let _ = writeln!(text, "  actions:    {}", actions.join(", "));
    }
    if !hidden.is_empty() {
        let hidden = hidden.join(", ");
        let _ = writeln!(
            text,
            "  variables withheld from it: {}",
            visible_line(&hidden)
        );
    }
    let _ = writeln!(text);
    for line in printer.lines(&parameters(outline)) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(
        text,
        "\nTo see the schema that a model gets: windlass tools {} --dialect anthropic",
        tool.name
    );
    text
}

fn parameters(outline: &Outline<'_>) -> Listing {
    let columns = [
        column("PARAMETER"),
        column("TYPE").cut_to(8),
        column("REQUIRED"),
        column("DESCRIPTION").cut_to(20),
    ];
    let mut listing = Listing::new(columns, "The tool has no parameters.");
    // The flat form has every parameter once.
    let schema = render(&outline.tool.shape, Dialect::Mcp);
    let required = |name: &String| {
        let required = schema["required"].as_array();
        required.is_some_and(|required| required.iter().any(|it| it == name))
    };
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let text = |key: &str| property[key].as_str().unwrap_or_default().to_owned();
        let kind = match property["enum"].as_array() {
            Some(values) => {
                let values = values.iter().filter_map(Value::as_str);
                values.collect::<Vec<_>>().join("|")
            }
            None => text("type"),
        };
        listing.row([
            cell(name),
            cell(kind),
            cell(if required(name) { "yes" } else { "" }),
            cell(text("description")),
        ]);
    }
    listing
}
