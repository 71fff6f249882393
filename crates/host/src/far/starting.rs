//! Builds a command from a frame, and adopts programs that an earlier far end started.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, getpid, kill_process};
use tokio::time::Instant;
use windlass_hold_wire::{LinkCapture, LinkSandbox, StartFailure};
use windlass_output::{OutputOptions, Screen};
use windlass_process::{
    AdoptOptions, Command, KeepOptions, Launcher, Process, ProgramTerminal, StartError, Stdin,
    TakeOverError, TerminalSize,
};
use windlass_sandbox::ProjectPlaces;

use super::files::ProgramFiles;
use super::program::StartSpec;
use super::session::{LETTING_GO, STEP};
use crate::rules::read_sandbox;

/// How long a far end may take to release a program that its runtime has left.
const RELEASING: Duration = Duration::from_millis(500);
/// How much of the newest output is kept in memory: more than the near side's credit.
const MEMORY: usize = 1536 * 1024;
/// How much of the output is replayed to rebuild a screen.
const REDRAWN: u64 = 64 * 1024;

/// A screen that answers terminal queries of a program. It must have the size of the program's terminal.
#[derive(Clone)]
pub(super) struct AnsweringScreen(Arc<Mutex<Screen>>);

impl AnsweringScreen {
    pub(super) fn new((rows, cols): (u16, u16)) -> Self {
        Self(Arc::new(Mutex::new(Screen::new(rows, cols))))
    }

    /// Feeds it with output; returns the answers.
    fn tap(&self) -> impl FnMut(&[u8]) -> Vec<u8> + Send + use<> {
        let screen = Arc::clone(&self.0);
        move |bytes| screen.lock().feed(bytes)
    }

    pub(super) fn resize(&self, rows: u16, cols: u16) {
        self.0.lock().resize(rows, cols);
    }
}

fn output_options(files: &ProgramFiles) -> OutputOptions {
    OutputOptions {
        memory: MEMORY,
        log: Some(files.log()),
        ..OutputOptions::default()
    }
}

pub(super) fn command(
    spec: StartSpec,
    files: &ProgramFiles,
    screen: Option<&AnsweringScreen>,
) -> Command {
    let StartSpec { start, lease, .. } = spec;
    let lease = start.keep.unwrap_or(lease);
    let word = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let shell = || {
        let shell = std::env::var_os("SHELL").map(PathBuf::from);
        let shell = shell.filter(|shell| shell.is_absolute() && shell.is_file());
        shell.map_or_else(|| "/bin/sh".into(), PathBuf::into_os_string)
    };
    let mut command = Command::new(if start.is_user_shell {
        shell()
    } else {
        word(&start.program)
    });
    if start.env_clear {
        command = command.env_clear();
    }
    command = command.args(start.args.iter().map(|arg| word(arg)));
    for (name, value) in &start.env {
        command = match value {
            Some(value) => command.env(word(name), word(value)),
            None => command.env_remove(word(name)),
        };
    }
    if let Some(cwd) = &start.cwd {
        command = command.cwd(word(cwd));
    }
    if start.has_input {
        command = command.stdin(Stdin::Pipe);
    }
    if start.capture != LinkCapture::Separate {
        command = command.merge_output();
    }
    if let (Some((rows, cols)), Some(screen)) = (start.terminal, screen) {
        command = command.terminal_with(TerminalSize { rows, cols }, screen.tap());
    }
    let output = output_options(files);
    command
        .grace(start.grace)
        .output(output.clone())
        .keep(KeepOptions {
            lease,
            folder: files.folder().to_owned(),
            name: files.name(),
            output,
            registration: Some(files.registration()),
        })
}

/// A program that an earlier far end started, and the screen of its terminal.
pub(super) type AdoptedProgram = (Process, Option<AnsweringScreen>);

/// Adopts a program of this session, waiting for an earlier far end that may still be releasing it.
pub(super) async fn adopt_soon(
    launcher: &Launcher,
    files: &ProgramFiles,
) -> Result<AdoptedProgram, TakeOverError> {
    let begun = Instant::now();
    loop {
        match adopt(launcher, files).await {
            Err(TakeOverError::Busy { .. } | TakeOverError::Silent { .. })
                if begun.elapsed() < LETTING_GO =>
            {
                tokio::time::sleep(STEP).await;
            }
            adopted => return adopted,
        }
    }
}

/// Adopts a program of another session. A far end that has it and does not release it has a broken link: it gets
/// SIGTERM, and then SIGKILL.
pub(super) async fn take_over(
    launcher: &Launcher,
    files: &ProgramFiles,
) -> Result<AdoptedProgram, TakeOverError> {
    let begun = Instant::now();
    let mut steps = [(RELEASING, Signal::TERM), (LETTING_GO, Signal::KILL)].into_iter();
    let mut next = steps.next();
    loop {
        let owner = match adopt(launcher, files).await {
            Err(TakeOverError::Busy { owner, .. }) if begun.elapsed() < 2 * LETTING_GO => {
                Some(owner)
            }
            // Its holder may only be slow.
            Err(TakeOverError::Silent { .. }) if begun.elapsed() < 2 * LETTING_GO => None,
            adopted => return adopted,
        };
        if let Some(owner) = owner
            && let Some((at, signal)) = next.filter(|(at, _)| begun.elapsed() >= *at)
        {
            tracing::debug!(owner, ?at, "a far end does not release a program");
            let owner = i32::try_from(owner).ok().and_then(Pid::from_raw);
            // A process that serves several links releases the program on its own.
            if let Some(owner) = owner.filter(|owner| *owner != getpid()) {
                let _ = kill_process(owner, signal);
            }
            next = steps.next();
        }
        tokio::time::sleep(STEP).await;
    }
}

async fn adopt(launcher: &Launcher, files: &ProgramFiles) -> Result<AdoptedProgram, TakeOverError> {
    let key = files.key().map_err(|source| TakeOverError::System {
        name: files.name(),
        source,
    })?;
    let key = key.ok_or_else(|| TakeOverError::Gone {
        name: files.name(),
        source: std::io::ErrorKind::NotFound.into(),
    })?;
    let screen = AnsweringScreen::new((24, 80));
    let redrawn = Arc::clone(&screen.0);
    let options = AdoptOptions::new(output_options(files))
        .tap(screen.tap())
        .rebuild(move |output, _| {
            // Queries in this output have been answered already.
            let end = output.position();
            redrawn
                .lock()
                .feed(&output.raw(end.saturating_sub(REDRAWN)..end));
        });
    let process = launcher.adopt(&key, options).await?;
    let size = process.terminal().map(ProgramTerminal::size);
    let screen = size.map(|size| {
        screen.resize(size.rows, size.cols);
        screen
    });
    Ok((process, screen))
}

/// The launcher with the sandbox of a frame, resolved against the directories of this machine. `None` if the sandbox is
/// invalid.
pub(super) async fn confined(
    launcher: &Launcher,
    sandbox: Option<&LinkSandbox>,
    places: fn(&Path) -> ProjectPlaces,
) -> Option<Launcher> {
    let Some(frame) = sandbox else {
        return Some(launcher.clone());
    };
    let (root, sandbox) = read_sandbox(frame)?;
    let resolving = tokio::task::spawn_blocking(move || sandbox.resolve(&places(&root)));
    let resolution = resolving.await.ok()?;
    Some(match resolution.confinement {
        Some(confinement) => launcher.confined(confinement),
        None => launcher.clone(),
    })
}

pub(super) fn failure_of(error: &StartError) -> StartFailure {
    match error {
        StartError::NotFound { .. } => StartFailure::NotFound,
        StartError::Permission { .. } => StartFailure::Permission,
        StartError::NotExecutable { .. } => StartFailure::NotExecutable,
        StartError::Cwd { .. } => StartFailure::Cwd,
        _ => StartFailure::Other,
    }
}

pub(super) fn words(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", words(source)),
        None => error.to_string(),
    }
}
