//! `cargo xtask schemas`: the JSON Schema files of the protocol's types.
//!
//! Start at [`all`], which generates every file from the types. [`write()`] writes them to `schemas/`, and a test fails
//! when they are stale. The first nine have opencode's names. Each file is self-contained and uses draft 2020-12.
//! [`shape`] adjusts the output of schemars.

mod shape;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};
use windlass_protocol::{
    AwaitReply, AwaitRequest, Context as ToolContext, DriveOutput, DriverReport, DriverRequest,
    HandleView, Notice, PartState, PermissionReply, PermissionRequest, PermissionToolContext,
    Question, StateCompleted, StateError, StatePending, StateRunning, ToolDescriptions,
    ToolInvocation, ToolPart, ToolState,
};

use crate::workspace;

/// One schema file.
#[derive(Debug, Clone)]
pub(crate) struct SchemaFile {
    /// Its name without `.schema.json`.
    pub(crate) name: &'static str,
    /// The schema itself.
    pub(crate) schema: Value,
}

impl SchemaFile {
    /// The path of the file.
    pub(crate) fn path(&self) -> PathBuf {
        folder().join(format!("{}.schema.json", self.name))
    }

    /// The contents of the file.
    pub(crate) fn text(&self) -> String {
        format!("{:#}\n", self.schema)
    }
}

/// The directory of the schema files.
pub(crate) fn folder() -> PathBuf {
    workspace::root().join("schemas")
}

/// Every schema file, generated from the protocol's types.
pub(crate) fn all() -> Vec<SchemaFile> {
    vec![
        file::<PartState>("toolState", Form::Record),
        state_file::<StatePending>("toolStatePending", "pending"),
        state_file::<StateRunning>("toolStateRunning", "running"),
        state_file::<StateCompleted>("toolStateCompleted", "completed"),
        state_file::<StateError>("toolStateError", "error"),
        file::<ToolPart>("toolPart", Form::Record),
        file::<PermissionRequest>("permissionRequest", Form::Record),
        file::<PermissionReply>("permissionReply", Form::Record),
        file::<PermissionToolContext>("permissionToolContext", Form::Record),
        file::<ToolState>("protocolState", Form::Read),
        file::<Question>("question", Form::Read),
        file::<HandleView>("handleView", Form::Written),
        file::<Notice>("notice", Form::Written),
        file::<AwaitRequest>("awaitRequest", Form::Read),
        file::<AwaitReply>("awaitReply", Form::Written),
        file::<ToolDescriptions>("toolDescriptions", Form::Read),
        file::<DriveOutput>("driveOutput", Form::Written),
        file::<DriverRequest>("driverRequest", Form::Read),
        file::<DriverReport>("driverReport", Form::Read),
        file::<ToolContext>("context", Form::Written),
        file::<ToolInvocation>("tool", Form::Written),
    ]
}

/// Writes every schema file and removes those that are no longer generated.
pub(crate) fn write() -> anyhow::Result<()> {
    let files = all();
    std::fs::create_dir_all(folder())
        .with_context(|| format!("cannot create `{}`", folder().display()))?;
    for file in &files {
        std::fs::write(file.path(), file.text())
            .with_context(|| format!("cannot write `{}`", file.path().display()))?;
    }
    for path in found()? {
        if !files.iter().any(|file| file.path() == path) {
            std::fs::remove_file(&path)
                .with_context(|| format!("cannot remove `{}`", path.display()))?;
        }
    }
    println!("wrote {} files to schemas/", files.len());
    write_types()?;
    write_openapi()
}

/// Generates the types of the Python and TypeScript packages from the schema files.
fn write_types() -> anyhow::Result<()> {
    let script = workspace::root().join("xtask/sdk/generate_types.py");
    let status = Command::new("python3")
        .arg(&script)
        .status()
        .with_context(|| format!("cannot run `python3 {}`", script.display()))?;
    ensure!(status.success(), "`{}` failed", script.display());
    Ok(())
}

/// Writes `openapi.json`, by running the test of the interface that generates it.
fn write_openapi() -> anyhow::Result<()> {
    let mut command = workspace::cargo_command();
    let test = [
        "test",
        "--package",
        "windlass-control",
        "--lib",
        "openapi_json",
    ];
    command.args(test).env("WINDLASS_GENERATE", "1");
    let said = workspace::shown(&command);
    println!("$ {said}");
    let status = command.status().context("cannot run cargo")?;
    ensure!(status.success(), "`{said}` failed");
    Ok(())
}

/// The existing schema files.
pub(crate) fn found() -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder()).context("cannot list `schemas`")? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".schema.json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The audience of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Writers of our input: fields with a default may be missing, and `null` is the same as absent.
    Read,
    /// Readers of our output: absent fields are omitted, never `null`.
    Written,
    /// Both, in a format defined by others: fields with a default may be missing, and nothing is `null`.
    Record,
}

fn file<T: JsonSchema>(name: &'static str, form: Form) -> SchemaFile {
    SchemaFile {
        name,
        schema: shape::finish(name, generate::<T>(form)),
    }
}

/// The schema of one state of a part, with its status, which is included on the wire.
fn state_file<T: JsonSchema>(name: &'static str, status: &str) -> SchemaFile {
    let mut schema = generate::<T>(Form::Record);
    shape::tag(
        schema.ensure_object(),
        "status",
        &json!({ "type": "string", "const": status }),
    );
    SchemaFile {
        name,
        schema: shape::finish(name, schema),
    }
}

fn generate<T: JsonSchema>(form: Form) -> Schema {
    let settings = SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(shape::first_paragraph))
        .with_transform(RecursiveTransform(shape::plain_enum))
        .with_transform(RecursiveTransform(shape::without_number_format));
    let settings = match form {
        Form::Read => settings,
        Form::Record => settings.with_transform(RecursiveTransform(shape::without_null)),
        Form::Written => settings
            .for_serialize()
            .with_transform(RecursiveTransform(shape::without_null)),
    };
    settings.into_generator().into_root_schema_for::<T>()
}

#[cfg(test)]
#[path = "schemas_tests.rs"]
mod tests;
