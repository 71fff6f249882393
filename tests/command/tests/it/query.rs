//! `windlass query` in pipes and scripts, with a scripted model.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json};
use windlass_outside::model::{ModelServer, Say, Script, Turn};

use crate::filtered::filtered;
use crate::processes::Victim;
use crate::support::{Project, Run};

/// A project whose model says this.
pub(crate) struct Asked {
    pub(crate) server: ModelServer,
    pub(crate) project: Project,
}

pub(crate) async fn asked(run: &str, turns: impl IntoIterator<Item = Turn>) -> Asked {
    let server = ModelServer::start(Script::new(turns)).await.unwrap();
    let config = format!(
        "[assistant]\nmodel = \"ollama/scripted\"\n\
         [providers.llm.ollama]\nbase_url = \"{}\"\n\
         [conversation.tools.shell]\nrun = \"{run}\"\n",
        server.url()
    );
    let project = Project::with_own_config(&config);
    Asked { server, project }
}

impl Asked {
    pub(crate) fn query(&self, args: &[&str], input: &str) -> Run {
        let args = [&["query"], args].concat();
        tokio::task::block_in_place(|| self.project.run(&args, input))
    }
}

fn shell(command: &str) -> Turn {
    Turn::calls([("shell", json!({"command": command}))])
}

/// What the model received in reply to its calls.
pub(crate) fn replies(asked: &Asked) -> Vec<String> {
    let seen = asked.server.seen();
    let messages = seen.last().unwrap().body["messages"].as_array().unwrap();
    messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn text_goes_to_the_pipe_and_tools_really_run() {
    let turns = [
        shell("echo made > file; echo done"),
        Turn::text("It is *done*."),
    ];
    let asked = asked("unattended", turns).await;
    let run = asked.query(&["make", "it"], "");
    assert_eq!(
        (run.code(), run.stdout()),
        (Some(0), "It is *done*.\n".to_owned())
    );
    assert_eq!(asked.project.read("file"), "made\n");
    assert_eq!(replies(&asked), ["done\n"]);
    let body = &asked.server.seen()[0].body;
    assert_eq!(body["messages"][1]["content"], "make it");
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("`await` wakes you"), "{system}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_piped_in_follows_what_is_said() {
    let asked = asked("unattended", [Turn::text("ok")]).await;
    let run = asked.query(&["explain"], "fn main() {}\n");
    assert_eq!(run.code(), Some(0));
    let body = &asked.server.seen()[0].body;
    assert_eq!(body["messages"][1]["content"], "explain\n\nfn main() {}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_read_a_json_value_per_line() {
    let turns = [
        Turn::new([
            Say::Text("I look.".into()),
            Say::call("shell", json!({"command": "echo hi"})),
        ]),
        Turn::text("Done."),
    ];
    let asked = asked("unattended", turns).await;
    let run = asked.query(&["--json", "look"], "");
    let mut lines = run.lines();
    assert_eq!(lines.remove(0)["event"], "session");
    for line in &mut lines {
        for place in ["/calls/0/id", "/replies/0/id"] {
            if let Some(id) = line.pointer_mut(place) {
                *id = json!("ID");
            }
        }
    }
    let call = json!({"id": "ID", "tool": "shell", "arguments": {"command": "echo hi"}});
    let reply = json!({"id": "ID", "content": "hi\n", "is_error": false});
    let expected: Vec<Value> = vec![
        json!({"event": "text", "text": "I "}),
        json!({"event": "text", "text": "look."}),
        json!({"event": "calls", "calls": [call]}),
        json!({"event": "replies", "replies": [reply], "notices": []}),
        json!({"event": "text", "text": "Done."}),
        json!({"event": "ending"}),
        json!({"event": "finished", "text": "Done.", "aborted": false,
            "usage": {"input": 200, "cached": 0, "output": 40}}),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_can_be_asked_permission_is_refused_with_what_would_work() {
    let asked = asked("ask", [shell("touch file"), Turn::text("Not allowed.")]).await;
    let run = asked.query(&["--non-interactive", "go"], "");
    assert_eq!(run.code(), Some(3));
    let replies = replies(&asked);
    assert!(
        replies[0].contains("no user can be asked, so nothing has run; tell the user"),
        "{replies:?}"
    );
    assert!(!asked.project.root().join("file").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_key_says_which_variable_and_who_needs_none() {
    let asked = asked("ask", []).await;
    let run = asked.query(&["--model", "anthropic/claude", "hi"], "");
    assert_eq!(run.code(), Some(2));
    assert_snapshot!(
        run.stderr(),
        @"windlass: `anthropic` needs a key: set `ANTHROPIC_API_KEY`; these providers need none: ollama, llamacpp, lmstudio, vllm"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_in_no_tools_environment() {
    let asked = asked("unattended", [shell("env"), Turn::text("ok")]).await;
    let config = asked.project.read_own();
    let own = "[providers.llm.own]\napi = \"chat\"\nbase_url = \"http://localhost:1\"\napi_key_env = \"OWN_KEY\"\n";
    asked.project.write_own(&(config + own));
    let output = tokio::task::block_in_place(|| {
        let mut command = asked.project.windlass(&["query", "go"]);
        command.stdin(Stdio::null());
        command
            .env("OPENAI_API_KEY", "sk-1")
            .env("OWN_KEY", "sk-2")
            .env("WINDLASS_TOKEN", "sk-3")
            .env("KEPT", "yes");
        command.output().unwrap()
    });
    assert!(output.status.success());
    let replies = replies(&asked);
    assert!(replies[0].contains("KEPT=yes"), "{replies:?}");
    assert!(!replies[0].contains("sk-"), "{replies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_gives_the_key() {
    let asked = asked("ask", [Turn::text("ok")]).await;
    let config = asked.project.read_own();
    let config = config.replace(
        "[conversation",
        "api_key_command = { program = \"echo sk-$((40 + 2))\", shell = true }\n[conversation",
    );
    asked.project.write_own(&config);
    let run = asked.query(&["hi"], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    let seen = asked.server.seen();
    assert_eq!(seen[0].header("authorization"), Some("Bearer sk-42"));
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_the_turn_and_every_tool() {
    let victim = Victim::new();
    let asked = asked("unattended", [shell(&victim.script())]).await;
    let mut command = asked.project.windlass(&["query", "go"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    let code = tokio::task::block_in_place(|| {
        victim.wait_until_up();
        crate::processes::signal(pid, rustix::process::Signal::INT);
        child.wait().unwrap().code()
    });
    assert_eq!(code, Some(130));
    assert!(victim.alive().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn models_lists_the_providers() {
    let asked = asked("ask", []).await;
    let lines = tokio::task::block_in_place(|| asked.project.list(&["models"]));
    let ollama = lines
        .iter()
        .find(|line| line["provider"] == "ollama")
        .unwrap();
    assert_eq!(ollama["ready"], true);
    let anthropic = lines
        .iter()
        .find(|line| line["provider"] == "anthropic")
        .unwrap();
    assert_eq!(anthropic["note"], "set ANTHROPIC_API_KEY");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_continues_in_another_process() {
    let turns = [
        shell("echo forty-two"),
        Turn::text("It says forty-two."),
        Turn::text("As I said."),
        Turn::text("Still."),
    ];
    let asked = asked("unattended", turns).await;
    let nothing = asked.query(&["--continue", "and?"], "");
    assert_eq!(nothing.code(), Some(2));
    assert_snapshot!(nothing.stderr(), @"windlass: there is no conversation of this project to continue");
    assert_eq!(asked.query(&["what does it say?"], "").code(), Some(0));
    let run = asked.query(&["--continue", "again?"], "");
    assert_eq!(run.stdout(), "As I said.\n", "{}", run.stderr());
    let seen = asked.server.seen();
    let messages = seen[2].body["messages"].as_array().unwrap();
    let said: Vec<&str> = messages[1..]
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    let expected = [
        "what does it say?",
        "",
        "forty-two\n",
        "It says forty-two.",
        "again?",
    ];
    assert_eq!(said, expected);

    let sessions = tokio::task::block_in_place(|| asked.project.run(&["sessions", "--json"], ""));
    let sessions: Value = serde_json::from_str(&sessions.stdout()).unwrap();
    let id = sessions[0]["id"].as_str().unwrap();
    assert_eq!(sessions.as_array().unwrap().len(), 1);
    assert_eq!(
        asked.query(&["--session", id, "and now?"], "").stdout(),
        "Still.\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_whose_process_was_killed_can_continue() {
    let victim = Victim::new();
    let asked = asked(
        "unattended",
        [shell(&victim.sleep()), Turn::text("I go on.")],
    )
    .await;
    let mut command = asked.project.windlass(&["query", "go"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    tokio::task::block_in_place(|| {
        crate::support::eventually("it sleeps", || !victim.alive().is_empty());
        crate::processes::kill(pid);
        child.wait().unwrap();
    });
    let run = asked.query(&["--continue", "what happened?"], "");
    assert_eq!(run.stdout(), "I go on.\n", "{}", run.stderr());
    let replies = replies(&asked);
    assert!(replies[0].starts_with("not answered"), "{replies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_of_the_model_is_one_message_of_the_record() {
    let turns = [
        Turn::new([
            Say::Text("Let me look.".into()),
            Say::call("shell", json!({"command": "echo forty-two"})),
        ]),
        Turn::text("It says forty-two."),
    ];
    let asked = asked("unattended", turns).await;
    assert_eq!(asked.query(&["what does it say?"], "").code(), Some(0));
    let args = ["sessions", "show", "last", "--json"];
    let shown = tokio::task::block_in_place(|| asked.project.run(&args, ""));
    let shown: Value = serde_json::from_str(&shown.stdout()).unwrap();
    let messages: Vec<Value> = shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let parts = message["parts"].as_array().unwrap().iter();
            let parts: Vec<&Value> = parts
                .map(|part| match &part["text"] {
                    Value::Null => &part["state"]["output"],
                    text => text,
                })
                .collect();
            json!([message["info"]["role"], parts])
        })
        .collect();
    assert_eq!(
        json!(messages),
        json!([
            ["user", ["what does it say?"]],
            ["assistant", ["Let me look.", "forty-two\n"]],
            ["assistant", ["It says forty-two."]],
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_is_reported_on_stderr_and_by_the_exit_code() {
    let turns = [shell("echo made > file"), Turn::text("Pity.")];
    let asked = asked("ask", turns).await;
    let run = asked.query(&["--non-interactive", "make", "it"], "");
    assert_eq!((run.code(), run.stdout().as_str()), (Some(3), "Pity.\n"));
    assert_snapshot!(run.stderr(), @"windlass: refused: `shell` needs the user's permission and no user can be asked, so nothing has run");
    assert!(!asked.project.root().join("file").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_call_is_not_a_refused_one() {
    let asked = asked("unattended", [shell("exit 3"), Turn::text("It failed.")]).await;
    let run = asked.query(&["try"], "");
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
}

#[tokio::test(flavor = "multi_thread")]
async fn json_begins_with_the_session_and_tells_what_was_ended() {
    let spawn = json!({"action": "spawn", "id": "web", "command": "exec sleep 1000"});
    let turns = [
        Turn::calls([("shell", spawn)]),
        Turn::text(json!({"handles": [{"id": "web", "action": "abort"}]}).to_string()).structured(),
        Turn::text("It ran."),
    ];
    let asked = asked("unattended", turns).await;
    let lines = asked.query(&["--json", "go"], "").lines();
    assert_eq!(lines[0]["event"], "session", "{lines:?}");
    let id = lines[0]["session"].as_str().unwrap();
    assert!(id.starts_with("ses_"), "{id}");
    let ended = lines.iter().find(|line| line["event"] == "ended");
    assert_eq!(ended.unwrap()["handles"], json!(["web"]), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_provider_that_is_not_there_is_reported_at_once() {
    let asked = asked("unattended", []).await;
    let base = "providers.llm.ollama.base_url=\"http://127.0.0.1:1\"";
    let run = asked.query(&["--set", base, "hello"], "");
    assert_eq!(run.code(), Some(1));
    let said = run.stderr();
    assert_snapshot!(filtered(&said), @"windlass: `ollama` is not running: nothing listens at http://127.0.0.1:[port]; start it, or choose another model");
}
