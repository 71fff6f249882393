//! `windlass attach`: a handle's live terminal in your own.
//!
//! Start at [`run`]. The handle is taken over while you are attached, so that
//! the assistant does not type at the same time, and handed back when you
//! leave. A handle that is held without a runtime is adopted meanwhile.
//! `draw.rs` draws the runtime's screen.

mod own;

use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::termios::{self, OptionalActions, Termios};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use windlass_control::{EventReader, ServerSent};
use windlass_protocol::{
    HandleInfo, HandleState, LockInfo, PersonInput, Resize, ScreenUpdate, SessionUpdate,
    StreamedEvent, StreamedScreen,
};

pub(crate) use own::{Leaving, in_front};

use crate::args::{AttachArgs, Global};
use crate::draw;
use crate::held::{self, TakenHandle};
use crate::person;
use crate::print::shortened;
use crate::reach::{self, HandleTarget};
use crate::signals::Signals;
use crate::stdout::{self, outln};

/// Ctrl-]: leaves.
const DETACH: u8 = 0x1d;
/// A terminal with at most this many rows has no room for the bar.
const SMALL: u16 = 5;

pub(crate) async fn run(global: &Global, args: AttachArgs) -> anyhow::Result<ExitCode> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        bail!("`attach` needs a terminal; `windlass logs -f` and `windlass send` work without one");
    }
    person::only("attach")?;
    let error = match reach::find(&args.handle).await {
        Ok(target) => {
            person::sees(&target.peer, "attach").await?;
            return stay_at(target, args.watch).await;
        }
        Err(error) => error,
    };
    let Some(kept) = held::find(&args.handle).await? else {
        return Err(error);
    };
    let taken = TakenHandle::take(global, kept).await?;
    let left = match taken.target().await {
        Ok(target) => stay_at(target, args.watch).await,
        Err(error) => Err(error),
    };
    taken.leave().await;
    left
}

/// Stays until the person leaves or the handle has stopped.
async fn stay_at(target: HandleTarget, watch: bool) -> anyhow::Result<ExitCode> {
    if target.handle.state == HandleState::Stopped {
        bail!(
            "handle `{}` has stopped; `windlass logs` shows its output",
            target.handle.id
        );
    }
    let before: ScreenUpdate = target
        .peer
        .get(&target.path("/screen"))
        .await
        .context("the handle cannot be attached to")?;
    let attached = Attached {
        lock: if watch {
            None
        } else {
            Some(lock(&target).await?)
        },
        target,
    };
    let screen = OwnScreen::enter()?;
    let left = attached.stay(watch).await;
    drop(screen);
    attached.leave(&before).await;
    outln!("{}", left?)?;
    Ok(ExitCode::SUCCESS)
}

async fn lock(target: &HandleTarget) -> anyhow::Result<String> {
    let lock = target.peer.post(&target.path("/lock"), &()).await?;
    let lock: LockInfo = serde_json::from_slice(&lock)?;
    Ok(lock.lock)
}

struct Attached {
    target: HandleTarget,
    lock: Option<String>,
}

impl Attached {
    /// Draws and types until the person leaves or the handle has stopped.
    /// Returns a sentence on how it ended.
    async fn stay(&self, watch: bool) -> anyhow::Result<String> {
        let mut keys = read_stdin();
        let mut signals = Signals::new()?;
        let mut resized = signal(SignalKind::window_change())?;
        if !watch {
            self.resize().await;
        }
        let path = self.target.events(true);
        let mut events: EventReader = self.target.peer.events(&path, None).await?;
        let id = self.target.handle.id.clone();
        // It may have stopped before we subscribed to its events.
        let info: HandleInfo = self.target.peer.get(&self.target.path("")).await?;
        if info.state == HandleState::Stopped {
            return Ok(format!("`{id}` has stopped."));
        }
        loop {
            tokio::select! {
                event = events.next() => match event? {
                    None => return Ok(format!("The session of `{id}` has ended.")),
                    Some(event) => if self.take(&event)? {
                        return Ok(format!("`{id}` has stopped."));
                    },
                },
                bytes = keys.recv() => {
                    let bytes = bytes.unwrap_or_else(|| vec![DETACH]);
                    let mut parts = bytes.split(|byte| *byte == DETACH);
                    let typed = parts.next().unwrap_or_default();
                    if !typed.is_empty() && !watch {
                        self.type_in(typed).await?;
                    }
                    if typed.len() < bytes.len() {
                        return Ok(format!("Detached from `{id}`, which keeps running."));
                    }
                }
                _ = resized.recv() => if !watch {
                    self.resize().await;
                },
                _ = signals.next() => return Ok(format!("Detached from `{id}`.")),
            }
        }
    }

    /// Draws the changes. Returns true when the handle has stopped.
    fn take(&self, event: &ServerSent) -> anyhow::Result<bool> {
        match event.name.as_str() {
            "screen" => {
                let streamed: StreamedScreen = serde_json::from_str(&event.data)?;
                let (rows, cols) = area();
                let bar = self.bar(rows, cols);
                let drawn = bar + &draw::draw(&streamed.screen, rows, cols);
                let mut stdout = stdout::lock();
                stdout.write_all(drawn.as_bytes())?;
                stdout.flush()?;
                Ok(false)
            }
            "update" => {
                let streamed: StreamedEvent = serde_json::from_str(&event.data)?;
                let own = Some(&self.target.handle.id);
                match streamed.update {
                    SessionUpdate::Stopped { tool, .. } => Ok(tool.handle.as_ref() == own),
                    _ => Ok(false),
                }
            }
            _ => Ok(false),
        }
    }

    /// Draws the row below the handle's terminal.
    fn bar(&self, rows: u16, cols: u16) -> String {
        if size().0 == rows {
            return String::new();
        }
        let watches = if self.lock.is_none() {
            " (watching)"
        } else {
            ""
        };
        let text = format!(" {}{watches}  Ctrl-] leaves ", self.target.handle.id);
        let text = shortened(&text, usize::from(cols));
        format!("\x1b[{};1H\x1b[0m\x1b[2K\x1b[7m{text}\x1b[0m", rows + 1)
    }

    async fn type_in(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let input = PersonInput {
            bytes: Some(STANDARD.encode(bytes)),
            lock: self.lock.clone(),
            ..PersonInput::default()
        };
        self.target
            .peer
            .post(&self.target.path("/input"), &input)
            .await?;
        Ok(())
    }

    /// Gives the handle's terminal the size of this one.
    async fn resize(&self) {
        let (rows, cols) = area();
        // If it cannot be resized, the part that fits is drawn.
        let _ = self.set_size(rows, cols).await;
    }

    async fn set_size(&self, rows: u16, cols: u16) -> anyhow::Result<()> {
        let size = Resize { rows, cols };
        self.target
            .peer
            .post(&self.target.path("/resize"), &size)
            .await?;
        Ok(())
    }

    /// Hands the handle back in its previous state. Errors are ignored: it may
    /// be gone.
    async fn leave(&self, before: &ScreenUpdate) {
        if let Some(lock) = &self.lock {
            let _ = self.set_size(before.rows, before.cols).await;
            let _ = self
                .target
                .peer
                .delete(&self.target.path(&format!("/lock/{lock}")))
                .await;
        }
    }
}

/// The size of the handle's terminal here: all but the last row, which explains
/// how to leave.
fn area() -> (u16, u16) {
    let (rows, cols) = size();
    let bar = u16::from(rows > SMALL);
    (rows - bar, cols)
}

/// The rows and columns of this terminal.
pub(crate) fn size() -> (u16, u16) {
    let size = termios::tcgetwinsize(std::io::stdout());
    size.map_or((24, 80), |size| (size.ws_row.max(1), size.ws_col.max(2)))
}

/// Reads standard input as it is typed. The thread ends with the process.
fn read_stdin() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin();
        let mut buffer = [0; 4096];
        while let Ok(length) = stdin.read(&mut buffer) {
            if length == 0 || sender.blocking_send(buffer[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Guard: this terminal in raw mode on the alternate screen. Dropping it
/// restores the terminal.
struct OwnScreen(Termios);

impl OwnScreen {
    fn enter() -> anyhow::Result<Self> {
        let before = termios::tcgetattr(std::io::stdin()).context("the terminal cannot be read")?;
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(std::io::stdin(), OptionalActions::Now, &raw)
            .context("the terminal cannot be changed")?;
        let own = Self(before);
        print_now(draw::ENTER)?;
        Ok(own)
    }
}

impl Drop for OwnScreen {
    fn drop(&mut self) {
        let _ = print_now(draw::LEAVE);
        let _ = termios::tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

fn print_now(text: &str) -> std::io::Result<()> {
    let mut stdout = stdout::lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
