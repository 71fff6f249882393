//! The tools of `examples/tools`, registered with two lines each and driven.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::programs::program;
use crate::support::{Project, call};

/// A project with a tool of the examples.
fn project(tool: &str) -> Project {
    let program = program("example-tools");
    Project::with_config(&format!(
        "[conversation.tools.{tool}]\ncommand = \"{program}\"\n"
    ))
}

#[test]
fn the_schema_of_a_tool_in_rust_comes_from_its_struct() {
    let run = project("cargo").run(&["tools", "cargo", "--dialect", "mcp"], "");
    let schema: Value = serde_json::from_str(&run.stdout()).unwrap();
    let properties = &schema["parameters"]["properties"];
    assert_eq!(
        properties["action"]["enum"],
        json!(["spawn", "fetch", "abort"])
    );
    assert_eq!(
        properties["command"],
        json!({
            "type": "string",
            "description": "What to do. Only for action: spawn.",
            "enum": ["check", "clippy", "build", "test"],
        })
    );
}

/// A package whose `cargo` tool finds the toolchain of these tests, wherever
/// the home folder is.
fn package(files: &[(&str, &str)]) -> Project {
    let toolchain = Path::new(env!("CARGO")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("PATH={}:{path}", toolchain.display());
    let args = json!([path, program("example-tools")]);
    let project = Project::with_config(&format!(
        "[conversation.tools.cargo]\ncommand = {{ program = \"env\", args = {args} }}\n"
    ));
    project.write(
        "Cargo.toml",
        "[package]\nname = \"small\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    for (name, text) in files {
        project.write(name, text);
    }
    project
}

#[test]
fn cargo_runs_in_the_background_and_lists_its_errors() {
    let project = package(&[("src/lib.rs", "pub fn f() -> u32 {\n    \"text\"\n}\n")]);
    let mut drive = project.drive();
    let reply = drive.run([
        call(
            "cargo",
            json!({"action": "spawn", "id": "check", "command": "check"}),
        ),
        call("await", json!({"all": ["check"]})),
    ]);
    let awaited = &reply["replies"][1]["content"]["completed"][0];
    assert_eq!(
        awaited["result"],
        json!(
            "1 error, 0 warnings\n\
             error[E0308] src/lib.rs:2:5: mismatched types: expected `u32`, found `&str`"
        ),
        "{reply}"
    );
    assert_eq!(awaited["error"]["transient"], json!(false));
}

#[test]
fn cargo_is_aborted_with_everything_it_started() {
    let script = "fn main() {\n    std::fs::write(\"started\", std::process::id().to_string()).unwrap();\n    \
         std::thread::sleep(std::time::Duration::from_secs(10_000));\n}\n";
    let project = package(&[("src/lib.rs", ""), ("build.rs", script)]);
    let mut drive = project.drive();
    let spawn = json!({"action": "spawn", "id": "build", "command": "build"});
    drive.content("cargo", spawn);
    let started = project.root().join("started");
    crate::support::eventually("the build script runs", || {
        std::fs::read_to_string(&started).is_ok_and(|pid| !pid.is_empty())
    });
    let pid = project.read("started");
    let aborted = drive.content("cargo", json!({"action": "abort", "id": "build"}));
    assert_eq!(aborted["state"], json!("stopped"), "{aborted}");
    assert!(!Path::new("/proc").join(pid).exists());
}

#[test]
fn http_answers_and_its_errors_are_transient_where_they_are() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", server.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut request = [0; 1024];
        let _ = stream.read(&mut request).unwrap();
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let project = project("http");
    let mut drive = project.drive();
    let content = drive.content("http", json!({"url": url}));
    assert_eq!(content, json!(r#"{"status":200,"body":"hi"}"#));
    // The server took one connection and is gone.
    serving.join().unwrap();
    let error = drive.error("http", json!({"url": url, "retries": 0}));
    let told = format!("GET {url} failed\ntransient: true\ncaused by: ");
    assert!(error.starts_with(&told), "{error}");
    let error = drive.error("http", json!({"url": url, "timeout_secs": "long"}));
    assert_snapshot!(error, @r#"`timeout_secs`: "long" is not of type "integer""#);
}

#[test]
fn the_next_change_can_be_awaited() {
    let project = project("watch");
    let mut drive = project.drive();
    let reply = drive.run([
        call("watch", json!({"action": "spawn", "id": "w", "until": 1})),
        call(
            "await",
            json!({"until": [{"id": "w", "pattern": "watching"}]}),
        ),
    ]);
    let matched = &reply["replies"][1]["content"]["matched"];
    assert_eq!(matched[0]["line"], json!("watching ."), "{reply}");
    project.write("new.txt", "1");
    let awaited = drive.content("await", json!({"all": ["w"]}));
    let watch = &awaited["completed"][0];
    assert_eq!(watch["result"], json!("stopped after 1 changes"), "{watch}");
    let content = watch["content"].as_str().unwrap();
    assert_eq!(content.lines().last(), Some("created new.txt"), "{watch}");
}
