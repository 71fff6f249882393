//! What is recorded and asked: parts and permissions, in opencode's spelling.

use insta::assert_snapshot;
use serde::Serialize;
use serde::de::DeserializeOwned;
use windlass_protocol::{
    Action, Context, PartState, PermissionReply, PermissionRequest, PermissionToolContext,
    ToolInvocation, ToolPart,
};

/// Reads `text` as a `T` and writes it again.
fn check<T: Serialize + DeserializeOwned>(text: &str) -> String {
    match serde_json::from_str::<T>(text) {
        Ok(value) => serde_json::to_string(&value).unwrap(),
        Err(error) => format!("error: {error}"),
    }
}

const REQUEST: &str = r#"{"id":"per01J","sessionID":"ses01J","permission":"shell","patterns":["git status"],"metadata":{"command":"git status"},"always":["git status *"],"tool":{"messageID":"msg_1","callID":"call_1"}}"#;

const PART: &str = r#"{"type":"tool","id":"prt_1","sessionID":"ses_1","messageID":"msg_1","callID":"call_1","tool":"bash","state":{"status":"pending","input":{"command":"ls"},"raw":"{\"command\":\"ls\"}"}}"#;

#[test]
fn every_state_of_a_part_is_read_and_written_alike() {
    for state in [
        r#"{"status":"pending","input":{},"raw":""}"#,
        r#"{"status":"running","input":{"a":1},"time":{"start":1767600000000}}"#,
        r#"{"status":"running","input":{},"title":"ls","metadata":{"k":[1]},"time":{"start":1}}"#,
        r#"{"status":"completed","input":{},"output":"ok","title":"ls","metadata":{},"time":{"start":1,"end":2}}"#,
        r#"{"status":"completed","input":{},"output":"ok","title":"ls","metadata":{},"time":{"start":1,"end":2,"compacted":3},"attachments":[{"type":"file","id":"prt_2","sessionID":"ses_1","messageID":"msg_1","mime":"text/plain","filename":"a.txt","url":"data:,a"}]}"#,
        r#"{"status":"error","input":{},"error":"no","time":{"start":1,"end":2}}"#,
        r#"{"status":"error","input":{},"error":"no","metadata":{"k":1},"time":{"start":1,"end":2}}"#,
    ] {
        assert_eq!(check::<PartState>(state), state);
    }
}

#[test]
fn a_state_has_what_its_status_needs() {
    for (state, missing) in [
        (r#"{"input":{},"raw":""}"#, "status"),
        (r#"{"status":"pending","input":{}}"#, "raw"),
        (r#"{"status":"running","time":{"start":1}}"#, "input"),
        (r#"{"status":"running","input":{}}"#, "time"),
        (
            r#"{"status":"completed","input":{},"title":"","time":{"start":1,"end":2}}"#,
            "output",
        ),
        (
            r#"{"status":"completed","input":{},"output":"","time":{"start":1,"end":2}}"#,
            "title",
        ),
        (
            r#"{"status":"error","input":{},"error":"","time":{"start":1}}"#,
            "end",
        ),
        (
            r#"{"status":"error","input":{},"time":{"start":1,"end":2}}"#,
            "error",
        ),
    ] {
        let told = check::<PartState>(state);
        assert!(
            told.starts_with(&format!("error: missing field `{missing}`")),
            "{state}: {told}"
        );
    }
    assert!(
        check::<PartState>(r#"{"status":"waiting","input":{}}"#)
            .starts_with("error: unknown variant")
    );
}

#[test]
fn times_are_read_from_any_number_and_written_whole() {
    let state = |start: &str| {
        check::<PartState>(&format!(
            r#"{{"status":"running","input":{{}},"time":{{"start":{start}}}}}"#
        ))
    };
    let whole = r#"{"status":"running","input":{},"time":{"start":1767600000000}}"#;
    assert_eq!(state("1767600000000"), whole);
    assert_eq!(state("1767600000000.75"), whole);
    assert_eq!(state("1.7676e12"), whole);
    for no_time in ["-1", "1e300", r#""now""#, "null"] {
        assert!(state(no_time).starts_with("error: "), "{no_time}");
    }
}

#[test]
fn a_part_is_read_and_written_alike() {
    assert_eq!(check::<ToolPart>(PART), PART);
    let with_metadata = format!(r#"{},"metadata":{{"k":1}}}}"#, &PART[..PART.len() - 1]);
    assert_eq!(check::<ToolPart>(&with_metadata), with_metadata);
}

#[test]
fn every_id_of_a_part_has_its_prefix() {
    for (right, wrong) in [("prt_1", "per_1"), ("ses_1", "s_1"), ("msg_1", "ses_1")] {
        let told = check::<ToolPart>(&PART.replace(right, wrong));
        assert!(
            told.contains(&format!("`{wrong}` is not an ID of this kind")),
            "{told}"
        );
    }
}

#[test]
fn a_permission_request_is_read_and_written_alike() {
    assert_eq!(check::<PermissionRequest>(REQUEST), REQUEST);
    let bare = r#"{"id":"per01J","sessionID":"ses01J","permission":"edit","patterns":[],"metadata":{},"always":[]}"#;
    assert_eq!(check::<PermissionRequest>(bare), bare);
}

#[test]
fn a_permission_request_with_another_prefix_is_refused() {
    let told = check::<PermissionRequest>(&REQUEST.replace("per01J", "ses01J"));
    assert!(told.contains("it must begin with `per`"), "{told}");
    let told = check::<PermissionRequest>(&REQUEST.replace("ses01J", "01J"));
    assert!(told.contains("it must begin with `ses`"), "{told}");
}

#[test]
fn every_field_of_a_permission_request_but_the_tool_is_needed() {
    let request: serde_json::Value = serde_json::from_str(REQUEST).unwrap();
    for key in [
        "id",
        "sessionID",
        "permission",
        "patterns",
        "metadata",
        "always",
    ] {
        let mut lacking = request.clone();
        lacking.as_object_mut().unwrap().remove(key);
        let told = check::<PermissionRequest>(&lacking.to_string());
        assert!(
            told.starts_with(&format!("error: missing field `{key}`")),
            "{told}"
        );
    }
}

#[test]
fn a_permissions_call_is_named_by_message_and_call() {
    let context = r#"{"messageID":"msg_1","callID":"call_1"}"#;
    assert_eq!(check::<PermissionToolContext>(context), context);
    assert!(check::<PermissionToolContext>(r#"{"messageID":"msg_1"}"#).starts_with("error: "));
}

#[test]
fn a_permission_is_answered_with_one_of_three_words() {
    for reply in [r#""once""#, r#""always""#, r#""reject""#] {
        assert_eq!(check::<PermissionReply>(reply), reply);
    }
    assert!(check::<PermissionReply>(r#""never""#).starts_with("error: "));
}

#[test]
fn a_program_receives_the_reason_for_its_run() {
    for (action, word) in [
        (Action::Run, r#""run""#),
        (Action::FormatArguments, r#""format_arguments""#),
        (Action::Schema, r#""schema""#),
    ] {
        assert_eq!(serde_json::to_string(&action).unwrap(), word);
    }
    let context = r#"{"action":"schema","root":"/project"}"#;
    assert_eq!(check::<Context>(context), context);
    let context = r#"{"action":"run","root":"/project","workspace_id":"w","conversation_id":"c","handle_id":"h"}"#;
    assert_eq!(check::<Context>(context), context);
}

#[test]
fn a_program_is_given_all_of_its_tool() {
    assert_snapshot!(
        check::<ToolInvocation>(r#"{"name":"cargo_check"}"#),
        @r#"{"name":"cargo_check","arguments":{},"answers":{},"options":{}}"#
    );
    let tool = r#"{"name":"t","arguments":{"b":1,"a":2},"answers":{"go":true},"options":{"o":[]}}"#;
    assert_eq!(check::<ToolInvocation>(tool), tool);
}
