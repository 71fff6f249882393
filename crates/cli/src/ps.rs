//! `windlass ps`: every session, handle and running one-shot on this machine.

use std::process::ExitCode;

use serde_json::json;
use windlass_protocol::{HandleInfo, HandleKind};

use crate::args::Global;
use crate::reach::{self, Reached};
use crate::stdout::outln;

pub(crate) async fn run(global: &Global) -> anyhow::Result<ExitCode> {
    let sessions = reach::sessions().await?;
    if global.json {
        for reached in &sessions {
            outln!(
                "{}",
                json!({ "session": reached.session, "handles": reached.handles })
            )?;
        }
    } else if sessions.is_empty() {
        outln!("No session is under way.")?;
    } else {
        print(&sessions)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(sessions: &[Reached]) -> std::io::Result<()> {
    let head = [
        "SESSION",
        "FRONT END",
        "PID",
        "HANDLE",
        "TOOL",
        "STATE",
        "TIME",
        "LAST LINE",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for reached in sessions {
        let session = &reached.session;
        let first = [
            reach::short(session.id.as_str()).to_owned(),
            match &session.name {
                Some(name) => format!("{} {}", session.front_end, printable(name)),
                None => session.front_end.clone(),
            },
            session.pid.to_string(),
        ];
        if reached.handles.is_empty() {
            let [id, front_end, pid] = first.clone();
            let none = String::new;
            rows.push([
                id,
                front_end,
                pid,
                "-".to_owned(),
                none(),
                none(),
                none(),
                none(),
            ]);
        }
        for handle in &reached.handles {
            let [id, front_end, pid] = first.clone();
            rows.push([
                id,
                front_end,
                pid,
                handle.id.to_string(),
                handle.tool.clone(),
                state(handle),
                time(handle.elapsed_secs),
                printable(last_line(handle)),
            ]);
        }
    }
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            rows.iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for row in &rows {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        outln!("{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    for Reached { session, .. } in sessions {
        let Some(trouble) = &session.record else {
            continue;
        };
        let id = reach::short(session.id.as_str());
        match &trouble.error {
            Some(error) => outln!(
                "{id}: the record cannot be written ({error}); {} changes wait, {} are lost",
                trouble.waiting,
                trouble.lost
            )?,
            None => outln!("{id}: {} changes of the record are lost", trouble.lost)?,
        }
    }
    Ok(())
}

/// Its last line, or the command of a one-shot that has said nothing yet.
fn last_line(handle: &HandleInfo) -> &str {
    let command = handle.command.as_ref();
    let command = command.filter(|_| handle.kind == HandleKind::OneShot);
    let line = handle.last_line.as_ref().or(command);
    line.map_or("", String::as_str)
}

fn state(handle: &HandleInfo) -> String {
    let mut state = handle.state.as_str().to_owned();
    if handle.failed {
        state.push_str(" (failed)");
    }
    if handle.kind == HandleKind::OneShot {
        state.push_str(" (one-shot)");
    }
    if handle.locked {
        state.push_str(" (taken over)");
    }
    state
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole seconds since a handle began"
)]
fn time(seconds: f64) -> String {
    let seconds = seconds as u64;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// What a program wrote must not command the terminal of whoever looks.
fn printable(line: &str) -> String {
    line.chars()
        .filter(|character| !character.is_control())
        .take(80)
        .collect()
}
