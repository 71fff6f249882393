//! What tools ask the person, answered from another terminal: `questions`,
//! `answer` and `permissions`, for an agent that cannot ask its user.

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::filtered::filtered;
use crate::mcp_support::Mcp;
use crate::programs::windlass;
use crate::support::{Project, Run, eventually};

const BRIEF: &[&str] = &["--max-block-secs", "0.2"];

/// A tool that asks about a hunk, as a handle or once.
fn hunks() -> Project {
    let project = Project::with_config(
        r#"
        [conversation.tools.hunks]
        source = "local"
        command = "python3 hunks.py {{tool}}"
        parameters = {}
        spawn = { stateful = true, io = "state" }
        [conversation.tools.once]
        source = "local"
        command = "python3 once.py {{tool}}"
        parameters = {}
        [conversation.tools.asked]
        source = "local"
        command = "touch asked-ran"
        parameters = {}
        run = "ask"
        "#,
    );
    project.write(
        "hunks.py",
        r#"
import json, sys
def say(**state): print(json.dumps(state), flush=True)
question = {"id": "stage", "text": "Stage this hunk?", "answer_type": {"Select": {"options": ["y", "n", "split"]}}}
say(type="waiting", content="@@ -1 +1 @@\n-old line\n+new line", question=question)
say(type="stopped", result={"Ok": json.loads(sys.stdin.readline())["answer"]})
"#,
    );
    project.write(
        "once.py",
        r#"
import json, sys
answers = json.loads(sys.argv[1])["answers"]
if "sure" in answers: print(json.dumps({"type": "success", "content": str(answers["sure"])}))
else: print(json.dumps({"type": "waiting", "content": "3 files go", "question": {"id": "sure", "text": "Sure?", "answer_type": "Boolean"}}))
"#,
    );
    project
}

/// The only open question, once there is one.
fn question(project: &Project) -> Value {
    let mut open = Vec::new();
    eventually("a question is open", || {
        open = project.list(&["questions"]);
        open.len() == 1
    });
    open.remove(0)
}

#[track_caller]
fn succeeds(run: &Run) {
    assert_eq!(run.code(), Some(0), "{}{}", run.stdout(), run.stderr());
}

#[track_caller]
fn awaited(mcp: &mut Mcp, id: &str) -> Value {
    loop {
        let reply = mcp.call("await", json!({"all": [id]}));
        let completed = reply["structuredContent"]["completed"][0].clone();
        if completed.is_object() {
            return completed;
        }
    }
}

#[test]
fn a_question_is_listed_with_its_context_and_answered_from_elsewhere() {
    needs!("python3");
    let project = hunks();
    let mut mcp = project.mcp(BRIEF);
    mcp.call("hunks", json!({"action": "spawn", "id": "h"}));
    let asked = question(&project);
    let id = asked["ask"].as_str().unwrap();
    assert_eq!(asked["content"], "@@ -1 +1 @@\n-old line\n+new line");
    assert_eq!(
        (&asked["tool"], &asked["handle"]),
        (&json!("hunks"), &json!("h"))
    );
    let lead = asked["rendering"]["lead"].to_string();
    assert!(lead.contains("+new line"), "{lead}");
    // Its reply names the command.
    let told = mcp.call("await", json!({"all": ["h"]}));
    let note = told["structuredContent"]["pending"][0]["note"].to_string();
    assert_snapshot!(filtered(&note), @r#""waiting for the user: they answer with `windlass answer q_[id]` or on the page; tell them, and await this handle""#);

    let wrong = project.run(&["answer", id, "maybe"], "");
    assert_eq!(wrong.code(), Some(2));
    assert_snapshot!(wrong.stderr(), @"windlass: `maybe` is not a choice; the choices are y, n, split");
    succeeds(&project.run(&["answer", id, "split"], ""));
    assert_eq!(awaited(&mut mcp, "h")["result"], "split");
    let late = project.run(&["answer", id, "y"], "");
    assert_snapshot!(filtered(&late.stderr()), @"windlass: no question `q_[id]` is open; `windlass questions` lists the open ones");
}

#[test]
fn a_question_of_a_one_shot_outlives_its_call() {
    needs!("python3");
    let project = hunks();
    let mut mcp = project.mcp(BRIEF);
    // A tool without actions declares no structure.
    let handed = mcp.call("once", json!({}));
    let handed = handed["content"][0]["text"].as_str().unwrap();
    let handed: Value = serde_json::from_str(handed).unwrap();
    let asked = question(&project);
    let id = asked["ask"].as_str().unwrap();
    assert_eq!(asked["handle"], handed["id"]);
    assert_eq!(asked["content"], "3 files go");
    let handle = handed["id"].as_str().unwrap();
    let told = mcp.call("await", json!({"all": [handle]}));
    let note = told["structuredContent"]["pending"][0]["note"].to_string();
    assert_snapshot!(filtered(&note), @r#""waiting for the user: they answer with `windlass answer q_[id]` or on the page; tell them, and await this handle""#);
    succeeds(&project.run(&["answer", id], "yes\n"));
    assert_eq!(awaited(&mut mcp, handle)["result"], "True");
}

#[test]
fn a_secret_is_read_from_stdin_and_never_from_the_command_line() {
    let project = Project::new();
    let mut mcp = project.mcp(BRIEF);
    let command = "read -rs -p 'Password: ' word; echo; echo \"${#word} letters\"";
    mcp.call(
        "shell",
        json!({"action": "spawn", "id": "s", "terminal": true, "command": format!("bash -c '{}'", command.replace('\'', "'\\''"))}),
    );
    let asked = question(&project);
    let id = asked["ask"].as_str().unwrap();
    let refused = project.run(&["answer", id, "hunter2"], "");
    assert_eq!(refused.code(), Some(2));
    assert_snapshot!(filtered(&refused.stderr()), @"windlass: `q_[id]` asks for a secret, and other users can read a command line; run `windlass answer q_[id]` and type it, or pass it on stdin");
    let applied = mcp.call(
        "shell",
        json!({"action": "apply", "id": "s", "input": "guess"}),
    );
    let said = applied.to_string();
    assert_snapshot!(filtered(&said), @r#"{"content":[{"type":"text","text":"handle `s` asks for a secret (\"Password:\"), which only the user can give with `windlass answer q_[id]`; tell them, and await it"}],"isError":true}"#);
    succeeds(&project.run(&["answer", id], "hunter2\n"));
    let result = awaited(&mut mcp, "s")["result"].to_string();
    assert_snapshot!(result, @r#""7 letters\n""#);
}

#[test]
fn a_permission_waits_beyond_its_call_and_is_given_from_elsewhere() {
    let project = hunks();
    let mut mcp = project.mcp(BRIEF);
    let reply = mcp.call("asked", json!({})).to_string();
    let waiting = project.list(&["permissions", "pending"]);
    let id = waiting[0]["id"].as_str().unwrap();
    let command = format!("windlass permissions reply {id} once");
    assert_snapshot!(filtered(&reply), @r#"{"content":[{"type":"text","text":"{\"id\":\"asked-1\",\"state\":\"pending\",\"note\":\"waiting for the user: they allow it with `windlass permissions reply per_[id] once` or on the page; tell them, and await this handle\"}"}],"isError":false}"#);
    assert!(reply.contains(&command), "{reply}");
    assert!(!project.root().join("asked-ran").exists());
    succeeds(&project.run(&["permissions", "reply", id, "once"], ""));
    eventually("it has run", || project.root().join("asked-ran").exists());
}

/// What a tool does to be taken for the person.
const DISGUISES: &[&str] = &[
    "",
    "setsid -w ",
    "env -i PATH=\"$PATH\" HOME=\"$HOME\" XDG_STATE_HOME=\"$XDG_STATE_HOME\" ",
    "env -i PATH=\"$PATH\" HOME=\"$HOME\" XDG_STATE_HOME=\"$XDG_STATE_HOME\" setsid -w ",
];

#[test]
fn a_tool_cannot_speak_for_the_person() {
    needs!("python3");
    let project = hunks();
    let windlass = windlass();
    let mut mcp = project.mcp(BRIEF);
    mcp.call("hunks", json!({"action": "spawn", "id": "h"}));
    mcp.call("asked", json!({}));
    let asked = question(&project);
    let question_id = asked["ask"].as_str().unwrap();
    let waiting = project.list(&["permissions", "pending"]);
    let permission = waiting[0]["id"].as_str().unwrap();
    let mut other = project.drive();
    for disguise in DISGUISES {
        for command in [
            format!("answer {question_id} y"),
            format!("permissions reply {permission} once"),
            "send h y".to_owned(),
            "kill h".to_owned(),
        ] {
            let line = format!("{disguise}{windlass} {command} 2>&1; echo code $?");
            let said = other.content("shell", json!({"command": line})).to_string();
            assert!(said.contains("acts for the user"), "{line}: {said}");
            assert!(said.contains("code 2"), "{line}: {said}");
        }
    }
    // A double fork that outlives its tool's own process.
    let line = format!(
        "(env -i PATH=\"$PATH\" HOME=\"$HOME\" XDG_STATE_HOME=\"$XDG_STATE_HOME\" setsid {windlass} answer {question_id} y > said 2>&1 &)"
    );
    other.content("shell", json!({"command": line}));
    eventually("it was refused", || {
        project.root().join("said").exists() && project.read("said").contains("acts for the user")
    });
    assert_eq!(question(&project)["ask"], question_id);
    assert!(!project.root().join("asked-ran").exists());
    // Nor may it look on.
    for command in ["questions", "ps", "permissions pending", "logs h"] {
        let line = format!("{windlass} {command} 2>&1; echo code $?");
        let said = other.content("shell", json!({"command": line})).to_string();
        assert!(said.contains("runtimes reply to the user only"), "{said}");
        assert!(
            said.contains("code 2") && !said.contains(question_id),
            "{said}"
        );
    }
}

/// Asks a runtime itself, past the command.
const ASK: &str = r#"
import glob, json, os, socket, sys
path = glob.glob(sys.argv[1])[0]
body = json.dumps({"reply": "once"})
s = socket.socket(socket.AF_UNIX)
s.connect(path)
s.sendall(("POST /api/v1/permissions/%s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
           "content-length: %d\r\nconnection: close\r\n\r\n%s" % (sys.argv[2], len(body), body)).encode())
answer = b""
while True:
    more = s.recv(65536)
    if not more:
        break
    answer += more
print(answer.decode())
"#;

#[test]
fn a_tool_cannot_ask_the_control_socket_of_a_runtime() {
    needs!("python3");
    let project = hunks();
    project.write("ask.py", ASK);
    let mut mcp = project.mcp(BRIEF);
    mcp.call("asked", json!({}));
    let waiting = project.list(&["permissions", "pending"]);
    let permission = waiting[0]["id"].as_str().unwrap();
    let sockets = project.state_dir().join("run/mcp-*.sock");
    let mut other = project.drive();
    for disguise in DISGUISES {
        let line = format!(
            "{disguise}python3 {} '{}' {permission} 2>&1",
            project.root().join("ask.py").display(),
            sockets.display()
        );
        let said = other.content("shell", json!({"command": line})).to_string();
        assert!(said.contains("a tool asks"), "{line}: {said}");
        assert!(said.contains("403 Forbidden"), "{line}: {said}");
    }
    let waiting = project.list(&["permissions", "pending"]);
    assert_eq!(waiting[0]["id"], permission, "nobody has replied");
    assert!(!project.root().join("asked-ran").exists());
}

#[test]
fn a_tool_in_a_namespace_of_its_own_cannot_speak_for_the_person() {
    needs!("python3", "unshare");
    let project = hunks();
    let windlass = windlass();
    let mut mcp = project.mcp(BRIEF);
    mcp.call("hunks", json!({"action": "spawn", "id": "h"}));
    let asked = question(&project);
    let id = asked["ask"].as_str().unwrap();
    let line = format!(
        "unshare --user --map-root-user --pid --fork --mount-proc env -u WINDLASS_RUNTIME {windlass} answer {id} y 2>&1; true"
    );
    let mut other = project.drive();
    let said = other.content("shell", json!({"command": line})).to_string();
    // Where there are no such namespaces, the tool does not get that far.
    assert!(
        said.contains("acts for the user") || said.contains("unshare"),
        "{said}"
    );
    assert_eq!(question(&project)["ask"], id);
}
