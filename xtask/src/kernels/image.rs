//! The initial file system of a machine: our programs, and those that the checks use, with their libraries.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::workspace;

/// Programs that the checks and tests use.
const PROGRAMS: &[&str] = &[
    "cat", "chmod", "cut", "dash", "dd", "env", "grep", "head", "kill", "ln", "ls", "mkdir",
    "mount", "mv", "nohup", "python3", "rm", "sed", "seq", "setpriv", "setsid", "sleep", "tail",
    "touch", "tr", "true", "truncate", "unshare", "wc",
];

/// Builds the image in a directory, and returns its path.
pub(super) fn make(folder: &Path) -> anyhow::Result<PathBuf> {
    let root = folder.join("root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    for part in ["bin", "usr/bin", "etc", "dev", "proc", "sys"] {
        fs::create_dir_all(root.join(part))?;
    }
    let mut needed = BTreeSet::new();
    for name in PROGRAMS {
        let path = super::find(name).with_context(|| format!("there is no `{name}` here"))?;
        add_program(&path, &root.join("usr/bin").join(name), &mut needed)?;
    }
    let busybox = super::find("busybox").context("there is no `busybox` here")?;
    add_program(&busybox, &root.join("bin/busybox"), &mut needed)?;
    std::os::unix::fs::symlink("../usr/bin/dash", root.join("bin/sh"))?;
    for name in ["true", "sleep", "cat"] {
        std::os::unix::fs::symlink(format!("../usr/bin/{name}"), root.join("bin").join(name))?;
    }
    let windlass = workspace::build_windlass()?;
    add_stripped(&windlass, &root.join("usr/bin/windlass"), &mut needed)?;
    add_stripped(&test_program()?, &root.join("it"), &mut needed)?;
    add_python(&root, &mut needed)?;
    for library in &needed {
        copy(
            library,
            &root.join(library.strip_prefix("/").unwrap_or(library)),
        )?;
    }
    let users = "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/home/user:/bin/sh\n";
    for (name, text, mode) in [
        ("init", include_str!("init.sh"), 0o755),
        ("try.py", include_str!("try.py"), 0o644),
        ("etc/passwd", users, 0o644),
        ("etc/group", "root:x:0:\nnogroup:x:65534:\n", 0o644),
        ("etc/hosts", "127.0.0.1 localhost\n", 0o644),
    ] {
        fs::write(root.join(name), text)?;
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode))?;
    }
    pack(&root, &folder.join("image"))
}

/// The test program of `process`, which runs without cargo.
fn test_program() -> anyhow::Result<PathBuf> {
    let mut command = workspace::cargo_command();
    let test = ["test", "--package", "windlass-process", "--test", "it"];
    command
        .args(test)
        .args(["--no-run", "--message-format=json"]);
    println!("$ {}", workspace::shown(&command));
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the tests were not built");
    let mut messages = cargo_metadata::Message::parse_stream(&output.stdout[..]).flatten();
    let program = messages.find_map(|message| match message {
        cargo_metadata::Message::CompilerArtifact(built) => built.executable,
        _ => None,
    });
    Ok(program.context("cargo has built no test program")?.into())
}

/// Copies a program, and notes its libraries.
fn add_program(path: &Path, to: &Path, needed: &mut BTreeSet<PathBuf>) -> anyhow::Result<()> {
    copy(path, to)?;
    let output = Command::new("ldd").arg(path).output()?;
    // It fails for static programs.
    let text = String::from_utf8_lossy(&output.stdout);
    let libraries = text.lines().filter_map(library);
    needed.extend(libraries.map(PathBuf::from));
    Ok(())
}

/// The path in a line of `ldd`: `name => path (address)`, or `path (address)`.
fn library(line: &str) -> Option<&str> {
    let path = line.split("=>").last()?.trim();
    let path = path.split(" (").next()?;
    path.starts_with('/').then_some(path)
}

/// Copies a program without its debug information, which is most of it.
fn add_stripped(path: &Path, to: &Path, needed: &mut BTreeSet<PathBuf>) -> anyhow::Result<()> {
    add_program(path, to, needed)?;
    let stripped = Command::new("strip").arg(to).status();
    ensure!(stripped.is_ok_and(|it| it.success()), "`strip` failed");
    Ok(())
}

/// Copies Python's own modules, and the libraries of its extensions.
fn add_python(root: &Path, needed: &mut BTreeSet<PathBuf>) -> anyhow::Result<()> {
    let code = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let python = super::find("python3").context("there is no `python3` here")?;
    let output = Command::new(python).args(["-c", code]).output()?;
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let to = root.join(folder.strip_prefix("/")?);
    fs::create_dir_all(to.parent().context("it is below the root")?)?;
    let status = Command::new("cp")
        .arg("-rL")
        .arg(&folder)
        .arg(&to)
        .status()?;
    ensure!(status.success(), "Python's modules were not copied");
    for entry in folder.join("lib-dynload").read_dir()?.flatten() {
        let output = Command::new("ldd").arg(entry.path()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        needed.extend(text.lines().filter_map(library).map(PathBuf::from));
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy `{}`", from.display()))?;
    Ok(())
}

/// Writes a directory as an archive that a kernel reads at its start.
fn pack(root: &Path, image: &Path) -> anyhow::Result<PathBuf> {
    let script = "find . | cpio --quiet -o -H newc -R +0:+0 | gzip -1";
    let file = fs::File::create(image)?;
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(root).stdout(file);
    ensure!(command.status()?.success(), "`cpio` failed");
    Ok(image.to_owned())
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
