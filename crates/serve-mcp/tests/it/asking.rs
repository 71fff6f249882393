//! What tools ask, on its way to the client's user.

use serde_json::{Value, json};
use windlass_protocol::Question;
use windlass_runtime::{RunMode, RunPolicy, ToolDefinition};
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

#[tokio::test]
async fn a_declined_question_stops_the_tool_and_says_so() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.client(json!({"elicitation": {}})).await;
    for (action, said) in [
        ("decline", "the user declined to answer \"Sure?\""),
        ("cancel", "the user dismissed the question \"Sure?\""),
    ] {
        let call = client.begin("tool", json!({})).await;
        let asked = client.told("elicitation/create").await;
        client.reply(&asked, json!({"action": action})).await;
        let result = client.answer(call).await["result"].clone();
        assert_eq!(result["isError"], true);
        assert_eq!(text(&result), said);
    }
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

#[tokio::test]
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
    // The assistant is told of the question; the client is not asked again.
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

#[tokio::test]
async fn without_forms_the_assistant_answers_a_handle_with_apply() {
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

#[tokio::test]
async fn without_forms_a_one_shot_takes_the_default_or_says_what_was_asked() {
    let tools = Tools::new();
    sure(&tools);
    let mut client = tools.client(json!({})).await;
    let failed = client.call("tool", json!({})).await;
    assert_eq!(failed["isError"], true);
    assert!(
        text(&failed).contains("the tool asked \"Sure?\""),
        "{failed}"
    );
    tools.tool.opening(|job| {
        job.ask(Question {
            default: Some(json!(true)),
            ..question("sure", "Sure?")
        });
        job.on_answer(|job, answer| job.end_saying(&format!("was told {answer}")));
    });
    assert_eq!(text(&client.call("tool", json!({})).await), "was told true");
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
    let no = json!({"decision": "reject", "message": "not today"});
    client.reply(&asked, accept(no)).await;
    let refused = client.answer(call).await["result"].clone();
    assert_eq!(refused["isError"], true);
    assert_eq!(text(&refused), "the user rejected `tool`: not today");

    let call = client.begin("tool", json!({})).await;
    let asked = client.told("elicitation/create").await;
    client
        .reply(&asked, accept(json!({"decision": "always"})))
        .await;
    assert_eq!(text(&client.answer(call).await["result"]), "ran");
    // Remembered for the session.
    assert_eq!(text(&client.call("tool", json!({})).await), "ran");
}

#[tokio::test]
async fn permission_that_nobody_can_be_asked_for_is_refused_and_says_how_to_allow_it() {
    let tools = Tools::with(asks());
    let mut client = tools.client(json!({})).await;
    let refused = client.call("tool", json!({})).await;
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("run = \"unattended\""), "{refused}");
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

#[tokio::test]
async fn a_secret_is_never_asked_for_in_a_form() {
    let tools = Tools::new();
    tools.tool.opening(|job| {
        job.ask(Question {
            secret: true,
            ..text_question("password", "Password:")
        });
        job.on_answer(|job, answer| {
            job.end_saying(&format!("{} letters", answer.to_string().len() - 2));
        });
    });
    let mut client = tools.client(json!({"elicitation": {"form": {}}})).await;
    let failed = client.call("tool", json!({})).await;
    assert_eq!(failed["isError"], true);

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
