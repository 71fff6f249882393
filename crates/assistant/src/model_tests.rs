use serde_json::json;

use super::*;

fn fold(events: impl IntoIterator<Item = ModelEvent>) -> ModelReply {
    let mut reply = ModelReply::default();
    for event in events {
        reply.take(event);
    }
    reply
}

fn text(text: &str) -> Said {
    Said::Text {
        text: text.to_owned(),
    }
}

#[test]
fn pieces_of_a_kind_are_joined() {
    let reply = fold([
        ModelEvent::Reasoning("a".into()),
        ModelEvent::Reasoning("b".into()),
        ModelEvent::Sealed(json!("s")),
        ModelEvent::Text("c".into()),
        ModelEvent::Text("d".into()),
    ]);
    let reasoning = Said::Reasoning {
        text: "ab".into(),
        seal: Some(json!("s")),
    };
    assert_eq!(reply.said, [reasoning, text("cd")]);
}

#[test]
fn asking_again_voids_what_came() {
    let reply = fold([
        ModelEvent::Text("half".into()),
        ModelEvent::Again { why: "cut".into() },
        ModelEvent::Text("whole".into()),
        ModelEvent::Finished(Finish::Done),
    ]);
    assert_eq!(reply.said, [text("whole")]);
}

#[test]
fn of_an_interrupted_reply_only_text_is_kept() {
    let call = ToolCall {
        id: "c".into(),
        tool: "t".into(),
        arguments: serde_json::Map::new(),
    };
    let reply = fold([
        ModelEvent::Reasoning("r".into()),
        ModelEvent::Text("t".into()),
        ModelEvent::Called { call, seal: None },
    ]);
    assert_eq!(reply.into_interrupted(), [text("t")]);
}

#[test]
fn a_models_name_may_hold_slashes() {
    let id: ModelId = "openrouter/meta/llama".parse().unwrap();
    assert_eq!(
        (id.provider.as_str(), id.name.as_str()),
        ("openrouter", "meta/llama")
    );
    assert_eq!(id.to_string(), "openrouter/meta/llama");
}
