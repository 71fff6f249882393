//! Clients of other people: each lists the tools, spawns, applies, awaits and
//! aborts, over pipes and over HTTP.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::programs::windlass;
use crate::support::Project;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients")
        .join(name)
}

/// The folder of the packages from npm, which `mcp-node` is linked into.
pub(crate) fn packages() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let bin = folders.find(|folder| folder.join("mcp-node").exists());
    bin.unwrap().parent().unwrap().to_owned()
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    said
}

#[test]
fn the_python_client_sits_well() {
    needs!("mcp-python");
    let project = Project::new();
    let server = project.mcp_http();
    let windlass = windlass();
    let http = [server.url(), server.token()];
    for (how, arguments) in [("stdio", &[windlass][..]), ("http", &http)] {
        let mut client = project.program("mcp-python");
        succeeds(client.arg(script("sit.py")).arg(how).args(arguments));
    }
}

#[test]
fn the_npm_clients_sit_well() {
    needs!("mcp-node");
    let project = Project::new();
    let server = project.mcp_http();
    let windlass = windlass();
    let http = [server.url(), server.token()];
    for kind in ["sdk", "client"] {
        for (how, arguments) in [("stdio", &[windlass][..]), ("http", &http)] {
            let mut client = project.program("mcp-node");
            client.arg(script("sit.mjs")).arg(packages());
            succeeds(client.args([kind, how]).args(arguments));
        }
    }
}

#[test]
fn clients_sit_well_at_the_server_of_everybody() {
    needs!("mcp-python", "mcp-node");
    let project = Project::new();
    let serve = Serve::start(&project);
    let url = format!("http://{}/mcp", serve.address);
    let http = ["http", &url, &serve.token];
    succeeds(
        project
            .program("mcp-python")
            .arg(script("sit.py"))
            .args(http),
    );
    for kind in ["sdk", "client"] {
        let mut client = project.program("mcp-node");
        client.arg(script("sit.mjs")).arg(packages()).arg(kind);
        succeeds(client.args(http));
    }
}

#[test]
fn the_inspector_lists_and_calls() {
    needs!("mcp-node");
    let project = Project::new();
    let server = project.mcp_http();
    let inspector = packages().join("node_modules/.bin/mcp-inspector");
    let header = format!("Authorization: Bearer {}", server.token());
    let stdio = [windlass(), "mcp"];
    let http = [server.url(), "--transport", "http", "--header", &header];
    for place in [&stdio[..], &http] {
        let inspect = |arguments: &[&str]| {
            let mut client = project.program("mcp-node");
            client.arg(&inspector).arg("--cli").args(place);
            let said = succeeds(client.args(arguments));
            let from = said
                .find('{')
                .unwrap_or_else(|| panic!("no JSON in {said}"));
            serde_json::from_str::<Value>(said[from..].trim()).unwrap()
        };
        let listed = inspect(&["--method", "tools/list"]);
        assert_eq!(listed["tools"].as_array().unwrap().len(), 3);
        let call = ["--method", "tools/call", "--tool-name", "shell"];
        let ran = inspect(&[&call[..], &["--tool-arg", "command=echo hi"]].concat());
        assert_eq!(ran["structuredContent"]["output"], "hi\n");
        let spawn = ["action=spawn", "id=a", "command=sleep 1000"];
        let spawn: Vec<&str> = spawn.iter().flat_map(|arg| ["--tool-arg", arg]).collect();
        let spawned = inspect(&[&call[..], &spawn].concat());
        assert_eq!(spawned["structuredContent"]["state"], "running");
    }
}
