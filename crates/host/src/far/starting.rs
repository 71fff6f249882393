//! From a frame to a command, and from a key to a program that an earlier far end has started.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windlass_hold_wire::{LinkCapture, ProgramStart, StartFailure};
use windlass_output::{OutputOptions, Screen};
use windlass_process::{
    AdoptOptions, Command, KeepOptions, Launcher, Process, ProgramTerminal, StartError, Stdin,
    TakeOverError, TerminalSize,
};
use windlass_sandbox::ResourceLimits;

use super::program::StartSpec;
use super::session::SessionFolder;

/// How much of the newest output is in memory: more than the near side lets be sent ahead.
const MEMORY: usize = 1536 * 1024;
/// How much of the output a screen is made of again.
const REDRAWN: u64 = 64 * 1024;

/// A screen that answers queries of a terminal's program.
pub(super) fn answering_screen(
    (rows, cols): (u16, u16),
) -> (
    impl FnMut(&[u8]) -> Vec<u8> + Send + 'static,
    Arc<Mutex<Screen>>,
) {
    let screen = Arc::new(Mutex::new(Screen::new(rows, cols)));
    let fed = Arc::clone(&screen);
    (move |bytes: &[u8]| fed.lock().feed(bytes), screen)
}

fn output_options(folder: &SessionFolder, number: u64) -> OutputOptions {
    OutputOptions {
        memory: MEMORY,
        log: Some(folder.log(number)),
        ..OutputOptions::default()
    }
}

pub(super) fn command(
    spec: StartSpec,
    folder: &SessionFolder,
    tap: Option<impl FnMut(&[u8]) -> Vec<u8> + Send + 'static>,
) -> Command {
    let StartSpec {
        number,
        start,
        lease,
        ..
    } = spec;
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
    if let (Some((rows, cols)), Some(tap)) = (start.terminal, tap) {
        command = command.terminal_with(TerminalSize { rows, cols }, tap);
    }
    let output = output_options(folder, number);
    command
        .grace(start.grace)
        .output(output.clone())
        .keep(KeepOptions {
            lease,
            folder: folder.path().to_owned(),
            name: number.to_string(),
            output,
            registration: Some(folder.registration(number)),
        })
}

pub(super) async fn adopt(
    launcher: &Launcher,
    folder: &SessionFolder,
    number: u64,
) -> Result<Process, TakeOverError> {
    let key = folder.key(number).ok_or_else(|| TakeOverError::Gone {
        name: number.to_string(),
        source: std::io::ErrorKind::NotFound.into(),
    })?;
    let (tap, screen) = answering_screen((24, 80));
    let redrawn = Arc::clone(&screen);
    let options = AdoptOptions::new(output_options(folder, number))
        .tap(tap)
        .rebuild(move |output, _| {
            // What was asked in these has been answered.
            let end = output.position();
            redrawn
                .lock()
                .feed(&output.raw(end.saturating_sub(REDRAWN)..end));
        });
    let process = launcher.adopt(&key, options).await?;
    if let Some(size) = process.terminal().map(ProgramTerminal::size) {
        screen.lock().resize(size.rows, size.cols);
    }
    Ok(process)
}

pub(super) fn limits_of(start: &ProgramStart) -> ResourceLimits {
    let [memory, processes, cpu, open_files, file_size, wall] = start.limits;
    ResourceLimits {
        memory,
        processes: processes.map(|it| u32::try_from(it).unwrap_or(u32::MAX)),
        cpu: cpu.map(Duration::from_millis),
        open_files,
        file_size,
        wall: wall.map(Duration::from_millis),
        // An order of today does not carry it.
        disk: None,
    }
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
