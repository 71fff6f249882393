use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::model::{Say, stream};

/// Posts a body and returns all that comes back, with whether it came whole.
async fn post(server: &ModelServer, path: &str, body: &Value) -> (String, bool) {
    let mut connection = TcpStream::connect(server.address).await.unwrap();
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let whole = connection.read_to_end(&mut answer).await.is_ok();
    let answer = String::from_utf8(answer).unwrap();
    let whole = whole && (answer.ends_with("0\r\n\r\n") || !answer.contains("chunked"));
    (answer, whole)
}

fn path(format: ProviderFormat) -> &'static str {
    match format {
        ProviderFormat::Anthropic => "/v1/messages",
        ProviderFormat::Responses => "/v1/responses",
        ProviderFormat::Chat => "/v1/chat/completions",
        ProviderFormat::Gemini => "/v1beta/models/scripted:streamGenerateContent?alt=sse",
        ProviderFormat::Ollama => "/api/chat",
    }
}

#[tokio::test]
async fn every_format_is_spoken_and_its_request_kept() {
    for format in ProviderFormat::ALL {
        let turn = Turn::new([Say::Text("Hello".into()), Say::call("t", json!({"a": 1}))]);
        let server = ModelServer::start(Script::new([turn])).await.unwrap();
        let request = json!({"stream": true, "model": "m"});
        let (answer, whole) = post(&server, path(format), &request).await;
        assert!(whole, "{answer}");
        assert!(answer.contains("Hello"), "{answer}");
        let seen = server.seen();
        assert_eq!(seen.len(), 1);
        assert_eq!((seen[0].format, &seen[0].body), (format, &request));
    }
}

#[tokio::test]
async fn without_a_stream_the_answer_is_one_value() {
    let paths = [
        "/v1/messages",
        "/v1/responses",
        "/v1/chat/completions",
        "/v1beta/models/scripted:generateContent",
        "/api/chat",
    ];
    for path in paths {
        let turn = Turn::new([Say::Text("Hello".into()), Say::call("t", json!({"a": 1}))]);
        let server = ModelServer::start(Script::new([turn])).await.unwrap();
        let (answer, _) = post(&server, path, &json!({"stream": false})).await;
        let body = answer.split("\r\n\r\n").nth(1).unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        assert!(body.to_string().contains("Hello"), "{body}");
    }
}

#[test]
fn a_tool_within_a_namespace_is_called_in_two_words() {
    let turn = Turn::calls([("mcp__windlass/shell", json!({"command": "ls"}))]);
    let said = String::from_utf8(stream(ProviderFormat::Responses, &turn, 1)).unwrap();
    assert!(said.contains(r#""namespace":"mcp__windlass""#), "{said}");
    assert!(said.contains(r#""name":"shell""#), "{said}");
}

#[tokio::test]
async fn a_request_takes_the_first_turn_that_it_fits() {
    let server = ModelServer::start(Script::new([
        Turn::text("a title").when("title").repeated(),
        Turn::text("structured").structured(),
        Turn::text("first"),
        Turn::text("second"),
    ]))
    .await
    .unwrap();
    let chat = |text: &str| json!({"messages": [{"content": text}]});
    let mut structured = chat("x");
    structured["response_format"] = json!({"type": "json_schema"});
    for (body, said) in [
        (chat("x"), "first"),
        (chat("a title please"), "a title"),
        (structured, "structured"),
        (chat("another title"), "a title"),
        (chat("x"), "second"),
        (chat("x"), "the script has no turn"),
    ] {
        let (answer, _) = post(&server, "/v1/chat/completions", &body).await;
        assert!(answer.contains(said), "{said}: {answer}");
    }
}

#[tokio::test]
async fn a_cut_stream_breaks_off_and_an_ended_one_does_not() {
    let turn = Turn::text("one two three");
    let length = stream(ProviderFormat::Anthropic, &turn, 1).len();
    let server = ModelServer::start(Script::new([
        turn.clone().with(Fault::Cut(length - 5)),
        turn.clone().with(Fault::End(length - 5)),
        Turn::fault(Fault::rate_limit(3)),
    ]))
    .await
    .unwrap();
    let request = json!({"stream": true});
    let (cut, whole) = post(&server, "/v1/messages", &request).await;
    assert!(!whole && cut.contains("three"), "{cut}");
    assert!(post(&server, "/v1/messages", &request).await.1);
    let (refused, _) = post(&server, "/v1/messages", &request).await;
    assert!(refused.starts_with("HTTP/1.1 429"), "{refused}");
    assert!(refused.contains("retry-after: 3"), "{refused}");
}

#[tokio::test]
async fn what_is_held_waits_for_its_release() {
    let turn = Turn::new([
        Say::Text("before".into()),
        Say::Hold("gate".into()),
        Say::Text("after".into()),
    ]);
    let server = ModelServer::start(Script::new([turn])).await.unwrap();
    let request = json!({"stream": true});
    let reading = post(&server, "/api/chat", &request);
    tokio::pin!(reading);
    tokio::select! {
        answer = &mut reading => panic!("it did not wait: {answer:?}"),
        _ = server.wait_for(1) => {}
    }
    server.release("gate");
    let (answer, _) = reading.await;
    assert!(answer.contains("after"), "{answer}");
}
