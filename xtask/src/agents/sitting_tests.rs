use super::super::agent::ALL;
use super::*;

/// The results of a successful sitting.
const RESULTS: [&str; 7] = [
    "in time\n",
    r#"{"completed":[{"id":"one","state":"stopped","result":"alpha\n"},{"id":"two","state":"stopped","result":"beta\n"}],"pending":[]}"#,
    r#"{"id":"py","state":"running","content":">>> ","awaiting_input":true}"#,
    r#"{"id":"py","state":"running","content":"42\n>>> ","awaiting_input":true}"#,
    r#"{"id":"lasting","state":"stopped","result":"aborted by the assistant","ended":3}"#,
    "broken\nexited with code 7",
    r#"{"id":"shell-7","state":"running","note":"It still runs, as handle `shell-7`"}"#,
];

/// A tool in the format of an agent's request.
fn tool(agent: &Agent) -> Value {
    json!({
        "name": if agent.prefix.is_empty() { "await" } else { agent.offers },
        "description": "spawn runs it in the background; then await its id, or: \
                        A call that lasts too long answers with a handle: await its id.",
    })
}

fn faults(agent: &Agent, request: Value, files: &[(&str, &str)], left: &[String]) -> Vec<String> {
    let project = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(project.path().join(name), text).unwrap();
    }
    let trace = Trace {
        project: project.path(),
        requests: &[request, json!({"messages": [{"content": "an aside"}]})],
        left,
        said: LAST_WORDS,
        code: Some(0),
        sandbox: ToolSandbox::Off,
    };
    let mut faults = judge(agent, &trace).faults;
    // The met expectations follow them.
    faults.truncate(faults.len().saturating_sub(3));
    faults
}

const FILES: [(&str, &str); 3] = [
    ("one.txt", "made\n"),
    ("two.txt", "made\n"),
    ("typed.txt", "42"),
];

#[test]
fn results_are_found_in_every_format() {
    let anthropic = RESULTS.map(|result| {
        json!({"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": result}]}]})
    });
    let responses = RESULTS.map(|result| {
        json!({"type": "function_call_output", "output": format!("Wall time: 1\n{result}")})
    });
    let chat = RESULTS.map(|result| json!({"role": "tool", "content": result}));
    let gemini = RESULTS
        .map(|result| json!({"role": "user", "parts": [{"functionResponse": {"response": {"output": result}}}]}));
    for (agent, key, messages) in [
        (&ALL[0], "messages", anthropic),
        (&ALL[2], "input", responses),
        (&ALL[3], "messages", chat),
        (&ALL[4], "contents", gemini),
    ] {
        let request = json!({"tools": [tool(agent)], key: messages});
        let faults = faults(agent, request, &FILES, &[]);
        assert_eq!(faults, [] as [&str; 0], "{}", agent.title);
    }
}

#[test]
fn what_did_not_happen_is_reported() {
    let agent = &ALL[3];
    let request = json!({"tools": [tool(agent)], "messages": []});
    let left = ["sleep 1000".to_owned()];
    let faults = faults(agent, request, &FILES[..2], &left);
    let wanted = [
        "long call",
        "await",
        "terminal",
        "apply",
        "abort",
        "failure",
        "longer call",
        "nothing left",
    ];
    assert_eq!(
        faults,
        wanted.map(|what| format!("{what} is not as it must be"))
    );
}

#[test]
fn a_result_that_costs_twice_is_reported() {
    let agent = &ALL[3];
    let mut results = RESULTS.map(str::to_owned);
    // An agent that passes text and structured content on, encoded as JSON.
    let text = &results[1];
    results[1] = json!({"content": [{"text": text}], "structuredContent": text}).to_string();
    let messages = results.map(|result| json!({"role": "tool", "content": result}));
    let request = json!({"tools": [tool(agent)], "messages": messages});
    let faults = faults(agent, request, &FILES, &[]);
    assert_eq!(faults, ["one price is not as it must be"]);
}

#[test]
fn the_script_calls_tools_as_the_agent_names_them() {
    for agent in ALL {
        let script = script(agent).to_string();
        for tool in ["shell", "await"] {
            let name = format!("\"tool\":\"{}{tool}\"", agent.prefix);
            assert!(script.contains(&name), "{name} is not in {script}");
        }
    }
}
