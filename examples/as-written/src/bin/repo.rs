use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_sdk::{Exec, InteractiveCommand, Tool, Tools};

/// Works with the repository, step by step.
#[derive(Deserialize, JsonSchema)]
struct Repo {
    /// Further arguments for git.
    #[serde(default)]
    args: Vec<String>,
}

fn main() -> ExitCode {
    let stage = InteractiveCommand::new("stage", "Choose what to stage.", |repo: Repo, _| {
        Ok(Exec::terminal("git")
            .args(["add", "--patch"])
            .args(repo.args))
    });
    let log = InteractiveCommand::new("log", "Show the history.", |repo: Repo, _| {
        Ok(Exec::new("git").args(["log", "--oneline"]).args(repo.args))
    });
    Tools::new()
        .add(Tool::interactive("repo", [stage.takes_input(), log]))
        .run()
}
