//! Agents of `windlass query`: assistants that work for an assistant.

use std::process::Stdio;

use serde_json::{Value, json};
use windlass_outside::model::{Say, Turn};

use crate::processes::Victim;
use crate::query::{Asked, asked, replies};
use crate::query_terminal::sit_at;
use crate::support::eventually;

/// A project whose model says this, and whose agents start without asking.
async fn staffed(more: &str, turns: impl IntoIterator<Item = Turn>) -> Asked {
    let asked = asked("unattended", turns).await;
    let config = asked.project.read_own();
    let config = format!("{config}[conversation.tools.agent]\nrun = \"unattended\"\n{more}");
    asked.project.write_own(&config);
    asked
}

fn spawn(id: &str, task: &str) -> (&'static str, Value) {
    ("agent", json!({"action": "spawn", "id": id, "task": task}))
}

/// What the assistant says that was told this as a user's message.
trait Told {
    fn told(self, text: &str) -> Self;
}

impl Told for Turn {
    fn told(self, text: &str) -> Self {
        self.when(format!(r#""content":"{text}""#))
    }
}

fn shell(command: &str) -> Turn {
    Turn::calls([("shell", json!({"command": command}))])
}

/// The requests of the agent with this task.
fn of_agent(asked: &Asked, task: &str) -> Vec<Value> {
    let seen = asked.server.seen();
    let bodies = seen.into_iter().map(|seen| seen.body);
    bodies
        .filter(|body| body["messages"][1]["content"] == task)
        .collect()
}

fn sessions(asked: &Asked) -> Vec<Value> {
    let listed = tokio::task::block_in_place(|| asked.project.run(&["sessions", "--json"], ""));
    let listed: Value = serde_json::from_str(&listed.stdout()).unwrap();
    listed.as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_agents_are_awaited_in_one_batch() {
    let turns = [
        shell("echo 1 > one").told("do one"),
        Turn::text("One is done.").told("do one"),
        shell("echo 2 > two").told("do two"),
        Turn::text("Two is done.").told("do two"),
        Turn::calls([
            spawn("a", "do one"),
            spawn("b", "do two"),
            ("await", json!({"all": ["a", "b"]})),
        ]),
        Turn::text("Both are done."),
        Turn::text("I have said so."),
    ];
    let asked = staffed("", turns).await;
    let run = asked.query(&["go"], "");
    assert_eq!(run.stdout(), "Both are done.\n", "{}", run.stderr());
    assert_eq!(asked.project.read("one"), "1\n");
    assert_eq!(asked.project.read("two"), "2\n");
    let awaited: Value = serde_json::from_str(&replies(&asked)[2]).unwrap();
    let results: Vec<&str> = awaited["completed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|view| view["result"].as_str().unwrap())
        .collect();
    assert_eq!(results, ["One is done.", "Two is done."]);
    for last_word in results {
        let told = replies(&asked)[2].matches(last_word).count();
        assert_eq!(told, 1, "the last word comes once: {awaited}");
    }

    let system = of_agent(&asked, "do one")[0]["messages"][0]["content"].to_string();
    assert!(system.contains("You are an agent"), "{system}");
    // In the record they are children of this session. `--continue` does not choose them.
    let sessions = sessions(&asked);
    assert_eq!(sessions.len(), 3);
    let ours = sessions
        .iter()
        .find(|session| session["frontEnd"] == "query")
        .unwrap();
    let children = sessions
        .iter()
        .filter(|session| session["parentID"] == ours["id"] && session["frontEnd"] == "agent");
    assert_eq!(children.count(), 2);
    let run = asked.query(&["--continue", "again"], "");
    assert_eq!(run.stdout(), "I have said so.\n", "{}", run.stderr());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_an_agent_at_work() {
    let turns = [
        Turn::text("I have hurried.").told("hurry"),
        Turn::new([Say::Text("A long story".into()), Say::Hold("never".into())]).told("do one"),
        Turn::calls([
            spawn("a", "do one"),
            (
                "agent",
                json!({"action": "apply", "id": "a", "input": "hurry"}),
            ),
            ("await", json!({"all": ["a"]})),
        ]),
        Turn::text("Done."),
    ];
    let asked = staffed("", turns).await;
    let run = asked.query(&["go"], "");
    assert_eq!(run.stdout(), "Done.\n", "{}", run.stderr());
    let replies = replies(&asked);
    assert!(replies[2].contains("I have hurried."), "{replies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_asks_its_assistant_answers() {
    let question = json!({"question": "Which?", "options": ["red", "blue"]});
    let apply = json!({"action": "apply", "id": "a", "input": "blue"});
    let turns = [
        Turn::text("Blue it is.").told("blue"),
        Turn::calls([("ask", question)]).told("do one"),
        Turn::calls([spawn("a", "do one"), ("await", json!({"all": ["a"]}))]),
        Turn::calls([("agent", apply)]),
        Turn::calls([("await", json!({"all": ["a"]}))]),
        Turn::text("Done."),
    ];
    let asked = staffed("", turns).await;
    let run = asked.query(&["go"], "");
    assert_eq!(run.stdout(), "Done.\n", "{}", run.stderr());
    let replies = replies(&asked);
    let waiting: Value = serde_json::from_str(&replies[1]).unwrap();
    let pending = &waiting["pending"][0];
    assert_eq!(pending["state"], "waiting", "{waiting}");
    assert_eq!(pending["question"]["text"], "Which?");
    assert!(replies[3].contains("Blue it is."), "{replies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_ends_an_agent_and_its_tools() {
    let victim = Victim::new();
    let lasting = json!({"action": "spawn", "id": "s", "command": victim.sleep()});
    let turns = [
        Turn::calls([("shell", lasting)]).told("do one"),
        Turn::new([Say::Text("It runs.".into()), Say::Hold("never".into())]).told("do one"),
        Turn::calls([
            spawn("a", "do one"),
            ("await", json!({"until": [{"id": "a", "pattern": "shell"}]})),
        ]),
        Turn::new([
            Say::Hold("up".into()),
            Say::call("agent", json!({"action": "abort", "id": "a"})),
        ]),
        Turn::new([Say::Hold("gone".into()), Say::Text("Done.".into())]),
    ];
    let asked = staffed("", turns).await;
    let mut command = asked.project.windlass(&["query", "go"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    tokio::task::block_in_place(|| {
        eventually("it sleeps", || !victim.alive().is_empty());
        asked.server.release("up");
        // While our own turn continues.
        eventually("it is gone", || victim.alive().is_empty());
        asked.server.release("gone");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    });
    let replies = replies(&asked);
    let aborted: Value = serde_json::from_str(&replies[2]).unwrap();
    assert_eq!(aborted["state"], "stopped", "{aborted}");
    assert!(aborted["ended"].as_u64() > Some(0), "{aborted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_only_so_deep_and_so_many() {
    let turns = [
        Turn::calls([("agent", json!({"task": "do two"}))]).told("do one"),
        Turn::text("I did it myself.").told("do one"),
        Turn::calls([spawn("a", "do one"), spawn("b", "do three")]),
        Turn::calls([("await", json!({"all": ["a"]}))]),
        Turn::text("Done."),
    ];
    let limits = "[assistant.agents]\nmax_depth = 1\nmax_active = 1\n";
    let asked = staffed(limits, turns).await;
    let run = asked.query(&["go"], "");
    assert_eq!(run.stdout(), "Done.\n", "{}", run.stderr());
    let agent = of_agent(&asked, "do one");
    let offered = agent[0]["tools"].to_string();
    assert!(!offered.contains(r#""name":"agent""#), "{offered}");
    let told = agent[1]["messages"].to_string();
    assert!(
        told.contains("max_depth") && told.contains("do the task yourself"),
        "{told}"
    );
    // Which of the two was first is not said.
    let replies = replies(&asked)[..2].join("\n");
    assert!(
        replies.contains("max_active") && replies.contains("await or abort one"),
        "{replies}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_has_the_tools_that_it_was_given() {
    let bad = json!({"task": "do one", "tools": ["hammer"]});
    let turns = [
        shell("echo 1 > one").told("do one"),
        Turn::text("I could not.").told("do one"),
        Turn::calls([
            ("agent", bad),
            ("agent", json!({"task": "do one", "tools": ["git"]})),
        ]),
        Turn::text("Done."),
    ];
    let asked = staffed("", turns).await;
    let run = asked.query(&["go"], "");
    assert_eq!(run.stdout(), "Done.\n", "{}", run.stderr());
    let replies = replies(&asked);
    assert!(replies[0].contains("no tool `hammer`"), "{replies:?}");
    assert_eq!(replies[1], "I could not.");
    assert!(!asked.project.root().join("one").exists());
    let told = of_agent(&asked, "do one")[1]["messages"].to_string();
    assert!(told.contains("there is no tool `shell`"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agents_tools_ask_goes_to_the_same_person() {
    let turns = [
        shell("echo 1 > one").told("do one"),
        Turn::text("One is done.").told("do one"),
        Turn::calls([
            spawn("helper", "do one"),
            ("await", json!({"all": ["helper"]})),
        ]),
        Turn::text("Done."),
    ];
    let asked = staffed("[conversation.tools.git]\nrun = \"ask\"\n", turns).await;
    let config = asked.project.read_own();
    let config = config.replacen("run = \"unattended\"", "run = \"ask\"", 1);
    asked.project.write_own(&config);
    let binary = asked.project.windlass(&["query", "go"]);
    let sitting = sit_at(asked, binary);
    let rows = sitting.until(|rows| rows.contains("e edit")).await;
    assert!(rows.contains("Agent `helper` wants to run"), "{rows}");
    assert!(rows.contains("echo 1 > one"), "{rows}");
    sitting.press("\r");
    let (exit, rows) = sitting.ends().await;
    assert_eq!(exit, Some(0), "{rows}");
    assert_eq!(sitting.asked.project.read("one"), "1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_an_agent_survives_a_kill() {
    let victim = Victim::new();
    let turns = [
        shell(&victim.script()).told("do one"),
        Turn::calls([("agent", json!({"task": "do one"}))]),
    ];
    let asked = staffed("", turns).await;
    let mut command = asked.project.windlass(&["query", "go"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    tokio::task::block_in_place(|| {
        victim.wait_until_up();
        let seen = asked.project.run(&["ps"], "").stdout();
        // Both sessions are listed.
        assert_eq!(seen.lines().count(), 3, "{seen}");
        crate::processes::kill(child.id());
        child.wait().unwrap();
        eventually("all of it is gone", || victim.alive().is_empty());
    });
}
