//! Programs that outlive their runtime: conversions between jobs and `process`.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_output::OutputOptions;
use windlass_process::{Command, HeldKey, KeepOptions, Process, RemotePlace};
use windlass_protocol::{KeepRequest, KeptProgramKey, KeptRemotePlace, ToolError};
use windlass_runtime::{AdoptError, JobOutput};

/// Marks the command to be kept, if requested.
pub(crate) fn keeping(
    command: Command,
    keep: Option<&KeepRequest>,
    output: OutputOptions,
) -> Command {
    match keep {
        None => command,
        Some(request) => command.keep(KeepOptions {
            lease: Duration::from_secs(request.lease_secs),
            folder: request.folder.local.clone(),
            name: request.name.clone(),
            output,
            registration: request.registration.as_ref().map(|file| file.local.clone()),
        }),
    }
}

/// Reports the assistant's read position to the holder, for the next owner of
/// the program.
pub(crate) fn note_reads(output: &JobOutput, process: &Process) {
    if let Some(note) = process.read_noter() {
        output.note_reads(note);
    }
}

/// The key of a job whose program is kept.
pub(crate) fn key_of(process: &Process) -> Option<Value> {
    let key = process.held_key()?;
    let size = process
        .terminal()
        .map(windlass_process::ProgramTerminal::size);
    Some(json!(KeptProgramKey {
        folder: key.folder.clone().into(),
        name: key.name.clone(),
        nonce: format!("{:032x}", u128::from_be_bytes(key.nonce)),
        holder: process.holder(),
        terminal: size.map(|size| (size.rows, size.cols)),
        remote: key.remote.as_ref().map(|place| KeptRemotePlace {
            host: place.host.clone(),
            program: place.program,
        }),
    }))
}

/// Parses a job's key.
pub(crate) fn read_key(key: &Value) -> Result<(HeldKey, KeptProgramKey), AdoptError> {
    let described: KeptProgramKey =
        serde_json::from_value(key.clone()).map_err(|_| AdoptError::Gone)?;
    let nonce = nonce(&described.nonce).ok_or(AdoptError::Gone)?;
    let key = HeldKey {
        folder: described.folder.local.clone(),
        name: described.name.clone(),
        nonce,
        remote: described.remote.as_ref().map(|place| RemotePlace {
            host: place.host.clone(),
            program: place.program,
        }),
    };
    Ok((key, described))
}

fn nonce(text: &str) -> Option<[u8; 16]> {
    let number = u128::from_str_radix(text, 16).ok()?;
    Some(number.to_be_bytes())
}

/// Converts an error of taking a program over.
pub(crate) fn adopt_error(error: windlass_process::TakeOverError) -> AdoptError {
    match error {
        windlass_process::TakeOverError::Busy { owner, .. } => AdoptError::Taken { owner },
        windlass_process::TakeOverError::Gone { .. } => AdoptError::Gone,
        windlass_process::TakeOverError::Silent { .. }
        | windlass_process::TakeOverError::Refused { .. } => AdoptError::Silent,
        system @ windlass_process::TakeOverError::System { .. } => AdoptError::Failed {
            why: system.to_string(),
        },
    }
}

/// The error for a running program whose tool has changed, so that its plan
/// cannot be rebuilt.
pub(crate) fn unplanned(error: ToolError) -> AdoptError {
    AdoptError::Failed { why: error.message }
}
