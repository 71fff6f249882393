//! Refusals, broken streams and what is tried again.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windlass_assistant::{Endpoint, ModelError, ModelEvent, ModelId, Patience, RemoteModel};
use windlass_outside::model::{Fault, ModelServer, Say, Script, Turn};
use windlass_protocol::{CallReply, Notice, NoticeKind, NoticeLevel, ReplyContent, TurnEvent};
use windlass_schema::Dialect;

use crate::support::{APIS, Stage, ask, model_at, stage, user};

fn agains(heard: &[ModelEvent]) -> usize {
    let again = |event: &&ModelEvent| matches!(event, ModelEvent::Again { .. });
    heard.iter().filter(again).count()
}

#[tokio::test]
async fn busy_providers_and_broken_streams_are_asked_again() {
    for (which, (api, ..)) in APIS.into_iter().enumerate() {
        let turns = [
            Turn::fault(Fault::rate_limit(0)),
            Turn::text("half of the answer").with(Fault::Cut(40)),
            Turn::text("the answer"),
        ];
        let Stage { server, model } = stage(which, turns).await;
        let (heard, reply) = ask(&*model, &[user("hi")]).await;
        assert_eq!(reply.unwrap().text(), "the answer", "{api:?}");
        assert_eq!(agains(&heard), 2);
        assert_eq!(server.seen().len(), 3);
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_no_answer() {
    for which in 0..APIS.len() {
        let turn = Turn::new([Say::call("shell", json!({"command": "rm -r /tmp/x"}))]);
        let turns = [
            turn.clone().with(Fault::End(60)),
            turn.clone().with(Fault::Cut(70)),
            turn.with(Fault::Overloaded),
        ];
        let Stage { server, model } = stage(which, turns).await;
        let (_, reply) = ask(&*model, &[user("hi")]).await;
        let error = reply.unwrap_err();
        assert!(matches!(error, ModelError::Broken { .. }), "{error}");
        assert_eq!(server.seen().len(), 3);
    }
}

#[tokio::test]
async fn what_is_refused_is_not_asked_again() {
    for (status, expected) in [
        (
            401,
            "`anthropic` does not accept the key (bad key …); check `SOME_API_KEY`",
        ),
        (
            400,
            "`anthropic` refused the request with status 400: bad key …",
        ),
    ] {
        let refuse = Fault::Refuse {
            status,
            retry_after: None,
            message: Some("bad key sk-secret-key".to_owned()),
        };
        let Stage { server, model } = stage(0, [Turn::fault(refuse)]).await;
        let (_, reply) = ask(&*model, &[user("hi")]).await;
        assert_eq!(reply.unwrap_err().to_string(), expected);
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_provider_that_wants_too_long_a_pause_is_given_up() {
    let Stage { server, model } = stage(0, [Turn::fault(Fault::rate_limit(3600))]).await;
    let (_, reply) = ask(&*model, &[user("hi")]).await;
    let error = reply.unwrap_err();
    assert!(
        matches!(error, ModelError::Busy { status: 429, .. }),
        "{error}"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn server_errors_are_retried_and_then_reported() {
    let turns = [Turn::fault(Fault::status(503)).repeated()];
    let Stage { server, model } = stage(2, turns).await;
    let (heard, reply) = ask(&*model, &[user("hi")]).await;
    assert!(reply.unwrap_err().to_string().contains("status 503"));
    assert_eq!((agains(&heard), server.seen().len()), (2, 3));
}

#[tokio::test]
async fn a_stream_that_hangs_is_given_up() {
    let Stage { server, .. } = stage(0, [Turn::text("a b c").with(Fault::Hang(200))]).await;
    let endpoint = Endpoint {
        api: APIS[0].0,
        dialect: Dialect::Anthropic,
        base_url: server.url(),
        key: None,
        key_source: String::new(),
        headers: Vec::new(),
        patience: Patience {
            attempts: 1,
            silence: Duration::from_millis(200),
            ..Patience::default()
        },
    };
    let id: ModelId = "anthropic/scripted".parse().unwrap();
    let model = RemoteModel::new(id, endpoint).unwrap();
    let (_, reply) = ask(&model, &[user("hi")]).await;
    assert!(matches!(reply.unwrap_err(), ModelError::Broken { .. }));
}

#[tokio::test]
async fn an_unreachable_provider_is_reported_with_its_address() {
    let Stage { server, model } = stage(0, []).await;
    let url = server.url();
    drop(server);
    let (_, reply) = ask(&*model, &[user("hi")]).await;
    let error = reply.unwrap_err().to_string();
    // A connection that was taken just before may break instead.
    assert!(error.contains("anthropic"), "{error}");
    assert!(
        error.contains(&url) || error.contains("broke off"),
        "{error}"
    );
}

#[tokio::test]
async fn the_key_travels_in_a_header_and_nowhere_else() {
    let expected = [
        ("x-api-key", "sk-secret-key"),
        ("authorization", "Bearer sk-secret-key"),
        ("authorization", "Bearer sk-secret-key"),
        ("x-goog-api-key", "sk-secret-key"),
        ("authorization", "Bearer sk-secret-key"),
    ];
    for (which, (header, value)) in expected.into_iter().enumerate() {
        let Stage { server, model } = stage(which, [Turn::text("hi")]).await;
        ask(&*model, &[user("hi")]).await.1.unwrap();
        let seen = &server.seen()[0];
        assert_eq!(seen.header(header), Some(value));
        assert!(!seen.path.contains("sk-secret-key"));
        assert!(!seen.body.to_string().contains("sk-secret-key"));
        assert!(!format!("{:?}", seen.header("user-agent")).contains("sk-secret"));
    }
}

/// Answers every request with a redirection to `target`.
async fn redirecting(status: u16, target: String) -> std::net::SocketAddr {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 16 << 10];
            let _ = stream.read(&mut request).await;
            let answer = format!(
                "HTTP/1.1 {status} Moved\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    address
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirection() {
    for which in 0..APIS.len() {
        for status in [301, 302, 307, 308] {
            let other = ModelServer::start(Script::new([Turn::text("hi")]))
                .await
                .unwrap();
            // Another name of this machine, and another port.
            let target = other.url().replace("127.0.0.1", "localhost");
            let address = redirecting(status, target.clone()).await;
            let model = model_at(&format!("http://{address}"), which);
            let error = ask(&*model, &[user("hi")]).await.1.unwrap_err();
            assert!(matches!(error, ModelError::Refused { .. }), "{error}");
            assert!(error.to_string().contains("redirects to"), "{error}");
            assert!(other.seen().is_empty(), "{status}");
        }
    }
}

/// What a model said is given back to it as it wants it, and to others
/// without what only it can read.
#[tokio::test]
async fn a_conversation_is_given_back_whole() {
    let say = [
        Say::Reasoning("hm".into()),
        Say::Text("I look".into()),
        Say::call("shell", json!({"command": "ls"})),
    ];
    let mut told = String::new();
    for (which, (api, ..)) in APIS.into_iter().enumerate() {
        let turns = [Turn::new(say.clone()), Turn::text("done")];
        let Stage { server, model } = stage(which, turns).await;
        let mut events = vec![user("hi")];
        let reply = ask(&*model, &events).await.1.unwrap();
        let id = reply.calls().next().unwrap().id.clone();
        events.push(Arc::new(TurnEvent::Assistant {
            model: model.id().to_string(),
            said: reply.said,
            interrupted: false,
        }));
        events.push(Arc::new(TurnEvent::Replies {
            replies: vec![CallReply {
                id: id.clone(),
                content: ReplyContent::Text("a.txt".to_owned()),
                is_error: false,
                error: None,
                extras: windlass_protocol::ReplyExtras::default(),
            }],
            notices: vec![Notice {
                level: NoticeLevel::Info,
                kind: NoticeKind::Success,
                handle: None,
                tool: None,
                text: "`x` finished successfully".to_owned(),
            }],
        }));
        ask(&*model, &events).await.1.unwrap();
        let body = server.seen()[1].body.to_string().replace(&id, "ID");
        told.extend([api.as_str(), ": ", &body, "\n"]);
    }
    insta::assert_snapshot!(told);
}
