use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_sdk::HandleAction::{Abort, Fetch, Spawn};
use windlass_sdk::{Call, Error, Stateful, Tool, ToolHandle, Tools, TypedQuestion};

/// Saves text in a file.
#[derive(Deserialize, JsonSchema)]
struct Save {
    /// The file.
    path: PathBuf,
    /// What to write.
    text: String,
}

fn save(args: Save, call: &Call) -> Result<String, Error> {
    let path = args.path.display();
    if args.path.exists() {
        let question = format!("{path} is there already. Overwrite it?");
        if !call.ask(TypedQuestion::boolean("overwrite", question).default(false))? {
            return Ok(format!("kept {path}"));
        }
    }
    std::fs::write(&args.path, args.text)
        .map_err(|error| Error::from(error).context(format!("cannot write {path}")))?;
    Ok(format!("saved {path}"))
}

/// Counts down.
#[derive(Deserialize, JsonSchema)]
struct Countdown {
    /// Where to begin.
    from: u32,
    /// How long a step takes.
    #[serde(default = "one")]
    pause_secs: f64,
}

fn one() -> f64 {
    1.0
}

impl Stateful for Countdown {
    async fn run(self, handle: ToolHandle) -> Result<String, Error> {
        for number in (1..=self.from).rev() {
            handle.report(number.to_string());
            handle
                .sleep(Duration::from_secs_f64(self.pause_secs))
                .await?;
        }
        Ok("lift-off".to_owned())
    }
}

fn main() -> ExitCode {
    Tools::new()
        .add(Tool::new("save", save))
        .add(Tool::stateful::<Countdown>("countdown").actions([Spawn, Fetch, Abort]))
        .run()
}
