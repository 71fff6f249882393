//! Three tools in one program: `cargo`, `http` and `watch`.
//!
//! Each has a module of its own. `http` is a one-shot, `watch` and `cargo`
//! last; read them in this order. Register one with two lines of config:
//!
//! ```toml
//! [conversation.tools.http]
//! command = "path/to/example-tools"
//! ```

mod cargo;
mod http;
mod watch;

use std::process::ExitCode;

use windlass_sdk::HandleAction::{Abort, Fetch, Spawn};
use windlass_sdk::{Tool, Tools};

fn main() -> ExitCode {
    tools().run()
}

fn tools() -> Tools {
    Tools::new()
        .add(
            Tool::stateful::<cargo::Cargo>("cargo")
                .actions([Spawn, Fetch, Abort])
                .examples([r#"{"action": "spawn", "id": "check", "command": "check"}"#])
                .format_arguments(|cargo: cargo::Cargo| cargo.line()),
        )
        .add(
            Tool::new("http", |request: http::Http, _| http::run(&request))
                .examples([r#"{"url": "https://example.org/", "method": "head"}"#])
                .format_arguments(|request: http::Http| request.line()),
        )
        .add(Tool::stateful::<watch::Watch>("watch").actions([Spawn, Fetch, Abort]))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_tool_can_be_described() {
        let tools = super::tools().descriptions().unwrap().tools;
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["cargo", "http", "watch"]);
    }
}
