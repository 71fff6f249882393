//! What tools ask, on its way to the client's user.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_protocol::{PermissionReply, Question};
use windlass_runtime::{PendingRequests, RunMode, RunPolicy, ToolDefinition};
use windlass_testing::{lasting, question, text_question};

use crate::support::{Client, Tools, text};

fn asks() -> ToolDefinition {
    ToolDefinition {
        run: RunPolicy::starting(RunMode::Ask),
        ..lasting("tool")
    }
}

fn sure(tools: &Tools) {
    tools.tool.opening(|job| {
        job.ask(question("sure", "Sure?"));
        job.on_answer(|job, answer| job.end_saying(&format!("was told {answer}")));
    });
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "values are written in place, and read better without a borrow"
)]
fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

#[tokio::test]
async fn a_question_is_a_form_of_the_client() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.client(json!({"elicitation": {}})).await;
    let call = client.begin("tool", json!({})).await;
    let mut asked = client.told("elicitation/create").await;
    asked["params"]["_meta"].take();
    assert_eq!(
        asked["params"],
        json!({
            "_meta": null,
            "mode": "form",
            "message": "tool asks: Sure?",
            "requestedSchema": {
                "type": "object",
                "properties": {"answer": {"type": "boolean"}},
                "required": ["answer"],
            },
        })
    );
    client.reply(&asked, accept(json!({"answer": true}))).await;
    assert_eq!(text(&client.answer(call).await["result"]), "was told true");
}

/// The requests of the only session.
fn requests(tools: &Tools) -> PendingRequests {
    let sessions = tools.runtime.sessions().list();
    sessions[0].0.requests().clone()
}

#[tokio::test(start_paused = true)]
async fn a_question_that_a_person_declines_stops_the_tool_and_says_so() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.client(json!({"elicitation": {}})).await;
    let call = client.begin("tool", json!({})).await;
    let asked = client.told("elicitation/create").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    client.reply(&asked, json!({"action": "decline"})).await;
    let result = client.answer(call).await["result"].clone();
    assert_eq!(result["isError"], true);
    assert_eq!(text(&result), "the user declined to answer \"Sure?\"");
}

#[tokio::test(start_paused = true)]
async fn what_a_client_declines_or_cancels_by_itself_stays_open_for_others() {
    for action in ["decline", "cancel"] {
        let tools = Tools::new();
        sure(&tools);
        let mut client = tools.client(json!({"elicitation": {}})).await;
        client
            .call("tool", json!({"action": "spawn", "id": "a"}))
            .await;
        let minute = json!({"all": ["a"], "timeout_secs": 60});
        let waiting = client.begin("await", minute.clone()).await;
        let asked = client.told("elicitation/create").await;
        client.reply(&asked, json!({"action": action})).await;
        // Neither this call nor the next shows the dialog again.
        for waiting in [waiting, client.begin("await", minute).await] {
            let answer = client
                .find(|message| {
                    message["id"] == waiting || message["method"] == "elicitation/create"
                })
                .await;
            assert_eq!(answer["method"], Value::Null, "{answer}");
            let pending = &answer["result"]["structuredContent"]["pending"][0];
            assert_eq!(pending["state"], "waiting");
        }
        let open = requests(&tools).questions();
        requests(&tools).answer(&open[0].ask, json!(true)).unwrap();
        let done = client.call("await", json!({"all": ["a"]})).await;
        let done = &done["structuredContent"]["completed"][0];
        assert_eq!(done["result"], "was told true");
    }
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_a_client_cancels_stays_open_for_others() {
    let tools = Tools::with(asks());
    tools.tool.opening(|job| job.end_saying("ran"));
    let mut client = tools.client(json!({"elicitation": {}})).await;
    let call = client.begin("tool", json!({})).await;
    let asked = client.told("elicitation/create").await;
    client.reply(&asked, json!({"action": "cancel"})).await;
    let open = requests(&tools).permissions();
    requests(&tools)
        .reply(&open[0].id, PermissionReply::Once.into())
        .unwrap();
    assert_eq!(text(&client.answer(call).await["result"]), "ran");
}

#[tokio::test]
async fn a_handle_is_asked_about_by_the_await_that_waits_for_it() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.client(json!({"elicitation": {}})).await;
    let spawned = client
        .call("tool", json!({"action": "spawn", "id": "a"}))
        .await;
    assert_eq!(spawned["structuredContent"]["state"], "waiting");
    let waiting = client.begin("await", json!({"all": ["a"]})).await;
    let asked = client.told("elicitation/create").await;
    client.reply(&asked, accept(json!({"answer": false}))).await;
    let answer = client.answer(waiting).await;
    assert_eq!(
        answer["result"]["structuredContent"]["completed"][0]["result"],
        "was told false"
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_ask_after_all_is_asked_once() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.client(json!({"elicitation": {}})).await;
    client
        .call("tool", json!({"action": "spawn", "id": "a"}))
        .await;
    let waiting = client.begin("await", json!({"all": ["a"]})).await;
    let asked = client.told("elicitation/create").await;
    let error = json!({"code": -32601, "message": "method not found"});
    client
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
        .await;
    // The client is not asked again; when its time is up, the assistant is told
    // of the question.
    let answer = client
        .find(|message| message["id"] == waiting || message["method"] == "elicitation/create")
        .await;
    assert_eq!(answer["method"], Value::Null, "{answer}");
    let pending = &answer["result"]["structuredContent"]["pending"][0];
    assert_eq!(pending["question"]["text"], "Sure?");
    let applied = client
        .call("tool", json!({"action": "apply", "id": "a", "input": true}))
        .await;
    assert_eq!(applied["structuredContent"]["result"], "was told true");
}

#[tokio::test(start_paused = true)]
async fn without_forms_the_assistant_may_answer_a_handle_with_apply() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.client(json!({})).await;
    client
        .call("tool", json!({"action": "spawn", "id": "a"}))
        .await;
    let waited = client.call("await", json!({"all": ["a"]})).await;
    let pending = &waited["structuredContent"]["pending"][0];
    assert_eq!(pending["question"]["text"], "Sure?");
    let applied = client
        .call("tool", json!({"action": "apply", "id": "a", "input": true}))
        .await;
    assert_eq!(applied["structuredContent"]["result"], "was told true");
}

/// Begins a call of a client that can ask nothing, and waits until its time is
/// up; returns the reply.
async fn too_late(tools: &Tools, arguments: Value) -> (Client, Value) {
    let minute = Duration::from_secs(50);
    let mut client = tools.patient_client(json!({}), minute).await;
    let began = tokio::time::Instant::now();
    let reply = client.call("tool", arguments).await;
    assert_eq!(began.elapsed().as_secs(), 50);
    (client, reply["structuredContent"].clone())
}

#[tokio::test(start_paused = true)]
async fn without_forms_a_question_waits_for_another_front_end_beyond_the_call() {
    let tools = Tools::new();
    sure(&tools);
    let (mut client, reply) = too_late(&tools, json!({})).await;
    let open = requests(&tools).questions();
    assert_eq!(open.len(), 1);
    let note = format!(
        "waiting for the user: they answer with `windlass answer {}` or on the page; \
         tell them, and await this handle",
        open[0].ask
    );
    assert_eq!(reply["state"], "waiting");
    assert_eq!(reply["note"], note);
    let waiting = client.begin("await", json!({"all": ["tool-1"]})).await;
    requests(&tools).answer(&open[0].ask, json!(true)).unwrap();
    let done = client.answer(waiting).await["result"].clone();
    let done = &done["structuredContent"]["completed"][0];
    assert_eq!(done["result"], "was told true");
}

#[tokio::test(start_paused = true)]
async fn without_forms_a_permission_waits_for_another_front_end_beyond_the_call() {
    for arguments in [json!({}), json!({"action": "spawn", "id": "tool-1"})] {
        let tools = Tools::with(asks());
        tools.tool.opening(|job| job.end_saying("ran"));
        let (mut client, reply) = too_late(&tools, arguments).await;
        let open = requests(&tools).permissions();
        let note = format!(
            "waiting for the user: they allow it with `windlass permissions reply {} once` \
             or on the page; tell them, and await this handle",
            open[0].id
        );
        assert_eq!(reply["state"], "pending");
        assert_eq!(reply["note"], note);
        assert!(tools.tool.started().is_empty());
        let waiting = client.begin("await", json!({"all": ["tool-1"]})).await;
        requests(&tools)
            .reply(&open[0].id, PermissionReply::Once.into())
            .unwrap();
        let done = client.answer(waiting).await["result"].clone();
        let done = &done["structuredContent"]["completed"][0];
        assert_eq!(done["result"], "ran");
    }
}

/// A client that asked for progress waits for as long as it takes, unless its
/// user cannot know what is waited for.
#[tokio::test(start_paused = true)]
async fn progress_does_not_keep_a_call_whose_question_nobody_sees() {
    for (capabilities, dismisses) in [(json!({}), false), (json!({"elicitation": {}}), true)] {
        let tools = Tools::new();
        sure(&tools);
        let limit = Duration::from_secs(50);
        let mut client = tools.patient_client(capabilities, limit).await;
        let began = tokio::time::Instant::now();
        let progress = json!({"name": "tool", "arguments": {}, "_meta": {"progressToken": "p"}});
        let call = client.ask("tools/call", progress).await;
        if dismisses {
            let asked = client.told("elicitation/create").await;
            client.reply(&asked, json!({"action": "cancel"})).await;
        }
        let reply = client.answer(call).await["result"].clone();
        assert_eq!(reply["structuredContent"]["state"], "waiting", "{reply}");
        assert_eq!(began.elapsed().as_secs(), 50);
    }
    // With its dialog open, it is kept.
    let tools = Tools::new();
    sure(&tools);
    let limit = Duration::from_secs(50);
    let forms = json!({"elicitation": {}});
    let mut client = tools.patient_client(forms, limit).await;
    let progress = json!({"name": "tool", "arguments": {}, "_meta": {"progressToken": "p"}});
    let call = client.ask("tools/call", progress).await;
    let asked = client.told("elicitation/create").await;
    tokio::time::sleep(Duration::from_secs(500)).await;
    client.reply(&asked, accept(json!({"answer": true}))).await;
    assert_eq!(text(&client.answer(call).await["result"]), "was told true");
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_outlasted_its_call_is_shown_by_the_next_await() {
    let tools = Tools::with(asks());
    tools.tool.opening(|job| job.end_saying("ran"));
    let form = json!({"elicitation": {}});
    let mut client = tools.patient_client(form, Duration::from_secs(50)).await;
    let call = client.begin("tool", json!({})).await;
    client.told("elicitation/create").await;
    client.answer(call).await;
    let waiting = client.begin("await", json!({"all": ["tool-1"]})).await;
    let asked = client.told("elicitation/create").await;
    client
        .reply(&asked, accept(json!({"decision": "once"})))
        .await;
    let done = client.answer(waiting).await["result"].clone();
    let done = &done["structuredContent"]["completed"][0];
    assert_eq!(done["result"], "ran");
}

#[tokio::test]
async fn permission_is_asked_before_anything_runs() {
    let tools = Tools::with(asks());
    tools.tool.opening(|job| job.end_saying("ran"));
    let mut client = tools.client(json!({"elicitation": {}})).await;
    let call = client.begin("tool", json!({})).await;
    let asked = client.told("elicitation/create").await;
    assert_eq!(
        asked["params"]["message"],
        "Run `tool`?\n  tool\nalways would remember: tool"
    );
    assert!(tools.tool.started().is_empty());
    let schema = &asked["params"]["requestedSchema"];
    let fields = schema["properties"].as_object().unwrap();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["decision"]);
    let no = json!({"decision": "reject"});
    client.reply(&asked, accept(no)).await;
    let refused = client.answer(call).await["result"].clone();
    assert_eq!(refused["isError"], true);
    assert_eq!(text(&refused), "the user rejected `tool`; nothing has run");

    let call = client.begin("tool", json!({})).await;
    let asked = client.told("elicitation/create").await;
    client
        .reply(&asked, accept(json!({"decision": "always"})))
        .await;
    assert_eq!(text(&client.answer(call).await["result"]), "ran");
    // Remembered for the session.
    assert_eq!(text(&client.call("tool", json!({})).await), "ran");
}

/// Calls the tool again with answers, as a stateless client does.
async fn again(client: &mut Client, state: &Value, answers: Value) -> Value {
    let params = json!({
        "name": "tool",
        "arguments": {},
        "requestState": state,
        "inputResponses": answers,
    });
    client.request("tools/call", params).await
}

#[tokio::test]
async fn a_stateless_client_is_asked_in_rounds() {
    let tools = Tools::new();
    tools.tool.opening(|job| {
        job.ask(text_question("name", "Who?"));
        job.on_answer(|job, answer| match job.answers().len() {
            1 => job.ask(text_question("name", "Really?")),
            _ => job.end_saying(&format!("{answer} it is")),
        });
    });
    let mut client = tools.stateless(&json!({"elicitation": {"form": {}}}));
    let first = client.call("tool", json!({})).await;
    assert_eq!(first["resultType"], "input_required");
    let request = &first["inputRequests"]["name"];
    assert_eq!(request["params"]["message"], "tool asks: Who?");

    // What is missing is asked again; the tool has not been run twice.
    let missing = again(&mut client, &first["requestState"], json!({})).await;
    let state = &missing["result"]["requestState"];
    let second = again(
        &mut client,
        state,
        json!({"name": accept(json!({"answer": "Ann"}))}),
    )
    .await;
    let asked = &second["result"]["inputRequests"]["name-2"];
    assert_eq!(asked["params"]["message"], "tool asks: Really?");
    let state = &second["result"]["requestState"];
    let yes = json!({"name-2": accept(json!({"answer": "Ann"}))});
    let done = again(&mut client, state, yes).await;
    assert_eq!(text(&done["result"]), "\"Ann\" it is");
    assert_eq!(tools.tool.started().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_round_that_is_cancelled_leaves_the_question_open_for_others() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.stateless(&json!({"elicitation": {}}));
    let asked = client.call("tool", json!({})).await;
    let cancelled = json!({"sure": {"action": "cancel"}});
    let reply = again(&mut client, &asked["requestState"], cancelled).await;
    let reply = &reply["result"]["structuredContent"];
    assert_eq!(reply["state"], "waiting", "{reply}");
    let open = requests(&tools).questions();
    requests(&tools).answer(&open[0].ask, json!(true)).unwrap();
    let done = client.call("await", json!({"all": [reply["id"]]})).await;
    let done = &done["structuredContent"]["completed"][0];
    assert_eq!(done["result"], "was told true");
}

#[tokio::test]
async fn a_state_is_good_for_its_own_call_and_once() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.stateless(&json!({"elicitation": {}}));
    let asked = client.call("tool", json!({})).await;
    let state = asked["requestState"].as_str().unwrap();
    let yes = json!({"sure": accept(json!({"answer": true}))});
    let forged = json!(format!("{state}x"));
    let refused = again(&mut client, &forged, yes.clone()).await;
    assert_eq!(refused["error"]["code"], -32602);
    let other = json!({
        "name": "tool",
        "arguments": {"other": 1},
        "requestState": state,
        "inputResponses": yes,
    });
    let refused = client.request("tools/call", other).await;
    assert_eq!(refused["error"]["code"], -32602);
    let done = again(&mut client, &json!(state), yes.clone()).await;
    assert_eq!(text(&done["result"]), "was told true");
    let refused = again(&mut client, &json!(state), yes).await;
    assert_eq!(refused["error"]["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_no_page_can_take_waits_for_another_front_end() {
    let tools = Tools::new();
    secret(&tools);
    let capabilities = json!({"elicitation": {"form": {}}});
    let mut client = tools.client(capabilities).await;
    client
        .call("tool", json!({"action": "spawn", "id": "a"}))
        .await;
    let waited = client
        .call("await", json!({"all": ["a"], "timeout_secs": 60}))
        .await;
    let note = waited["structuredContent"]["pending"][0]["note"].to_string();
    let open = requests(&tools).questions();
    assert!(
        note.contains(&format!("windlass answer {}", open[0].ask)),
        "{note}"
    );
    let waiting = client.begin("await", json!({"all": ["a"]})).await;
    requests(&tools)
        .answer(&open[0].ask, json!("hunter2"))
        .unwrap();
    let done = client.answer(waiting).await["result"].clone();
    let done = &done["structuredContent"]["completed"][0];
    assert_eq!(done["result"], "7 letters");
}

fn secret(tools: &Tools) {
    tools.tool.opening(|job| {
        job.ask(Question {
            secret: true,
            ..text_question("password", "Password:")
        });
        job.on_answer(|job, answer| {
            job.end_saying(&format!("{} letters", answer.to_string().len() - 2));
        });
    });
}

#[tokio::test]
async fn a_secret_is_never_asked_for_in_a_form() {
    let tools = Tools::new();
    secret(&tools);
    // A page on loopback takes it, once.
    let capabilities = json!({"elicitation": {"form": {}, "url": {}}});
    let mut client = tools.client(capabilities).await;
    let call = client.begin("tool", json!({})).await;
    let asked = client.told("elicitation/create").await;
    assert_eq!(asked["params"]["mode"], "url");
    let url = asked["params"]["url"].as_str().unwrap().to_owned();
    client.reply(&asked, json!({"action": "accept"})).await;
    let (authority, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let shown = http(authority, &format!("GET /{path}"), "").await;
    assert!(shown.contains("tool asks: Password:"), "{shown}");
    let sent = http(authority, &format!("POST /{path}"), "secret=hunter2").await;
    assert!(sent.starts_with("HTTP/1.1 200"), "{sent}");
    assert_eq!(text(&client.answer(call).await["result"]), "7 letters");
    let again = http(authority, &format!("GET /{path}"), "").await;
    assert!(again.starts_with("HTTP/1.1 404"), "{again}");
}

async fn http(authority: &str, line: &str, body: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(authority).await.unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}
