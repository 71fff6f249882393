//! Shows a handle of this process in the foreground, with the caller's
//! keyboard.

use std::time::Duration;

use anyhow::bail;
use tokio::signal::unix::{SignalKind, signal};
use windlass_protocol::Keyboard;
use windlass_runtime::HandleRef;

use super::{DETACH, SMALL, print_now, size};
use crate::draw;
use crate::print::shortened;
use crate::prompt::KeyReader;

/// How long a handle stays taken over without a key.
const LEASE: Duration = Duration::from_hours(24);

/// Whether the user can leave while the handle runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// With Ctrl-].
    ByKey,
    /// Not at all: every key goes to the program.
    AtTheEnd,
}

/// Shows the terminal of a handle of this process until the user leaves it or
/// it has stopped. Returns a sentence on how it ended.
pub(crate) async fn in_front(
    handle: &HandleRef,
    keyboard: &mut KeyReader,
    leaving: Leaving,
) -> anyhow::Result<String> {
    let id = handle.id();
    let Some(before) = handle.screen(None) else {
        bail!("`{id}` has no terminal; a handle spawned with `terminal: true` has one");
    };
    if handle.is_stopped() {
        bail!("`{id}` has stopped");
    }
    let lock = handle.lock(LEASE)?;
    let raw = keyboard.raw()?;
    print_now(draw::ENTER)?;
    let left = stay(handle, keyboard, leaving, &lock).await;
    let shown = print_now(draw::LEAVE);
    drop(raw);
    // Fails if the handle is gone, which is fine.
    let _ = handle.resize(before.rows, before.cols);
    let _ = handle.unlock(&lock);
    shown?;
    left
}

async fn stay(
    handle: &HandleRef,
    keyboard: &mut KeyReader,
    leaving: Leaving,
    lock: &str,
) -> anyhow::Result<String> {
    let id = handle.id();
    let mut resized = signal(SignalKind::window_change())?;
    let (mut rows, mut cols) = area(leaving);
    let _ = handle.resize(rows, cols);
    let mut generation = None;
    loop {
        if let Some(screen) = handle.screen(generation) {
            generation = Some(screen.generation);
            let bar = bar(handle, leaving, rows, cols);
            print_now(&(bar + &draw::draw(&screen, rows, cols)))?;
        }
        let changed = handle.screen_changed(generation.unwrap_or_default());
        tokio::select! {
            biased;
            bytes = keyboard.bytes() => {
                let bytes = bytes?;
                let may_leave = leaving == Leaving::ByKey;
                let mut parts = bytes.split(|byte| *byte == DETACH && may_leave);
                let typed = parts.next().unwrap_or_default();
                if !typed.is_empty() {
                    // A program that no longer reads is about to exit.
                    let _ = handle.type_in(Keyboard::Bytes(typed.to_vec()), Some(lock)).await;
                }
                if typed.len() < bytes.len() {
                    return Ok(format!("Detached from `{id}`, which keeps running."));
                }
            }
            () = handle.stopped() => return Ok(format!("`{id}` has stopped.")),
            () = changed => {}
            _ = resized.recv() => {
                (rows, cols) = area(leaving);
                let _ = handle.resize(rows, cols);
                generation = None;
                print_now("\x1b[2J")?;
            }
        }
    }
}

/// The size of the handle's terminal here.
fn area(leaving: Leaving) -> (u16, u16) {
    let (rows, cols) = size();
    let bar = u16::from(leaving == Leaving::ByKey && rows > SMALL);
    (rows - bar, cols)
}

/// Draws the row that explains how to leave.
fn bar(handle: &HandleRef, leaving: Leaving, rows: u16, cols: u16) -> String {
    if leaving == Leaving::AtTheEnd || size().0 == rows {
        return String::new();
    }
    let text = format!(" {}  Ctrl-] leaves ", handle.id());
    let text = shortened(&text, usize::from(cols));
    format!("\x1b[{};1H\x1b[0m\x1b[2K\x1b[7m{text}\x1b[0m", rows + 1)
}
