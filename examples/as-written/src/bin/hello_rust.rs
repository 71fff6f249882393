//! A tool for Windlass.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_sdk::{Call, Error, Tool, Tools, TypedQuestion};

/// Greets somebody.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Whom to greet.
    name: String,
}

fn run(arguments: Arguments, call: &Call) -> Result<String, Error> {
    // Where it has not been asked yet, this ends the run: the tool is run
    // again with the answer. So ask before you change anything.
    let loud = call.ask(TypedQuestion::boolean("loud", "Loudly?").default(false))?;
    let greeting = format!("Hello, {}!", arguments.name);
    Ok(if loud {
        greeting.to_uppercase()
    } else {
        greeting
    })
}

fn main() -> ExitCode {
    Tools::new().add(Tool::new("hello_rust", run)).run()
}
