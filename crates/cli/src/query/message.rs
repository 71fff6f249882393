//! Reads the user's message: from the command line, a pipe, or an editor.

use std::io::IsTerminal;

use anyhow::{Context as _, bail};

use crate::prompt::{self, KeyReader};

/// The message: the command line followed by piped input; without either, an
/// editor is opened.
pub(crate) async fn read(words: &[String], can_edit: bool) -> anyhow::Result<String> {
    let mut message = words.join(" ");
    if !std::io::stdin().is_terminal() {
        let piped = tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin()));
        let piped = piped
            .await?
            .context("the message cannot be read from stdin")?;
        if !piped.trim().is_empty() {
            if !message.is_empty() {
                message.push_str("\n\n");
            }
            message.push_str(piped.trim_end());
        }
    } else if message.is_empty() && can_edit {
        let mut keyboard = KeyReader::open().context("the terminal cannot be used")?;
        message = prompt::edit(&mut keyboard, "", ".md")
            .await
            .context("the editor cannot be opened; set `EDITOR`, or give the message")?
            .unwrap_or_default();
    }
    if message.trim().is_empty() {
        bail!("there is no message; give one, such as windlass query \"what changed?\"");
    }
    Ok(message)
}
