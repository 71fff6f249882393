//! The person's editor on this terminal.
//!
//! Like every program it is started by `process` on its own terminal, whose
//! output and input are forwarded. It can therefore be removed like any other
//! prompt.

use std::io::{self, Write as _};

use anyhow::Context as _;
use rustix::termios;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use windlass_process::{Command, Exit, Launcher, LauncherOptions, Process, TerminalSize};

use super::keyboard::KeyReader;
use crate::draw;

/// Edits a text; `None` if the editor failed. Dropping the future ends the
/// editor.
pub(crate) async fn edit(
    keyboard: &mut KeyReader,
    text: &str,
    extension: &str,
) -> anyhow::Result<Option<String>> {
    let file = tempfile::Builder::new()
        .prefix("windlass-")
        .suffix(extension)
        .tempfile()
        .context("there is no folder for a temporary file")?;
    std::fs::write(file.path(), text).context("the text to edit cannot be written")?;
    let (sender, mut drawn) = mpsc::unbounded_channel();
    let command = editor()?
        .arg(file.path())
        .env("TERM", std::env::var_os("TERM").unwrap_or_default())
        .terminal_with(size(), move |bytes| {
            let _ = sender.send(bytes.to_vec());
            // The terminal that displays it replies to queries.
            Vec::new()
        });
    let launcher = Launcher::new(LauncherOptions {
        // It ends with its terminal, which ends with this process.
        hold_trees: false,
        ..LauncherOptions::default()
    })?;
    let raw = keyboard.raw()?;
    let process = launcher.start(command).await?;
    let front = Front { ended: false };
    let exit = relay(keyboard, &process, &mut drawn, front).await?;
    drop(raw);
    if exit != Exit::Code(0) {
        return Ok(None);
    }
    let written = std::fs::read_to_string(file.path()).context("the edited text cannot be read")?;
    Ok(Some(written))
}

async fn relay(
    keyboard: &mut KeyReader,
    process: &Process,
    drawn: &mut mpsc::UnboundedReceiver<Vec<u8>>,
    mut front: Front,
) -> anyhow::Result<Exit> {
    let mut resized = signal(SignalKind::window_change())?;
    let exit = loop {
        tokio::select! {
            biased;
            Some(bytes) = drawn.recv() => show(&bytes)?,
            exit = process.wait() => break exit,
            bytes = keyboard.bytes() => {
                // An editor that no longer reads is about to exit.
                let _ = process.write(&bytes?);
            }
            Some(()) = resized.recv() => {
                if let Some(terminal) = process.terminal() {
                    let _ = terminal.resize(size());
                }
            }
        }
    };
    while let Ok(bytes) = drawn.try_recv() {
        show(&bytes)?;
    }
    front.ended = true;
    Ok(exit)
}

/// Guard: a visible editor. If it is dropped early, the editor has not restored
/// the terminal.
struct Front {
    ended: bool,
}

impl Drop for Front {
    fn drop(&mut self) {
        if !self.ended {
            let _ = show(draw::LEAVE.as_bytes());
        }
    }
}

/// `$VISUAL`, `$EDITOR` or `vi`.
fn editor() -> anyhow::Result<Command> {
    let named = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.trim().is_empty());
    let named = named.unwrap_or_else(|| "vi".to_owned());
    let mut words = shlex::split(&named).unwrap_or_default().into_iter();
    let program = words
        .next()
        .with_context(|| format!("`{named}` is not a command; set `EDITOR`"))?;
    Ok(Command::new(program).args(words))
}

fn size() -> TerminalSize {
    match termios::tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 => TerminalSize {
            rows: size.ws_row,
            cols: size.ws_col,
        },
        _ => TerminalSize { rows: 24, cols: 80 },
    }
}

fn show(bytes: &[u8]) -> io::Result<()> {
    io::stderr().lock().write_all(bytes)
}
