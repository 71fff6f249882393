use serde_json::json;

use super::*;

fn check(reply: &str, metadata: Value, expected: Gain) {
    let Value::Object(metadata) = metadata else {
        panic!("an object is wanted")
    };
    assert_eq!(gain_of(reply, Some(&metadata)), expected);
}

#[test]
fn a_reply_without_a_digest_saves_nothing() {
    let gain = Gain {
        calls: 1,
        digested: 0,
        read: 4,
        whole: 4,
    };
    check("text", json!({}), gain);
    assert_eq!(gain.percent(), 0);
}

#[test]
fn a_digest_is_compared_with_the_output_within_the_limit() {
    let gain = Gain {
        calls: 1,
        digested: 1,
        read: 4,
        whole: 101,
    };
    check("text", json!({"digest": {"shown": 3, "whole": 100}}), gain);
    assert_eq!(gain.percent(), 96);
}

#[test]
fn lines_that_are_fetched_later_are_a_cost() {
    let mut gain = Gain::default();
    gain.add(gain_of(
        "text",
        json!({"digest": {"shown": 4, "whole": 8}}).as_object(),
    ));
    gain.add(gain_of(
        "more text",
        json!({"digest": {"shown": 9, "whole": 0}}).as_object(),
    ));
    assert_eq!((gain.read, gain.whole, gain.percent()), (13, 8, -62));
}
