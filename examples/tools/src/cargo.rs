//! `cargo`: checks, builds and tests, and tells in few words what came of it.
//!
//! Start at [`Cargo::run`]. Two threads read what cargo says: its messages
//! (`messages.rs`) become the errors that are told and the result, its
//! progress (`progress.rs`) becomes a line per tenth.

mod messages;
mod progress;

use std::io::BufReader;
use std::process::{Child, Command, Stdio};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_sdk::{Error, Stateful, ToolHandle, unblock};

use self::messages::Messages;

/// Checks, builds or tests a Rust project in the background.
///
/// Compiler errors are told as they come, a line each; progress is told in
/// tenths. The result lists errors, warnings and failed tests.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Cargo {
    /// What to do.
    command: CargoCommand,
    /// The package; the whole workspace unless said.
    package: Option<String>,
    /// Optimise.
    #[serde(default)]
    release: bool,
    /// Further arguments, such as `--features x`. Of `test`, those after `--`
    /// go to the tests.
    #[serde(default)]
    args: Vec<String>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CargoCommand {
    /// Only look for errors.
    Check,
    /// Look for errors and bad habits.
    Clippy,
    /// Make the programs.
    Build,
    /// Run the tests.
    Test,
}

impl Cargo {
    /// The command line, for a person.
    pub(crate) fn line(&self) -> String {
        format!("cargo {}", self.arguments().join(" "))
    }

    fn arguments(&self) -> Vec<String> {
        let command = match self.command {
            CargoCommand::Check => "check",
            CargoCommand::Clippy => "clippy",
            CargoCommand::Build => "build",
            CargoCommand::Test => "test",
        };
        let mut arguments = vec![command.to_owned(), "--message-format=json".to_owned()];
        match &self.package {
            Some(package) => arguments.extend(["--package".to_owned(), package.clone()]),
            None => arguments.push("--workspace".to_owned()),
        }
        if self.release {
            arguments.push("--release".to_owned());
        }
        if matches!(self.command, CargoCommand::Test) {
            // Every failure is wanted, also past the first binary that fails.
            arguments.push("--no-fail-fast".to_owned());
        }
        arguments.extend(self.args.iter().cloned());
        arguments
    }

    fn start(&self, handle: &ToolHandle) -> Result<Child, Error> {
        let mut command = Command::new("cargo");
        command
            .args(self.arguments())
            .current_dir(handle.call().root())
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_TERM_PROGRESS_WHEN", "always")
            .env("CARGO_TERM_PROGRESS_WIDTH", "80")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[expect(
            clippy::disallowed_methods,
            reason = "a tool's children are in its tree, and so are ended with it"
        )]
        let child = command.spawn();
        child.map_err(|error| Error::from(error).context("cannot run cargo"))
    }
}

impl Stateful for Cargo {
    async fn run(self, handle: ToolHandle) -> Result<String, Error> {
        let mut child = self.start(&handle)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(Error::new("cargo has no output"));
        };
        let progress = {
            let handle = handle.clone();
            std::thread::spawn(move || progress::tell(BufReader::new(stderr), &handle))
        };
        let messages = {
            let handle = handle.clone();
            unblock(move || Messages::read(BufReader::new(stdout), &handle))
        };
        let messages = match handle.unless_aborted(messages).await {
            Ok(messages) => messages?,
            Err(aborted) => {
                // It may have exited meanwhile.
                let _ = child.kill();
                child.wait()?;
                return Err(aborted);
            }
        };
        let status = child.wait()?;
        let said = progress.join().unwrap_or_default();
        messages.conclude(status.success(), &said)
    }
}
