use serde_json::json;

use super::*;

fn there_and_back(given: Value) -> Value {
    let Value::Object(given) = given else {
        panic!("arguments are an object")
    };
    Value::Object(read_object(object(given)).unwrap())
}

#[test]
fn arguments_come_back_as_they_were() {
    let given = json!({
        "text": "ü\u{0}", "whole": 7, "negative": -3, "half": 0.5, "large": 9_007_199_254_740_992_u64,
        "yes": true, "nothing": null, "list": [1, [], {}], "object": {"a": {"b": []}},
    });
    assert_eq!(there_and_back(given.clone()), given);
}

#[test]
fn what_has_no_word_in_json_is_refused() {
    for number in [f64::NAN, f64::INFINITY] {
        let value = AnyValue {
            kind: Some(Kind::NumberValue(number)),
        };
        let fields = [("x".to_owned(), value)].into();
        assert!(read_object(Struct { fields }).is_err(), "{number}");
    }
}

#[test]
fn what_is_too_deep_for_readers_is_told_as_text() {
    let mut deep = json!("end");
    for _ in 0..60 {
        deep = json!([deep]);
    }
    let message = object([("deep".to_owned(), deep)].into_iter().collect());
    let bytes = prost::Message::encode_to_vec(&message);
    let read: Struct = prost::Message::decode(&*bytes).unwrap();
    assert_eq!(read, message);
    assert!(format!("{read:?}").contains("[[[[\\\"end"), "{read:?}");
}
