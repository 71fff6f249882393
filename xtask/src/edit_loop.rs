//! `cargo xtask edit-loop`: the seconds from an edit to the first test result.
//!
//! A line is appended to a file of a crate, and the time is taken until the
//! first test of that crate has its result, and until the first test of the
//! command has. Everything is built before, so the figures are those of a
//! developer's second edit. [`EditedFile`] puts the file back, even if this
//! program is killed.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::workspace;

/// An edit whose loop is measured.
struct Loop {
    name: &'static str,
    package: &'static str,
    /// The file that is edited.
    file: &'static str,
    /// A test of its own, by the part of its name that no other test has.
    test: &'static str,
}

const LOOPS: [Loop; 4] = [
    Loop {
        name: "protocol",
        package: "windlass-protocol",
        file: "crates/protocol/src/lib.rs",
        test: "every_state_of_a_part_is_read_and_written_alike",
    },
    Loop {
        name: "runtime",
        package: "windlass-runtime",
        file: "crates/runtime/src/dispatch.rs",
        test: "a_result_of_its_own_is_passed_on_exactly",
    },
    Loop {
        name: "process",
        package: "windlass-process",
        file: "crates/process/src/process.rs",
        test: "programs_run_and_are_read",
    },
    Loop {
        name: "cli",
        package: "windlass-cli",
        file: "crates/cli/src/ages.rs",
        test: "a_time_is_a_number_and_a_unit",
    },
];

/// The test of the command whose result is waited for.
const OF_COMMAND: &str = "the_short_version_is_one_line";

/// At the end of its input, puts a file back with its time, so that nothing is
/// built again for it.
const KEEPER: &str = "cat >/dev/null; cp -p \"$1\" \"$2\" && rm \"$1\"";

/// Measures the loops that the arguments name; all of them without any.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let loops = chosen(arguments)?;
    for edited in &loops {
        check_committed(edited.file)?;
    }
    let mut rows = Vec::new();
    for edited in loops {
        // What an earlier build has left to do is not part of the loop.
        own_result(edited)?;
        command_result()?;
        let own = after_edit(edited, || own_result(edited))?;
        let command = after_edit(edited, command_result)?;
        rows.push((edited.name, own, command));
    }
    print!("{}", table(&rows));
    Ok(())
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Loop>> {
    let known = || LOOPS.iter().map(|edited| edited.name).collect::<Vec<_>>();
    if names.is_empty() {
        return Ok(LOOPS.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            let found = LOOPS.iter().find(|edited| edited.name == name);
            found.with_context(|| format!("`{name}` is none of {}", known().join(", ")))
        })
        .collect()
}

/// Refuses a file that somebody is working on.
fn check_committed(file: &str) -> anyhow::Result<()> {
    let status = Command::new("git")
        .args(["status", "--porcelain", "--", file])
        .current_dir(workspace::root())
        .output()
        .context("cannot ask git for changes")?;
    ensure!(status.status.success(), "git does not know `{file}`");
    ensure!(
        status.stdout.is_empty(),
        "`{file}` has changes; commit them first, since a line is appended and taken away"
    );
    Ok(())
}

/// The time of a test after an edit, which is undone.
fn after_edit(
    edited: &Loop,
    test: impl FnOnce() -> anyhow::Result<Instant>,
) -> anyhow::Result<Duration> {
    let file = EditedFile::edit(&workspace::root().join(edited.file))?;
    let begun = Instant::now();
    let result = test();
    file.restore()?;
    Ok(result? - begun)
}

/// Runs the crate's own test; returns when it had its result.
fn own_result(edited: &Loop) -> anyhow::Result<Instant> {
    first_result(&["--package", edited.package, edited.test])
}

/// Builds the program and runs a test of it; returns when it had its result.
fn command_result() -> anyhow::Result<Instant> {
    workspace::cargo(["build", "--quiet", "--package", "windlass-cli"])?;
    first_result(&["--package", "windlass-command-tests", OF_COMMAND])
}

fn first_result(arguments: &[&str]) -> anyhow::Result<Instant> {
    let mut command = workspace::cargo_command();
    command.args(["test", "--quiet", "--tests"]).args(arguments);
    command.args(["--", "--format", "pretty"]);
    println!("$ {}", workspace::shown(&command));
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().context("its output is a pipe")?;
    let mut first = None;
    for line in BufReader::new(output).lines() {
        let line = line?;
        if line.starts_with("test ") && line.ends_with("... ok") {
            first.get_or_insert_with(Instant::now);
        }
    }
    ensure!(child.wait()?.success(), "the test failed");
    let Some(first) = first else {
        bail!("no test was run; its name in `xtask/src/edit_loop.rs` is wrong");
    };
    Ok(first)
}

/// A file with a line more than it had. A process of its own puts it back when
/// this process ends, however that may be.
struct EditedFile {
    keeper: Child,
}

impl EditedFile {
    fn edit(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot edit `{}`", path.display());
        let kept = kept_copy(path).with_context(cannot)?;
        // Not in this group, which Ctrl-C ends.
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(kept)
            .arg(path)
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let edited = Self { keeper };
        let text = std::fs::read_to_string(path).with_context(cannot)?;
        // Not a comment: the compiler must look at it. Never the same line.
        let time = std::time::UNIX_EPOCH.elapsed()?.as_nanos();
        std::fs::write(path, format!("{text}const _: u128 = {time};\n")).with_context(cannot)?;
        Ok(edited)
    }

    fn restore(mut self) -> anyhow::Result<()> {
        // Its input ends here.
        drop(self.keeper.stdin.take());
        ensure!(self.keeper.wait()?.success(), "a file was not put back");
        Ok(())
    }
}

/// A copy of the file, with its time.
fn kept_copy(path: &Path) -> anyhow::Result<PathBuf> {
    let (_, kept) = tempfile::NamedTempFile::new()?.keep()?;
    std::fs::copy(path, &kept)?;
    let written = std::fs::metadata(path)?.modified()?;
    std::fs::File::options()
        .write(true)
        .open(&kept)?
        .set_modified(written)?;
    Ok(kept)
}

fn table(rows: &[(&str, Duration, Duration)]) -> String {
    let row = |name: &str, own: &str, command: &str| format!("{name:<10} {own:>9} {command:>16}\n");
    let seconds = |time: &Duration| format!("{:.1}", time.as_secs_f64());
    let mut table = "\nseconds from an edit to the first test result\n".to_owned();
    table += &row("edit in", "its tests", "command's tests");
    for (name, own, command) in rows {
        table += &row(name, &seconds(own), &seconds(command));
    }
    table
}

#[cfg(test)]
#[path = "edit_loop_tests.rs"]
mod tests;
