//! The paragraph for the project's AGENTS.md that explains handles to an agent.

use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::json;

use crate::args::Global;
use crate::print::{self, Printer};
use crate::prompt::{self, Agreement};
use crate::stdout::outln;

/// The heading that identifies the paragraph.
const HEADING: &str = "## Long-running commands (Windlass)";

const PARAGRAPH: &str = "\
Start servers, watchers, builds and anything that may take longer than a few
seconds with the Windlass tool `shell` and `\"action\": \"spawn\"` under an `id` of
your choice, not in the background of a command. Wait with `await` (for an exit,
a pattern in the output or an open port; several at once) instead of sleeping or
polling. Read new output with `fetch`, type with `apply`, end it with `abort`.
Questions that only the user can answer reach the user by themselves.
";

/// Offers to add the paragraph if it is missing. With `is_wanted` it is added
/// without asking.
pub(super) async fn offer(global: &Global, project: &Path, is_wanted: bool) -> anyhow::Result<()> {
    let file = project.join("AGENTS.md");
    let shown = file.display();
    let before = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).context(format!("cannot read `{shown}`")),
    };
    if before.contains(HEADING) {
        return Ok(());
    }
    let after = with_paragraph(&before);
    if !is_wanted {
        let old = (!before.is_empty()).then_some(before.as_str());
        outln!("\nAgents use handles more often if the project's instructions mention them:")?;
        super::show(Printer::new(global), &file, old, &after)?;
        let agreement = Agreement(format!("Add this to {shown}?"));
        let can_ask = std::io::stderr().is_terminal();
        if !can_ask || prompt::ask(&agreement).await != Some(true) {
            outln!("{shown} is unchanged")?;
            return Ok(());
        }
    }
    std::fs::write(&file, after).with_context(|| format!("cannot write `{shown}`"))?;
    if global.json {
        print::json_line(&json!({ "file": file, "changed": true }))?;
    } else {
        outln!("wrote {shown}")?;
    }
    Ok(())
}

/// Appends the paragraph to the text.
fn with_paragraph(text: &str) -> String {
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{HEADING}\n\n{PARAGRAPH}")
}

#[cfg(test)]
#[path = "agents_md_tests.rs"]
mod tests;
