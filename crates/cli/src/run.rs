//! `windlass run`: runs a command that `ps` lists, here or in the running
//! server.

mod detached;

use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use serde_json::json;
use tokio::sync::mpsc;
use windlass::Windlass;
use windlass_protocol::{Batch, HandleInfo, HandleState, Keyboard, ToolCall, Typing};
use windlass_runtime::{Attendance, HandleRef, RunOptions, Session, SessionOptions};

use crate::args::{Global, RunArgs};
use crate::attach::{self, Leaving};
use crate::control;
use crate::exit;
use crate::prompt::KeyReader;
use crate::safe_text::SafeText;
use crate::setup;
use crate::signals::Signals;
use crate::stdout;

/// How often output is polled.
const STEP: Duration = Duration::from_millis(25);

pub(crate) async fn run(global: &Global, args: RunArgs) -> anyhow::Result<ExitCode> {
    if args.detach {
        return detached::run(global, &args).await;
    }
    if args.terminal && !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        bail!("`--terminal` needs a terminal to show the command's terminal in; leave it out");
    }
    let mut signals = Signals::new()?;
    // No prompt: only trusted project files apply.
    let builder = Windlass::builder(setup::load(global)?).only(Some("shell"));
    let windlass = Arc::new(builder.build().await?);
    let _reachable = control::listen(&windlass, "run");
    let session = windlass.session(SessionOptions {
        front_end: Some("run".to_owned()),
        // The user who types the command has thereby permitted it.
        trusted: true,
        attendance: Attendance::when(args.terminal),
        ..SessionOptions::default()
    });
    let id = match &args.id {
        Some(id) => id.clone(),
        None => default_id(&args.command),
    };
    let started = start(&session, &id, &args).await;
    let ended = match started {
        Ok(handle) if args.terminal => on_terminal(&handle).await,
        Ok(handle) => pass_through(&handle, &mut signals).await,
        Err(error) => Err(error),
    };
    signals.finish(session.close()).await;
    setup::tell_unrecorded(&session);
    ended
}

/// The name of the program, as a valid handle id.
fn default_id(command: &[String]) -> String {
    let program = command.first().map_or("", String::as_str);
    let name = program.rsplit('/').next().unwrap_or(program);
    let word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let name: String = name
        .chars()
        .filter(|letter| word(*letter))
        .take(32)
        .collect();
    if name.is_empty() {
        "run".to_owned()
    } else {
        name
    }
}

/// Quotes a command for a shell.
fn shell_line(words: &[String]) -> anyhow::Result<String> {
    Ok(shlex::try_join(words.iter().map(String::as_str))?)
}

/// Starts the command as a handle. Returns at once, perhaps before its first
/// output.
async fn start(session: &Session, id: &str, args: &RunArgs) -> anyhow::Result<HandleRef> {
    let mut arguments = json!({
        "action": "spawn",
        "id": id,
        "command": format!("exec {}", shell_line(&args.command)?),
        "cwd": std::env::current_dir()?,
    });
    if args.terminal {
        let (rows, cols) = attach::size();
        arguments["terminal"] = json!(true);
        arguments["rows"] = json!(rows);
        arguments["cols"] = json!(cols);
    }
    let batch = Batch {
        id: "run".to_owned(),
        calls: vec![ToolCall {
            id: "run".to_owned(),
            tool: "shell".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        }],
    };
    let spawning = {
        let session = session.clone();
        async move { session.run(batch, RunOptions::default()).await }
    };
    // The reply arrives when the command has gone quiet; output is shown before
    // that.
    let mut spawning = Box::pin(spawning);
    loop {
        if let Ok(handle) = session.handle(id)
            && handle.info().state != HandleState::Pending
        {
            // Complete the call, although its reply is not used.
            windlass_task::spawn(spawning);
            return Ok(handle);
        }
        tokio::select! {
            reply = &mut spawning => {
                let refused = reply.replies.first().filter(|reply| reply.is_error);
                if let Some(refused) = refused {
                    bail!("{}", refused.content.to_text());
                }
                return Ok(session.handle(id)?);
            }
            () = tokio::time::sleep(STEP) => {}
        }
    }
}

/// Forwards output and input until the command has ended. Returns its exit
/// code.
async fn pass_through(handle: &HandleRef, signals: &mut Signals) -> anyhow::Result<ExitCode> {
    let mut typed = read_stdin();
    let mut reads = true;
    let mut at = 0;
    loop {
        let is_over = handle.is_stopped();
        let written = handle.written();
        if written > at {
            stdout::write(&handle.log(at..written))?;
            at = written;
            continue;
        }
        if is_over {
            return Ok(exit_code(&handle.info()));
        }
        tokio::select! {
            () = tokio::time::sleep(STEP) => {}
            () = handle.stopped() => {}
            bytes = typed.recv(), if reads => {
                reads = bytes.is_some();
                let typed = bytes.map_or_else(|| key("eof"), Keyboard::Bytes);
                // A command that no longer reads is about to exit.
                let _ = handle.type_in(typed, None).await;
            }
            code = signals.next() => {
                if code == exit::INTERRUPTED {
                    let _ = handle.type_in(key("ctrl-c"), None).await;
                } else {
                    // A host that is unreachable ends it after its lease.
                    let _ = handle.abort().await;
                    return Ok(ExitCode::from(code));
                }
            }
        }
    }
}

fn key(name: &str) -> Keyboard {
    Keyboard::Typing(Typing {
        input: None,
        enter: false,
        keys: vec![name.to_owned()],
    })
}

/// Shows the command's terminal in this one until it has ended, and leaves its
/// last screen here.
async fn on_terminal(handle: &HandleRef) -> anyhow::Result<ExitCode> {
    if !handle.is_stopped() {
        let mut keyboard = KeyReader::open()?;
        attach::in_front(handle, &mut keyboard, Leaving::AtTheEnd).await?;
    }
    handle.stopped().await;
    let mut text = handle.scrollback().unwrap_or_default();
    if let Some(screen) = handle.screen(None) {
        let rows = screen.changed.iter().map(|row| {
            let runs = row.runs.iter().map(|run| run.text.as_str());
            runs.collect::<String>().trim_end().to_owned()
        });
        let rows = rows.collect::<Vec<_>>().join("\n");
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&rows);
    }
    let text = text.trim_end();
    if !text.is_empty() {
        stdout::write(&SafeText::default().push(format!("{text}\n").as_bytes()))?;
    }
    Ok(exit_code(&handle.info()))
}

/// The exit code of the command, by the convention of shells.
fn exit_code(info: &HandleInfo) -> ExitCode {
    match (&info.exit_code, &info.signal) {
        (Some(code), _) => ExitCode::from(u8::try_from(*code).unwrap_or(exit::FAILED)),
        (None, Some(signal)) => ExitCode::from(signal_code(signal)),
        (None, None) if info.failed => ExitCode::from(exit::FAILED),
        (None, None) => ExitCode::SUCCESS,
    }
}

/// 128 plus the number of a signal.
fn signal_code(name: &str) -> u8 {
    let numbers = [
        ("SIGHUP", 1),
        ("SIGINT", 2),
        ("SIGQUIT", 3),
        ("SIGILL", 4),
        ("SIGTRAP", 5),
        ("SIGABRT", 6),
        ("SIGBUS", 7),
        ("SIGFPE", 8),
        ("SIGKILL", 9),
        ("SIGUSR1", 10),
        ("SIGSEGV", 11),
        ("SIGUSR2", 12),
        ("SIGPIPE", 13),
        ("SIGALRM", 14),
        ("SIGTERM", 15),
    ];
    let number = numbers.iter().find(|(known, _)| *known == name);
    number.map_or(exit::FAILED, |(_, number)| 128 + number)
}

/// Reads standard input; the channel closes at its end. The thread ends with
/// the process.
fn read_stdin() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin();
        let mut buffer = [0; 8192];
        while let Ok(length) = stdin.read(&mut buffer) {
            if length == 0 || sender.blocking_send(buffer[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}
