//! Long calls as tasks.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use windlass_protocol::{ActionSet, HandleAction, ToolShape};
use windlass_runtime::ToolDefinition;
use windlass_serve_mcp::{McpOptions, TaskPolicy};
use windlass_testing::{lasting, question};

use crate::support::{Client, Tools, text};
use crate::web::Web;

fn capable() -> Value {
    json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// Polls until the task is in this state.
async fn until(client: &mut Client, task: &Value, status: &str) -> Value {
    loop {
        let answer = client.request("tasks/get", json!({"taskId": task})).await;
        let result = answer["result"].clone();
        if result["status"] == status {
            return result;
        }
        assert_eq!(result["status"], "working", "{answer}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_in_a_moment_is_no_task() {
    let tools = Tools::new();
    tools.tool.opening(|job| job.end_saying("quick"));
    let mut client = tools.stateless(&capable());
    assert_eq!(text(&client.call("tool", json!({})).await), "quick");
}

#[tokio::test]
async fn a_long_one_shot_is_a_task_whose_input_is_its_question() {
    let tools = Tools::new();
    let mut client = tools.stateless(&capable());
    let created = client.call("tool", json!({})).await;
    assert_eq!(created["resultType"], "task");
    let job = tools.tool.next().await;
    job.on_answer(|job, answer| job.end_saying(&format!("was told {answer}")));
    job.ask(question("sure", "Sure?"));
    let task = &created["taskId"];
    let waiting = until(&mut client, task, "input_required").await;
    assert!(waiting["inputRequests"]["sure"].is_object(), "{waiting}");
    let answers = json!({"sure": {"action": "accept", "content": {"answer": true}}});
    client
        .request(
            "tasks/update",
            json!({"taskId": task, "inputResponses": answers}),
        )
        .await;
    let done = until(&mut client, task, "completed").await;
    assert_eq!(text(&done["result"]), "was told true");
}

#[tokio::test]
async fn a_null_action_is_as_if_none_were_given() {
    let tools = Tools::new();
    let mut client = tools.stateless(&capable());
    let nulls = json!({"action": null, "id": null, "input": null});
    let created = client.call("tool", nulls).await;
    assert_eq!(created["resultType"], "task");
    tools.tool.next().await.end_saying("done");
    let done = until(&mut client, &created["taskId"], "completed").await;
    assert_eq!(text(&done["result"]), "done");
}

#[tokio::test]
async fn a_tool_that_fails_is_a_completed_task_with_an_error() {
    let tools = Tools::new();
    let mut client = tools.stateless(&capable());
    let created = client.call("tool", json!({})).await;
    tools.tool.next().await.fail("broken");
    let done = until(&mut client, &created["taskId"], "completed").await;
    assert_eq!(done["result"]["isError"], true);
}

#[tokio::test]
async fn cancelling_a_task_ends_what_it_runs() {
    let tools = Tools::new();
    let mut client = tools.stateless(&capable());
    let created = client.call("tool", json!({})).await;
    let job = tools.tool.next().await;
    let task = &created["taskId"];
    client
        .request("tasks/cancel", json!({"taskId": task}))
        .await;
    job.aborted(1).await;
    until(&mut client, task, "cancelled").await;
}

#[tokio::test(start_paused = true)]
async fn a_spawn_is_answered_at_once_and_is_no_task() {
    let actions = [
        HandleAction::Spawn,
        HandleAction::Fetch,
        HandleAction::Abort,
    ];
    let tools = Tools::with(ToolDefinition {
        shape: ToolShape {
            actions: actions.into_iter().collect::<ActionSet>(),
            ..lasting("tool").shape
        },
        ..lasting("tool")
    });
    let mut client = tools.stateless(&capable());
    let spawn = json!({"action": "spawn", "id": "a"});
    let spawned = client.call("tool", spawn).await;
    assert_eq!(
        spawned["structuredContent"],
        json!({"id": "a", "state": "running"})
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_stays_a_call_until_it_would_have_become_a_handle() {
    let tools = Tools::new();
    let server = tools.server_with(McpOptions::default());
    let mut client = tools.stateless_at(&server, &capable());
    let call = client.begin("tool", json!({})).await;
    let job = tools.tool.next().await;
    tokio::time::sleep(Duration::from_secs(49)).await;
    job.end_saying("in time");
    assert_eq!(text(&client.answer(call).await["result"]), "in time");
    let spawn = json!({"action": "spawn", "id": "a"});
    client.call("tool", spawn).await;
    for (tool, arguments) in [("tool", json!({})), ("await", json!({"all": ["a"]}))] {
        let began = tokio::time::Instant::now();
        let created = client.call(tool, arguments).await;
        assert_eq!(created["resultType"], "task", "{created}");
        assert!(began.elapsed() >= Duration::from_secs(50));
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asked_for_progress_gets_it_and_then_a_task() {
    let tools = Tools::new();
    let server = tools.server_with(McpOptions::default());
    let mut client = tools.stateless_at(&server, &capable());
    let call = client.begin_with_progress("tool", json!({})).await;
    let job = tools.tool.next().await;
    job.write("compiling\n");
    let told = client.told("notifications/progress").await;
    let message = &told["params"]["message"];
    assert_eq!(message, "running for 5 s: compiling");
    let created = client.answer(call).await["result"].clone();
    assert_eq!(created["resultType"], "task", "{created}");
}

#[tokio::test(start_paused = true)]
async fn without_tasks_a_long_call_continues_as_a_handle() {
    let tools = Tools::new();
    let server = tools.server_with(McpOptions {
        tasks: TaskPolicy::Never,
        ..McpOptions::default()
    });
    let mut client = tools.stateless_at(&server, &capable());
    let discovered = client.request("server/discover", json!({})).await;
    let extensions = &discovered["result"]["capabilities"]["extensions"];
    assert!(extensions.is_null(), "{discovered}");
    let handed = client.call("tool", json!({})).await;
    let view = &handed["structuredContent"];
    assert_eq!(view["state"], "running", "{handed}");
    let note = view["note"].as_str().unwrap();
    assert!(note.contains("await"), "{note}");
    assert!(text(&handed).contains("still runs"), "{handed}");
}

#[tokio::test(start_paused = true)]
async fn a_client_without_the_extension_gets_no_task() {
    let tools = Tools::new();
    let mut client = tools.stateless(&json!({}));
    let call = client.begin("tool", json!({})).await;
    let job = tools.tool.next().await;
    // Longer than what would have made a task of it.
    tokio::time::sleep(Duration::from_secs(5)).await;
    job.end_saying("late");
    assert_eq!(text(&client.answer(call).await["result"]), "late");
    let refused = client.request("tasks/get", json!({"taskId": "x"})).await;
    assert_eq!(refused["error"]["code"], -32021);
}

#[tokio::test]
async fn a_task_says_what_its_tool_said_last() {
    let tools = Tools::new();
    let mut client = tools.stateless(&capable());
    let created = client.call("tool", json!({})).await;
    assert_eq!(created["statusMessage"], "running");
    let job = tools.tool.next().await;
    for line in ["compiling", "linking"] {
        job.write(&format!("{line}\n"));
        says(&mut client, &created["taskId"], line).await;
    }
    let spawned = client
        .call("tool", json!({"action": "spawn", "id": "a"}))
        .await;
    assert_eq!(spawned["structuredContent"]["state"], "running");
    let waiting = client.call("await", json!({"all": ["a"]})).await;
    assert_eq!(waiting["statusMessage"], "a: running");
    tools.tool.started()[1].write("halfway\n");
    says(&mut client, &waiting["taskId"], "a: halfway").await;
}

/// Asks until the task says so.
async fn says(client: &mut Client, task: &Value, message: &str) {
    loop {
        let answer = client.request("tasks/get", json!({"taskId": task})).await;
        assert_eq!(answer["result"]["status"], "working", "{answer}");
        if answer["result"]["statusMessage"] == message {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// The next notification about a task in this state.
async fn told(client: &mut Client, task: &Value, status: &str) -> Value {
    let told = client.find(|message| {
        message["method"] == "notifications/tasks"
            && message["params"]["taskId"] == *task
            && message["params"]["status"] == status
    });
    told.await["params"].clone()
}

#[tokio::test]
async fn the_client_is_notified_when_the_state_of_a_task_changes() {
    let tools = Tools::new();
    let mut client = tools.stateless(&capable());
    let created = client.call("tool", json!({})).await;
    let task = &created["taskId"];
    let job = tools.tool.next().await;
    job.on_answer(|job, _| job.write("thanks\n"));
    job.ask(question("sure", "Sure?"));
    let asked = told(&mut client, task, "input_required").await;
    assert_eq!(asked["statusMessage"], "tool asks: Sure?");
    assert!(asked["inputRequests"]["sure"].is_object(), "{asked}");
    let answers = json!({"sure": {"action": "accept", "content": {"answer": true}}});
    let update = json!({"taskId": task, "inputResponses": answers});
    client.request("tasks/update", update).await;
    told(&mut client, task, "working").await;
    job.end_saying("well");
    let done = told(&mut client, task, "completed").await;
    assert_eq!(text(&done["result"]), "well");
    // A notified client finds the task in this state.
    let looked = client.request("tasks/get", json!({"taskId": task})).await;
    assert_eq!(looked["result"]["status"], "completed");
}

#[tokio::test]
async fn a_stream_that_listens_hears_of_tasks() {
    let tools = Tools::new();
    let mut client = tools.stateless(&capable());
    let listening = client
        .ask("subscriptions/listen", json!({"notifications": {}}))
        .await;
    client
        .told("notifications/subscriptions/acknowledged")
        .await;
    let created = client.call("tool", json!({})).await;
    let task = &created["taskId"];
    client
        .request("tasks/cancel", json!({"taskId": task}))
        .await;
    let cancelled = told(&mut client, task, "cancelled").await;
    let subscription = &cancelled["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(subscription, &json!(listening));
}

#[tokio::test(start_paused = true)]
async fn over_http_the_stream_that_listens_hears_of_tasks() {
    let tools = Tools::new();
    let web = Web::stateless(&tools, capable());
    let listen = json!({"notifications": {}});
    let stream = web.post("subscriptions/listen", "", listen).await;
    let mut stream = stream.into_body().into_data_stream();
    let created = web.result(json!({})).await;
    tools.tool.next().await.end_saying("well");
    let mut told = String::new();
    while !told.contains("\"completed\"") || !told.ends_with("\n\n") {
        let piece = stream.next().await.expect("it stays open").unwrap();
        told.push_str(std::str::from_utf8(&piece).unwrap());
    }
    let line = told
        .lines()
        .find(|line| line.contains("notifications/tasks"));
    let line = line.and_then(|line| line.strip_prefix("data: ")).unwrap();
    let told: Value = serde_json::from_str(line).unwrap();
    assert_eq!(told["params"]["taskId"], created["taskId"]);
    assert_eq!(text(&told["params"]["result"]), "well");
}
