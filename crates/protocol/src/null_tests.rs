use serde::Serialize;
use serde_json::json;

use super::*;
use crate::{NewSession, PersonInput};

/// What is read of `given`, written again.
fn read<T: Serialize + for<'de> Deserialize<'de>>(given: serde_json::Value) -> serde_json::Value {
    json!(serde_json::from_value::<T>(given).unwrap())
}

#[test]
fn null_is_as_if_an_optional_field_were_left_out() {
    assert_eq!(
        read::<NewSession>(json!({"trusted": null, "idle_secs": null})),
        read::<NewSession>(json!({}))
    );
    let typing = json!({"input": "x", "enter": null, "keys": null});
    let nulls = json!({"typing": typing, "bytes": null, "answer": null, "lock": null});
    assert_eq!(
        read::<PersonInput>(nulls),
        read::<PersonInput>(json!({"typing": {"input": "x"}}))
    );
}
