use super::super::agent::ALL;
use super::*;

/// The results of a sitting that went well.
const RESULTS: [&str; 5] = [
    "in time\n",
    r#"{"completed":[{"id":"one","state":"stopped","result":"alpha\n"},{"id":"two","state":"stopped","result":"beta\n"}],"pending":[]}"#,
    r#"{"id":"py","state":"running","content":">>> ","awaiting_input":true}"#,
    r#"{"id":"py","state":"running","content":"42\n>>> ","awaiting_input":true}"#,
    r#"{"id":"lasting","state":"stopped","result":"aborted by the assistant","ended":3}"#,
];

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
    };
    let mut faults = judge(agent, &trace).faults;
    // What was seen is told after them.
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
        let request = json!({"tools": [{"name": agent.offers}], key: messages});
        let faults = faults(agent, request, &FILES, &[]);
        assert_eq!(faults, [] as [&str; 0], "{}", agent.title);
    }
}

#[test]
fn what_did_not_happen_is_told() {
    let agent = &ALL[3];
    let request = json!({"tools": [{"name": agent.offers}], "messages": []});
    let left = ["sleep 1000".to_owned()];
    let faults = faults(agent, request, &FILES[..2], &left);
    let wanted = [
        "long call",
        "await",
        "terminal",
        "apply",
        "abort",
        "nothing left",
    ];
    assert_eq!(
        faults,
        wanted.map(|what| format!("{what} is not as it must be"))
    );
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
