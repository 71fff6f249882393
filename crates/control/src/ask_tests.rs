use serde_json::json;
use windlass_runtime::{Runtime, SessionOptions};

use super::*;
use crate::stage::Stage;

/// A model that says what it was told, in two pieces, and then waits for a
/// word in between.
struct EchoTalk {
    session: Session,
    heard: mpsc::UnboundedSender<AskInterjection>,
}

impl AskTalk for EchoTalk {
    fn session(&self) -> &Session {
        &self.session
    }

    fn model(&self) -> String {
        "test/echo".to_owned()
    }

    fn turn(
        self: Arc<Self>,
        message: String,
        listener: AskListener,
        mut interjections: mpsc::Receiver<AskInterjection>,
    ) -> BoxFuture<'static, Result<(), AskRefusal>> {
        Box::pin(async move {
            listener(AskEvent::Text(format!("you said {message}")));
            let word = interjections.recv().await;
            let word = word.ok_or_else(|| AskRefusal("nobody is there".to_owned()))?;
            let _ = self.heard.send(word.clone());
            if word == AskInterjection::Abort {
                return Err(AskRefusal("it was ended".to_owned()));
            }
            listener(AskEvent::Text(" and more".to_owned()));
            listener(AskEvent::Said);
            Ok(())
        })
    }
}

struct OneTalk(Arc<EchoTalk>);

impl AskBackend for OneTalk {
    fn models(&self) -> BoxFuture<'static, AskModels> {
        Box::pin(async { AskModels::default() })
    }

    fn open(
        &self,
        _: Option<String>,
        model: Option<String>,
    ) -> BoxFuture<'static, Result<Arc<dyn AskTalk>, AskRefusal>> {
        let talk = Arc::clone(&self.0);
        Box::pin(async move {
            match model {
                Some(name) => Err(AskRefusal(format!("there is no model `{name}`"))),
                None => Ok(talk as Arc<dyn AskTalk>),
            }
        })
    }
}

fn stage() -> (Stage, String, mpsc::UnboundedReceiver<AskInterjection>) {
    let (heard, hearing) = mpsc::unbounded_channel();
    let session =
        Runtime::new(windlass_runtime::Catalogue::new()).session(SessionOptions::default());
    let id = session.id().to_string();
    let echo = Arc::new(EchoTalk { session, heard });
    let stage = Stage::with(|api| api.asking(Arc::new(OneTalk(echo))));
    (stage, id, hearing)
}

#[tokio::test]
async fn a_turn_is_told_as_it_goes_and_takes_words_in_between() {
    let (stage, id, mut hearing) = stage();
    let (status, begun) = stage.post("/api/v1/ask", json!({"message": "hello"})).await;
    assert_eq!(status, StatusCode::CREATED, "{begun}");
    assert_eq!(begun["session"], json!(id));
    let mut events = stage.follow(&format!("/api/v1/ask/{id}/events")).await;
    let mut text = String::new();
    while text != "you said hello" {
        let progress = events.next().await.unwrap();
        assert_eq!(progress["working"], json!(true));
        text.push_str(progress["text"].as_str().unwrap());
    }
    let again = json!({"message": "quick", "session": id});
    let (status, begun) = stage.post("/api/v1/ask", again).await;
    assert_eq!(
        (status, &begun["interjected"]),
        (StatusCode::ACCEPTED, &json!(true))
    );
    assert_eq!(
        hearing.recv().await,
        Some(AskInterjection::Say("quick".to_owned()))
    );
    loop {
        let progress = events.next().await.unwrap();
        if progress["working"] == json!(false) {
            assert_eq!(progress.get("error"), None);
            break;
        }
    }
}

#[tokio::test]
async fn a_turn_is_interrupted_and_says_why_it_ended() {
    let (stage, id, mut hearing) = stage();
    stage.post("/api/v1/ask", json!({"message": "hello"})).await;
    let stop = format!("/api/v1/ask/{id}/stop");
    assert_eq!(stage.post(&stop, json!({})).await.0, StatusCode::ACCEPTED);
    assert_eq!(hearing.recv().await, Some(AskInterjection::Abort));
    let mut events = stage.follow(&format!("/api/v1/ask/{id}/events")).await;
    loop {
        let progress = events.next().await.unwrap();
        if progress["working"] == json!(false) {
            assert_eq!(progress["error"], json!("it was ended"));
            break;
        }
    }
    assert_eq!(stage.post(&stop, json!({})).await.0, StatusCode::CONFLICT);
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_with_the_reason() {
    let (stage, _, _) = stage();
    let asked = |body| stage.post("/api/v1/ask", body);
    let (status, said) = asked(json!({"message": " "})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{said}");
    let (status, said) = asked(json!({"message": "hi", "model": "x/y"})).await;
    assert_eq!(
        (status, &said["error"]),
        (StatusCode::CONFLICT, &json!("there is no model `x/y`"))
    );
    let nobody = Stage::new();
    let (status, _) = nobody.post("/api/v1/ask", json!({"message": "hi"})).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
}
