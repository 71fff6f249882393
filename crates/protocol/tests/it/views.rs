//! What the assistant reads: handles and notices, each form of them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use windlass_protocol::{HandleId, HandleState, HandleView, Notice};

/// Reads `text` as a `T` and writes it again.
fn check<T: Serialize + DeserializeOwned>(text: &str) -> String {
    match serde_json::from_str::<T>(text) {
        Ok(value) => serde_json::to_string(&value).unwrap(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn every_form_of_a_handle_is_read_and_written_alike() {
    for view in [
        r#"{"id":"staging","state":"pending"}"#,
        r#"{"id":"check","state":"running"}"#,
        r#"{"id":"staging","state":"running","content":"Stage hunk? [y/n/...]"}"#,
        r#"{"id":"staging","state":"waiting","content":"2 files","question":{"id":"q","text":"Go on?","answer_type":"Boolean"}}"#,
        r#"{"id":"staging","state":"stopped","result":"Staged 3 hunks."}"#,
        r#"{"id":"x","state":"stopped","content":"last words","result":"it failed","error":{"transient":false}}"#,
        r#"{"id":"x","state":"stopped","result":"no network","error":{"transient":true,"trace":["dns","socket"]}}"#,
        r#"{"id":"x","state":"stopped","result":"exited with 3","error":{"transient":false},"exit_code":3}"#,
        r#"{"id":"x","state":"stopped","result":"killed","error":{"transient":false},"signal":"SIGKILL"}"#,
        r#"{"id":"x","state":"stopped","result":"aborted by the assistant","error":{"transient":false},"ended":5}"#,
        r#"{"id":"x","state":"running","content":"a … b","omitted_bytes":1000,"log":"/state/x.log"}"#,
        r#"{"id":"x","state":"running","content":">>> ","awaiting_input":true}"#,
    ] {
        assert_eq!(check::<HandleView>(view), view);
    }
}

#[test]
fn absent_fields_are_left_out_and_never_null() {
    for state in ["pending", "running", "waiting", "stopped"] {
        let text = format!(r#"{{"id":"x","state":"{state}"}}"#);
        let view: HandleView = serde_json::from_str(&text).unwrap();
        assert_eq!(view.state.as_str(), state);
        assert_eq!(
            view,
            HandleView::new(HandleId::new("x").unwrap(), view.state)
        );
        assert_eq!(serde_json::to_string(&view).unwrap(), text);
    }
}

#[test]
fn a_handle_has_an_id_and_a_state() {
    assert_eq!(
        check::<HandleView>(r#"{"state":"running"}"#),
        "error: missing field `id` at line 1 column 19"
    );
    assert!(check::<HandleView>(r#"{"id":"x","state":"spawned"}"#).starts_with("error: "));
    assert!(check::<HandleView>(r#"{"id":"a b","state":"running"}"#).starts_with("error: "));
    assert_eq!(
        serde_json::to_string(&HandleState::Waiting).unwrap(),
        r#""waiting""#
    );
}

#[test]
fn every_level_and_kind_of_notice_has_its_word() {
    for level in ["info", "warning", "error", "critical"] {
        for kind in [
            "success",
            "failure",
            "waiting",
            "content",
            "left_running",
            "server",
        ] {
            let notice = format!(
                r#"{{"level":"{level}","kind":"{kind}","handle":"check","tool":"cargo_check","text":"It has stopped."}}"#
            );
            assert_eq!(check::<Notice>(&notice), notice);
        }
    }
}

#[test]
fn a_notice_may_concern_no_handle_and_no_tool() {
    let notice = r#"{"level":"warning","kind":"server","text":"The server went away."}"#;
    assert_eq!(check::<Notice>(notice), notice);
}

#[test]
fn levels_are_ordered_by_weight() {
    use windlass_protocol::NoticeLevel::{Critical, Error, Info, Warning};
    assert!(Info < Warning && Warning < Error && Error < Critical);
}
