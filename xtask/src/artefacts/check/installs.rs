//! One function per installation method.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::place::EmptyPlace;
use super::registry::LoopbackRegistry;
use super::{Artefacts, Checked, use_it};
use crate::artefacts::{archive, skip};
use crate::packages;

/// Unpacks the archive, installs from it, and removes it again.
pub(super) fn tarball(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let tarball = artefacts.tarball.as_ref().context("there is none")?;
    let place = EmptyPlace::new()?;
    let mut tar = place.command("tar");
    archive::run(tar.arg("--extract").arg("--file").arg(tarball))?;
    let folder = only_entry(&place.path("work"))?;
    let script = folder.join("install.sh");
    let prefix = place.path("prefix");
    archive::run(place.command(&script).arg("--prefix").arg(&prefix))?;
    let took = use_it::all(&artefacts.version, |arguments| {
        let mut command = place.command(prefix.join("bin/windlass"));
        command.args(arguments);
        command
    })?;
    place.is_tidy(&["work", "prefix"])?;
    let mut remove = place.command(&script);
    archive::run(remove.arg("--uninstall").arg("--prefix").arg(&prefix))?;
    let left = archive::files(&prefix).unwrap_or_default();
    ensure!(left.is_empty(), "the script leaves {left:?}");
    Ok(answered(took))
}

/// Lets dpkg install the package into a new root, and remove it again.
pub(super) fn deb(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let Some(deb) = &artefacts.deb else {
        return Ok(Checked::Skipped("there is no Debian package".to_owned()));
    };
    if let Err(why) = archive::run(Command::new("dpkg").arg("--version")) {
        return Ok(Checked::Skipped(format!("{why:#}")));
    }
    let place = EmptyPlace::new()?;
    let root = place.path("root");
    for folder in ["updates", "info", "triggers"] {
        std::fs::create_dir_all(root.join("var/lib/dpkg").join(folder))?;
    }
    for file in ["status", "available"] {
        std::fs::write(root.join("var/lib/dpkg").join(file), "")?;
    }
    let dpkg = |arguments: &[&str]| {
        let mut command = place.command("dpkg");
        command.arg(format!("--root={}", root.display()));
        // An empty root has no libc; the program uses that of the machine.
        command.args(["--force-depends", "--force-not-root", "--log=/dev/null"]);
        command.args(arguments);
        command
    };
    let path = deb.to_str().context("a path that is not UTF-8")?;
    archive::run(&mut dpkg(&["--install", path]))?;
    let took = use_it::all(&artefacts.version, |arguments| {
        let mut command = place.command(root.join("usr/bin/windlass"));
        command.args(arguments);
        command
    })?;
    archive::run(&mut dpkg(&["--purge", "windlass"]))?;
    let left: Vec<PathBuf> = archive::files(&root)?;
    let left: Vec<&PathBuf> = left
        .iter()
        .filter(|file| !is_database(file, &root))
        .collect();
    ensure!(left.is_empty(), "a purge leaves {left:?}");
    place.is_tidy(&["root"])?;
    Ok(answered(took))
}

fn is_database(file: &Path, root: &Path) -> bool {
    file.starts_with(root.join("var/lib/dpkg"))
}

/// Installs the package, with its dependencies, into a system made by `debootstrap`. The container image uses the same
/// steps.
pub(super) fn deb_in_new_system(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let Some(deb) = &artefacts.deb else {
        return Ok(Checked::Skipped("there is no Debian package".to_owned()));
    };
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || archive::run(Command::new("debootstrap").arg("--version")).is_err() {
        let why = "it needs root and `debootstrap`";
        return Ok(Checked::Skipped(why.to_owned()));
    }
    let place = EmptyPlace::new()?;
    let root = place.path("root");
    let mut debootstrap = Command::new("debootstrap");
    debootstrap
        .args(["--variant=minbase", "bookworm"])
        .arg(&root);
    archive::run(&mut debootstrap)?;
    archive::copy(deb, &root.join("windlass.deb"))?;
    let inside = |arguments: &[&str]| {
        let script = r#"mount -t proc proc "$1/proc" && exec chroot "$@""#;
        let mut command = Command::new("unshare");
        command.args(["--mount", "--", "sh", "-c", script, "sh"]);
        command.arg(&root).args(arguments).env_clear();
        command
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", "/root");
        command
    };
    // Dependencies are not forced: the smallest system must have them.
    archive::run(&mut inside(&["dpkg", "--install", "/windlass.deb"]))?;
    let took = use_it::all(&artefacts.version, |arguments| {
        inside(&[&["windlass"], arguments].concat())
    })?;
    Ok(answered(took))
}

/// Installs the wheel into a new virtual environment.
pub(super) fn pip(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let wheel = artefacts.wheel.as_ref().context("there is none")?;
    let place = EmptyPlace::new()?;
    let environment = place.path("environment");
    if let Err(why) = archive::run(
        place
            .command("python3")
            .args(["-m", "venv"])
            .arg(&environment),
    ) {
        return Ok(Checked::Skipped(format!("{why:#}")));
    }
    let mut pip = place.command(environment.join("bin/pip"));
    archive::run(pip.args(["install", "--quiet"]).arg(wheel))?;
    let took = use_it::all(&artefacts.version, |arguments| {
        let mut command = place.command(environment.join("bin/windlass"));
        command.args(arguments);
        command
    })?;
    let library = environment.join("bin/python3");
    let seen = match archive::run(place.command(&library).args(["-c", "import windlass"])) {
        Ok(()) => use_it::library(place.command(&library).args(["-c", PYTHON]))?,
        Err(_) => "no library",
    };
    place.is_tidy(&["environment"])?;
    let mut pip = place.command(environment.join("bin/pip"));
    archive::run(pip.args(["uninstall", "--quiet", "--yes", "windlass"]))?;
    let left = environment.join("bin/windlass").exists();
    ensure!(!left, "`pip uninstall` leaves the program");
    Ok(answered_with(took, seen))
}

/// Runs `uvx windlass mcp` as a user would.
pub(super) fn uvx(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let wheel = artefacts.wheel.as_ref().context("there is none")?;
    let folder = packages::folder("windlass-uv")?;
    if let Err(why) = packages::pypi(&folder, &["uv"]) {
        return Ok(Checked::Skipped(format!("{why:#}")));
    }
    let registry = LoopbackRegistry::start(&[] as &[&Path], wheel)?;
    let place = EmptyPlace::new()?;
    let uvx = |arguments: &[&str]| {
        let mut command = place.command(folder.join("bin/uvx"));
        command.args(["--quiet", "--index", &registry.pypi(), "windlass"]);
        command.args(arguments).env("UV_PYTHON_DOWNLOADS", "never");
        command
    };
    let took = use_it::serves_mcp(uvx(&["mcp"]))?;
    use_it::all(&artefacts.version, uvx)?;
    // uv leaves an empty directory in the data directory.
    place.is_tidy(&["home/.local/share/uv"])?;
    Ok(answered(took))
}

/// A session through the Python library.
const PYTHON: &str = r#"
import asyncio, windlass

async def main():
    async with windlass.Runtime() as runtime:
        async with runtime.session() as session:
            call = {"id": "1", "name": "shell", "arguments": {"command": "echo hello"}}
            print(await session.run([call]))

asyncio.run(main())
"#;

/// A session through the TypeScript library.
const NODE: &str = r#"
import { Runtime } from "windlass";

const runtime = new Runtime();
const session = await runtime.session();
const call = { id: "1", name: "shell", arguments: { command: "echo hello" } };
console.log(JSON.stringify(await session.run([call])));
await session[Symbol.asyncDispose]();
await runtime[Symbol.asyncDispose]();
"#;

/// Installs the npm packages globally.
pub(super) fn npm(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let Some(registry) = npm_registry(artefacts)? else {
        return Ok(Checked::Skipped("there is no npm".to_owned()));
    };
    let place = EmptyPlace::new()?;
    let prefix = place.path("prefix");
    let mut npm = place.command("npm");
    npm.args([
        "install",
        "--global",
        "--loglevel=error",
        "--registry",
        &registry.npm(),
    ]);
    archive::run(npm.arg("--prefix").arg(&prefix).arg("windlass"))?;
    let windlass = |node: Option<&Path>, arguments: &[&str]| {
        let mut command = place.command(prefix.join("bin/windlass"));
        if let Some(Ok(path)) = node.map(packages::path_with) {
            command.env("PATH", path);
        }
        command.args(arguments);
        command
    };
    let took = use_it::all(&artefacts.version, |arguments| windlass(None, arguments))?;
    // A Node that can replace itself by the program.
    match packages::node() {
        Ok(node) => {
            use_it::all(&artefacts.version, |arguments| {
                windlass(Some(&node), arguments)
            })
            .context("with a newer Node")?;
        }
        Err(why) => skip("npm's package with a newer Node", &why),
    }
    // Also for one project, which may use the library.
    let project = place.path("work");
    let mut npm = place.command("npm");
    npm.args([
        "install",
        "--loglevel=error",
        "--registry",
        &registry.npm(),
        "windlass",
    ]);
    archive::run(&mut npm)?;
    let manifest = std::fs::read_to_string(project.join("node_modules/windlass/package.json"))?;
    let seen = if manifest.contains("\"exports\"") {
        archive::write(&project.join("use.mjs"), NODE)?;
        use_it::library(place.command("node").arg("use.mjs"))?
    } else {
        "no library"
    };
    place.is_tidy(&["prefix", "work"])?;
    Ok(answered_with(took, seen))
}

/// Runs `npx windlass mcp` as a user would.
pub(super) fn npx(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    let Some(registry) = npm_registry(artefacts)? else {
        return Ok(Checked::Skipped("there is no npm".to_owned()));
    };
    let place = EmptyPlace::new()?;
    let npx = |arguments: &[&str]| {
        let mut command = place.command("npx");
        command.args(["--yes", "--registry", &registry.npm(), "windlass"]);
        command.args(arguments);
        command
    };
    let took = use_it::serves_mcp(npx(&["mcp"]))?;
    use_it::all(&artefacts.version, npx)?;
    place.is_tidy(&[])?;
    Ok(answered(took))
}

fn npm_registry(artefacts: &Artefacts) -> anyhow::Result<Option<LoopbackRegistry>> {
    let wheel = artefacts.wheel.as_ref().context("there is no wheel")?;
    let npm = artefacts
        .npm
        .as_ref()
        .context("there are no npm packages")?;
    if archive::run(Command::new("npm").arg("--version")).is_err() {
        return Ok(None);
    }
    LoopbackRegistry::start(npm, wheel).map(Some)
}

/// Builds the container image and runs it.
pub(super) fn container(artefacts: &Artefacts) -> anyhow::Result<Checked> {
    if archive::run(Command::new("docker").arg("info")).is_err() {
        let why = "there is no container engine; its steps are those of \"dpkg of a new system\"";
        return Ok(Checked::Skipped(why.to_owned()));
    }
    let root = artefacts.dist.parent().context("a folder is in a folder")?;
    let name = format!("windlass-check-{}", std::process::id());
    let mut build = Command::new("docker");
    build.args([
        "build",
        "--quiet",
        "--file",
        "packaging/docker/Dockerfile",
        "--tag",
        &name,
        ".",
    ]);
    archive::run(build.current_dir(root))?;
    let used = use_it::all(&artefacts.version, |arguments| {
        let mut command = Command::new("docker");
        command
            .args(["run", "--rm", "--interactive", &name])
            .args(arguments);
        command
    });
    archive::run(Command::new("docker").args(["image", "rm", &name]))?;
    Ok(answered(used?))
}

fn answered(took: Duration) -> Checked {
    Checked::Well(format!("first answer after {:.2} s", took.as_secs_f64()))
}

fn answered_with(took: Duration, seen: &str) -> Checked {
    let took = took.as_secs_f64();
    Checked::Well(format!("first answer after {took:.2} s, {seen}"))
}

fn only_entry(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut entries = std::fs::read_dir(folder)?;
    match (entries.next(), entries.next()) {
        (Some(entry), None) => Ok(entry?.path()),
        _ => bail!("`{}` must hold one folder", folder.display()),
    }
}
