//! Schemathesis asks a server everything that its description allows, and much
//! that it does not: nothing brings an error of ours or an answer that was not
//! described.

use serde_json::json;
use windlass_outside::needs;

use crate::http_support::Serve;
use crate::support::Project;

/// Whatever is called, nothing but this can run.
const HARMLESS: &str = r#"
[conversation.tools."*"]
enable = false

[conversation.tools.echo]
enable = true
command = "sh -c cat"
run = "unattended"

[conversation.tools.echo.parameters.word]
type = "string"
required = false

[conversation.tools.echo.spawn]
stateful = true
actions = ["spawn", "fetch", "apply", "abort"]
io = "terminal"
"#;

/// What is asked about: each of what can be ended has one of its own.
const ASKED_ABOUT: &str = r#"
[parameters]
id = "SESSION"
handle = "h"

[[operations]]
include-name = "DELETE /api/v1/sessions/{id}"
parameters = { id = "ENDED" }

[[operations]]
include-name = "POST /api/v1/sessions/{id}/turn_end"
parameters = { id = "TURNED" }

[[operations]]
include-name = "POST /api/v1/sessions/{id}/handles/{handle}/abort"
parameters = { handle = "aborted" }
"#;

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

#[test]
fn everything_is_answered_as_it_is_described() {
    needs!("mcp-python");
    let project = Project::with_config(HARMLESS);
    let serve = Serve::start(&project);
    let begin = || serve.session(json!({"trusted": true}));
    let session = begin();
    for id in ["h", "aborted"] {
        let spawned = serve.call(&session, "echo", json!({"action": "spawn", "id": id}));
        assert_eq!(spawned["state"], "running", "{spawned}");
    }
    let refused = serve.call(&session, "shell", json!({"command": "true"}));
    assert!(refused.as_str().unwrap().contains("echo"), "{refused}");
    let mut asked_about = ASKED_ABOUT.to_owned();
    for (place, session) in [
        ("SESSION", &session),
        ("ENDED", &begin()),
        ("TURNED", &begin()),
    ] {
        let id = session.rsplit('/').next().unwrap();
        asked_about = asked_about.replace(place, id);
    }
    project.write("schemathesis.toml", &asked_about);

    let output = project
        .program("mcp-python")
        .args([
            "-m",
            "schemathesis.cli",
            "--config-file",
            "schemathesis.toml",
        ])
        .arg("run")
        .arg(format!("http://{}/openapi.json", serve.address))
        .args([
            "--header",
            &format!("Authorization: Bearer {}", serve.token),
        ])
        .args(["--checks", CHECKS])
        // A stream of events has no end that could be waited for.
        .args(["--exclude-path-regex", "/events?$"])
        .args(["--phases", "coverage,fuzzing", "--max-examples", "8"])
        .args(["--generation-deterministic", "--no-shrink"])
        .args(["--suppress-health-check", "all"])
        .args(["--request-timeout", "60", "--no-color"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains(" generated, "), "{said}");
    // It has not asked in vain.
    assert_eq!(serve.get(&session).status, 200);
    assert_eq!(serve.get(&format!("{session}/handles/h")).status, 200);
}
