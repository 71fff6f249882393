//! The machine: kernel, folders, terminal and programs.

use std::fs;
use std::io::IsTerminal;
use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use windlass_process::{Launcher, LauncherOptions};

use super::CheckHealth::{Bad, Fair, Good, Told};
use super::Checked;

pub(super) async fn checks() -> Vec<Checked> {
    let mut checks = vec![versions()];
    checks.extend(kernel());
    checks.extend(sandbox().await);
    checks.extend(folders());
    checks.extend(programs());
    checks.push(terminal());
    checks
}

fn versions() -> Checked {
    let uname = rustix::system::uname();
    let found = format!(
        "windlass {} on {} {}",
        env!("CARGO_PKG_VERSION"),
        uname.sysname().to_string_lossy(),
        uname.release().to_string_lossy()
    );
    Checked::new("versions", Told, found)
}

#[cfg(not(target_os = "linux"))]
fn kernel() -> Vec<Checked> {
    let found = "programs are ended by process group, and are not ended if windlass is killed";
    vec![
        Checked::new("kernel", Fair, found)
            .remedy("docs/guide/hosts.md shows how to run programs on a machine with Linux"),
    ]
}

#[cfg(target_os = "linux")]
fn kernel() -> Vec<Checked> {
    let mut checks = Vec::new();
    checks.push(match pidfd_open(getpid(), PidfdFlags::empty()) {
        Ok(_) => Checked::new(
            "kernel: pidfd",
            Good,
            "the exit of a program is detected immediately",
        ),
        Err(error) => Checked::new("kernel: pidfd", Bad, format!("refused: {error}"))
            .remedy("use Linux 5.3 or newer, or a container that allows pidfd_open"),
    });
    checks.push(if fs::read("/proc/self/syscall").is_ok() {
        Checked::new(
            "kernel: /proc",
            Good,
            "programs that wait for input are detected",
        )
    } else {
        Checked::new(
            "kernel: /proc",
            Fair,
            "/proc/PID/syscall cannot be read; waiting programs are detected less precisely",
        )
    });
    checks
}

/// Tests each part of a sandbox.
async fn sandbox() -> Vec<Checked> {
    let launcher = match Launcher::new(LauncherOptions::default()) {
        Ok(launcher) => launcher,
        Err(error) => {
            let found = format!("programs cannot be started: {error}");
            return vec![Checked::new("sandbox", Bad, found).remedy("check `ulimit -a`")];
        }
    };
    let lines = windlass_process::sandbox_support(&launcher).await.lines();
    let checks = lines.into_iter().map(|(is_enforced, found)| {
        if is_enforced {
            return Checked::new("sandbox", Good, found);
        }
        Checked::new("sandbox", Fair, found)
            .remedy("docs/guide/sandbox.md lists the consequences and the requirements")
    });
    checks.collect()
}

fn folders() -> Vec<Checked> {
    let folders = [
        ("state folder", windlass::state_dir()),
        ("cache folder", windlass::cache_dir()),
    ];
    let checked = folders.into_iter().map(|(subject, folder)| {
        let shown = folder.display();
        let made = fs::create_dir_all(&folder);
        let made = made.and_then(|()| {
            tempfile::Builder::new()
                .prefix(".doctor-")
                .tempfile_in(&folder)
        });
        match made {
            Ok(_) => Checked::new(subject, Good, shown.to_string()),
            Err(error) => Checked::new(subject, Bad, format!("{shown} cannot be written: {error}"))
                .remedy("make it writable, or set XDG_STATE_HOME and XDG_CACHE_HOME"),
        }
    });
    checked.collect()
}

fn programs() -> Vec<Checked> {
    let variable = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.trim().is_empty())
    };
    let shell = variable("SHELL").unwrap_or_else(|| "/bin/sh".to_owned());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR"));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let first = |command: &str| shlex::split(command).and_then(|words| words.into_iter().next());
    let mut checks = Vec::new();
    for (subject, command, remedy) in [
        ("shell", shell, "set SHELL to an installed shell"),
        ("editor", editor, "set EDITOR"),
    ] {
        let program = first(&command).unwrap_or_default();
        checks.push(if is_program(&program) {
            Checked::new(subject, Good, command)
        } else {
            Checked::new(subject, Fair, format!("`{command}` does not exist")).remedy(remedy)
        });
    }
    let on_path = std::env::var_os("PATH").and_then(|path| {
        let mut folders = std::env::split_paths(&path);
        folders.find(|folder| folder.join("windlass").is_file())
    });
    checks.push(match on_path {
        Some(folder) => Checked::new(
            "on PATH",
            Good,
            folder.join("windlass").display().to_string(),
        ),
        None => Checked::new("on PATH", Fair, "`windlass` is not on PATH")
            .remedy("add its folder to PATH, so that agents can start it by name"),
    });
    checks
}

fn is_program(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    !program.is_empty() && std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn terminal() -> Checked {
    if !std::io::stdout().is_terminal() {
        return Checked::new("terminal", Told, "the output is not a terminal");
    }
    let term = std::env::var("TERM").unwrap_or_default();
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut locale = locale.iter().filter_map(|name| std::env::var(name).ok());
    let locale = locale.find(|value| !value.is_empty()).unwrap_or_default();
    let is_unicode = locale
        .to_ascii_lowercase()
        .replace('-', "")
        .contains("utf8");
    if is_unicode {
        Checked::new("terminal", Good, format!("{term}, {locale}"))
    } else {
        let found = format!("{term}; the locale `{locale}` is not UTF-8");
        Checked::new("terminal", Fair, found).remedy("set LANG, such as C.UTF-8")
    }
}
