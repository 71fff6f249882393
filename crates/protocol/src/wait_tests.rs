//! `await`: requests, their conditions, and replies.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;

/// What the conditions of a request wait for, or what is wrong with it.
fn check(request: &Value) -> String {
    let request: AwaitRequest = match serde_json::from_value(request.clone()) {
        Ok(request) => request,
        Err(error) => return format!("error: {error}"),
    };
    let until: Result<Vec<Until>, _> = request.until.iter().map(Condition::read).collect();
    match until {
        Ok(until) => {
            let conditions: Vec<String> = until
                .iter()
                .map(|until| format!("{} {:?}", until.id, until.wait_for))
                .collect();
            format!("{:?} {conditions:?}", request.ids())
        }
        Err(error) => error.to_string(),
    }
}

fn condition(rest: &Value) -> String {
    let mut condition = json!({"id": "x"});
    for (key, value) in rest.as_object().unwrap() {
        condition[key] = value.clone();
    }
    check(&json!({"until": [condition]}))
}

fn rewritten(reply: &str) -> String {
    let reply: AwaitReply = serde_json::from_str(reply).unwrap();
    serde_json::to_string(&reply).unwrap()
}

#[test]
fn any_and_all_are_read() {
    assert_eq!(
        check(&json!({"all": ["check", "test"]})),
        r#"["check", "test"] []"#
    );
    assert_eq!(
        check(&json!({"any": ["crates", "github"], "timeout_secs": 5})),
        r#"["crates", "github"] []"#
    );
    assert_eq!(check(&json!({})), "[] []");
}

#[test]
fn each_id_is_named_once() {
    let request: AwaitRequest = serde_json::from_value(json!({
        "any": ["b", "a"],
        "all": ["a", "c"],
        "until": [{"id": "d", "waiting": true}, {"id": "b", "port": 80}, {"id": "not an id", "port": 1}],
    }))
    .unwrap();
    assert_eq!(request.ids(), ["a", "c", "b", "d", "not an id"]);
    let handles: Vec<String> = request.handle_ids().into_iter().map(String::from).collect();
    assert_eq!(handles, ["a", "c", "b", "d"]);
}

#[test]
fn every_kind_of_condition_is_read() {
    assert_eq!(
        condition(&json!({"pattern": "ready"})),
        r#"["x"] ["x Pattern { pattern: \"ready\", new: false }"]"#
    );
    assert_eq!(
        condition(&json!({"pattern": "ready", "new": true})),
        r#"["x"] ["x Pattern { pattern: \"ready\", new: true }"]"#
    );
    assert_eq!(
        condition(&json!({"idle_secs": 0.5})),
        r#"["x"] ["x Idle(0.5)"]"#
    );
    assert_eq!(
        condition(&json!({"port": 8080})),
        r#"["x"] ["x Port(8080)"]"#
    );
    assert_eq!(
        condition(&json!({"waiting": true})),
        r#"["x"] ["x Waiting"]"#
    );
}

#[test]
fn a_condition_waits_for_exactly_one_thing() {
    let told = |count| {
        format!(
            "a condition in `until` needs `id` and exactly one of `pattern`, `idle_secs`, `port` \
             and `waiting`; the one for `x` has {count}"
        )
    };
    assert_eq!(condition(&json!({})), told(0));
    assert_eq!(condition(&json!({"port": 1, "waiting": true})), told(2));
    assert_snapshot!(
        condition(&json!({"port": 1, "new": true})),
        @"`new` is allowed only with `pattern`, in the condition for `x`"
    );
    assert_eq!(
        condition(&json!({"waiting": false})),
        "`waiting` must be true, in the condition for `x`"
    );
}

#[test]
fn nobody_listens_on_port_0() {
    assert_eq!(
        condition(&json!({"port": 0})),
        "`port` must be 1 to 65535, in the condition for `x`"
    );
}

#[test]
fn seconds_are_from_zero_on() {
    let refusals = [json!(-1), json!(1e12)].map(|secs| condition(&json!({"idle_secs": secs})));
    assert_snapshot!(refusals.join("\n"), @"
    `idle_secs` must be a non-negative number of seconds, in the condition for `x`
    `idle_secs` must be a non-negative number of seconds, in the condition for `x`
    ");
    let not_a_number = Condition {
        id: "x".to_owned(),
        idle_secs: Some(f64::NAN),
        ..Condition::default()
    };
    assert_eq!(
        not_a_number.read(),
        Err(ConditionError::BadSeconds("x".to_owned()))
    );
    assert_eq!(
        condition(&json!({"idle_secs": 0})),
        r#"["x"] ["x Idle(0.0)"]"#
    );
}

#[test]
fn unknown_keys_are_errors() {
    assert!(check(&json!({"anyy": ["a"]})).starts_with("error: unknown field `anyy`"));
    assert!(condition(&json!({"patern": "x"})).starts_with("error: unknown field `patern`"));
    assert!(condition(&json!({"port": 70_000})).starts_with("error: "));
    assert!(check(&json!({"until": [{"port": 1}]})).starts_with("error: missing field `id`"));
}

#[test]
fn replies_are_read_and_written_alike() {
    for reply in [
        r#"{"completed":[{"id":"check","state":"stopped","result":"ok, 0 warnings"},{"id":"test","state":"stopped","result":"test result: ok. 42 passed"}],"pending":[]}"#,
        r#"{"completed":[{"id":"crates","state":"stopped","result":"tokio, async-std, ..."}],"pending":[{"id":"github","state":"running"}]}"#,
        r#"{"completed":[{"id":"check","state":"stopped","result":"ok"}],"pending":[{"id":"test","state":"running"}],"timed_out":true}"#,
        r#"{"completed":[],"pending":[{"id":"x","state":"waiting","question":{"id":"q","text":"?","answer_type":"Text"}}]}"#,
        r#"{"completed":[],"pending":[{"id":"x","state":"running"}],"matched":[{"id":"x","pattern":"ready","line":"server ready"},{"id":"y","port":80}]}"#,
        r#"{"completed":[{"id":"x","state":"stopped","result":""}],"pending":[],"unmet":[{"id":"x","pattern":"ready","new":true}]}"#,
    ] {
        assert_eq!(rewritten(reply), reply);
    }
}

#[test]
fn neutral_values_beside_a_condition_are_ignored() {
    let filled =
        json!({"pattern": "", "new": false, "idle_secs": 0, "port": 8080, "waiting": false});
    assert_eq!(condition(&filled), condition(&json!({"port": 8080})));
    let two = json!({"pattern": "x", "port": 8080, "waiting": false});
    assert!(
        condition(&two).contains("exactly one"),
        "{}",
        condition(&two)
    );
}
