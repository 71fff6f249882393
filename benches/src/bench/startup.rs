//! From the start of `windlass drive` to its first reply, that of a one-shot;
//! and `windlass tools` with ten tools whose descriptions are cached.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};

use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

const CALL: &str =
    r#"{"batch":"b","calls":[{"id":"c","tool":"shell","arguments":{"command":"true"}}]}"#;

/// Empty if there is no `windlass` binary.
pub(super) fn measure(pace: Pace) -> Vec<Line> {
    let binary = match binary() {
        Ok(binary) => binary,
        Err(problem) => {
            eprintln!("startup is left out: {problem}");
            return Vec::new();
        }
    };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (mut floor, mut drive) = (Samples::default(), Samples::default());
    for _ in 0..pace.pick(40, 5) {
        let (time, echoed) = first_answer(Command::new("/bin/cat"), folder.path());
        assert_eq!(echoed.trim_end(), CALL);
        floor.push_time(time);
        let mut command = Command::new(&binary);
        command.arg("drive");
        let (time, answer) = first_answer(command, folder.path());
        assert!(answer.contains(r#""is_error":false"#), "{answer}");
        drive.push_time(time);
    }
    let first = Line {
        what: "start of `drive` to its first answer, against cat".to_owned(),
        measured: Quantity::of(&drive, Unit::Millis),
        floor: Some(Quantity::of(&floor, Unit::Millis)),
        goal: Goal::AtMost(20_000.0),
    };
    vec![first, tools(&binary, pace)]
}

/// A program that describes ten tools and logs each query.
const DESCRIBING: &str = r#"echo x >> asked
printf '{"tools":['
for n in 0 1 2 3 4 5 6 7 8; do printf '{"name":"t%s","parameters":{"a":{"type":"string"}}},' $n; done
echo '{"name":"t9"}]}'
"#;

fn tools(binary: &Path, pace: Pace) -> Line {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().expect("it is in a folder")).expect("it can be made");
        std::fs::write(file, text).expect("a file can be written");
    };
    let tables = (0..10).map(|n| format!("[conversation.tools.t{n}]\ncommand = \"sh it.sh\"\n"));
    write(
        ".config/windlass/config.toml",
        &tables.collect::<Vec<_>>().concat(),
    );
    write("it.sh", DESCRIBING);
    let (mut floor, mut warm) = (Samples::default(), Samples::default());
    finished(binary, &["tools", "--json"], folder.path());
    for _ in 0..pace.pick(40, 5) {
        floor.push_time(finished(binary, &["--version"], folder.path()).0);
        let (time, printed) = finished(binary, &["tools", "--json"], folder.path());
        assert!(printed.contains(r#""name": "t9""#), "{printed}");
        warm.push_time(time);
    }
    let asked = std::fs::read_to_string(folder.path().join("asked"));
    assert_eq!(asked.expect("it was asked").lines().count(), 1);
    Line {
        what: "`tools --json` with ten described ones, warm, against --version".to_owned(),
        measured: Quantity::of(&warm, Unit::Millis),
        floor: Some(Quantity::of(&floor, Unit::Millis)),
        goal: Goal::Over(30_000.0),
    }
}

/// Runs a command to its end.
#[expect(clippy::disallowed_methods, reason = "a whole runtime is started")]
fn finished(binary: &Path, arguments: &[&str], folder: &Path) -> (Duration, String) {
    let mut command = Command::new(binary);
    command
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME");
    let start = Instant::now();
    let output = command.output().expect("it starts");
    let time = start.elapsed();
    assert!(output.status.success());
    (time, String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The `windlass` binary beside this program. Under cargo it is built first, so
/// that no outdated one is measured.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo is no tool and leaves nothing behind"
)]
pub(super) fn binary() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    if let (Some(cargo), Some(target)) = (std::env::var_os("CARGO"), folder.parent())
        && folder.file_name() == Some(OsStr::new("release"))
    {
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--release", "--package", "windlass-cli"])
            .arg("--target-dir")
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        if !built.is_ok_and(|status| status.success()) {
            bail!("windlass-cli cannot be built");
        }
    }
    let binary = folder.join("windlass");
    ensure!(
        binary.is_file(),
        "`{}` is missing; run `cargo build --release --package windlass-cli`",
        binary.display()
    );
    Ok(binary)
}

/// Starts it, writes the call and waits for a line; then closes its input.
#[expect(
    clippy::disallowed_methods,
    reason = "a whole runtime is started, and a floor"
)]
fn first_answer(mut command: Command, folder: &Path) -> (Duration, String) {
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    let stdout = child.stdout.take().expect("it was asked for");
    writeln!(stdin, "{CALL}").expect("it reads");
    let mut answer = String::new();
    BufReader::new(stdout)
        .read_line(&mut answer)
        .expect("it answers");
    let time = start.elapsed();
    drop(stdin);
    child.wait().expect("it is ours");
    (time, answer)
}
