//! `windlass tools new`: writes a working tool, and the config that registers
//! it.
//!
//! Start at [`run`]. The templates are in the directory `new`, with `@NAME@`
//! for the tool's name.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use windlass::config::BUILTINS;
use windlass_schema::check_name;

use crate::args::{Global, Language, NewTool};
use crate::setup;
use crate::stdout::outln;
use crate::trust::Before;

/// The directory of the SDK in the source tree of this build. `None` in a
/// program from a package.
const SDK: Option<&str> = option_env!("WINDLASS_SDK_FOLDER");

pub(crate) fn run(global: &Global, new: &NewTool) -> anyhow::Result<ExitCode> {
    check_name(&new.name)?;
    let config = setup::config(global)?;
    if BUILTINS.contains(&new.name.as_str()) {
        bail!("`{}` is a built-in tool; choose another name", new.name);
    }
    if let Some(tool) = config.tool(&new.name) {
        let place = tool.place.as_ref().map(|place| format!(" in {place}"));
        bail!(
            "tool `{}` exists already{}; choose another name",
            new.name,
            place.unwrap_or_default()
        );
    }
    let before = Before::of(&config);
    let folder = config.root.join(".windlass/tools");
    let files = files(new, &folder)?;
    // Write all files or none.
    if let Some((taken, _)) = files.iter().find(|(path, _)| path.exists()) {
        bail!("`{}` exists already and was not changed", taken.display());
    }
    for (path, text) in &files {
        write(path, text)?;
        outln!("wrote {}", shown(path, &config.root))?;
    }
    before.trust_written(global, &files)?;
    outln!("\nnext:\n{}", next(new))?;
    Ok(ExitCode::SUCCESS)
}

/// The files of a tool; its config is last.
fn files(new: &NewTool, folder: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let name = &new.name;
    let filled = |template: &str| template.replace("@NAME@", name);
    let (mut files, command) = match new.lang {
        Language::Python => {
            let program = filled(include_str!("new/tool.py"));
            let file = format!("{name}.py");
            let command = format!("python3 .windlass/tools/{file}");
            (vec![(folder.join(file), program)], command)
        }
        Language::Sh => {
            let program = filled(include_str!("new/tool.sh"));
            let file = format!("{name}.sh");
            let arguments = "{{context.action}} {{tool.arguments.name}} {{tool.answers.loud}}";
            let command = format!("sh .windlass/tools/{file} {arguments}");
            (vec![(folder.join(file), program)], command)
        }
        Language::Rust => {
            let package = folder.join(name);
            let manifest = filled(include_str!("new/Cargo.toml.in")).replace("@SDK@", &sdk(new)?);
            let program = filled(include_str!("new/main.rs.in"));
            let files = vec![
                (package.join("Cargo.toml"), manifest),
                (package.join("src/main.rs"), program),
                (package.join(".gitignore"), "/target\n".to_owned()),
            ];
            let command = format!(".windlass/tools/{name}/target/release/{name}");
            (files, command)
        }
    };
    let config =
        format!("[conversation.tools.{name}]\nsource = \"local\"\ncommand = \"{command}\"\n");
    files.push((folder.join(format!("{name}.toml")), config));
    Ok(files)
}

/// The SDK as a dependency in a manifest.
fn sdk(new: &NewTool) -> anyhow::Result<String> {
    let Some(path) = new.sdk.clone().or_else(|| SDK.map(PathBuf::from)) else {
        return Ok(format!("{:?}", env!("CARGO_PKG_VERSION")));
    };
    let path = path.canonicalize().with_context(|| {
        format!(
            "`{}` does not contain the SDK; give the folder of the package `windlass-sdk` with \
             `--sdk`, or \
             in WINDLASS_SDK",
            path.display()
        )
    })?;
    if !path.join("Cargo.toml").is_file() {
        bail!(
            "`{}` does not contain a package; give the folder of the package `windlass-sdk`",
            path.display()
        );
    }
    // TOML and JSON strings are quoted alike.
    let quoted = serde_json::to_string(&path.to_string_lossy())?;
    Ok(format!("{{ path = {quoted} }}"))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        File::create_new(path)?.write_all(text.as_bytes())
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

fn next(new: &NewTool) -> String {
    let name = &new.name;
    let build = match new.lang {
        Language::Rust => format!(
            "  cargo build --release --manifest-path .windlass/tools/{name}/Cargo.toml \
             --target-dir .windlass/tools/{name}/target\n  windlass trust\n"
        ),
        Language::Python | Language::Sh => String::new(),
    };
    format!("{build}  windlass tools check\n  windlass call {name} '{{\"name\": \"world\"}}'")
}
