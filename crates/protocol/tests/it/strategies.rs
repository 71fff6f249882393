//! A strategy for every type of the protocol.
//!
//! They leave out what JSON cannot tell apart: a `null` where absence means
//! the same, and numbers of seconds that a decimal text does not hold
//! exactly.

mod describe;
mod lines;
mod record;
mod tool;

use std::path::PathBuf;

use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_protocol::{Arguments, HandleId, MessageId, PartId, PermissionId, SessionId};

pub(crate) use describe::*;
pub(crate) use lines::*;
pub(crate) use record::*;
pub(crate) use tool::*;

pub(crate) fn handle_id() -> impl Strategy<Value = HandleId> {
    "[A-Za-z0-9_.-]{1,64}".prop_map(|id| HandleId::new(&id).unwrap())
}

pub(crate) fn permission_id() -> impl Strategy<Value = PermissionId> {
    any::<String>().prop_map(|rest| PermissionId::new(format!("per{rest}")).unwrap())
}

pub(crate) fn session_id() -> impl Strategy<Value = SessionId> {
    any::<String>().prop_map(|rest| SessionId::from_suffix(&rest))
}

pub(crate) fn message_id() -> impl Strategy<Value = MessageId> {
    any::<String>().prop_map(|rest| MessageId::from_suffix(&rest))
}

pub(crate) fn part_id() -> impl Strategy<Value = PartId> {
    any::<String>().prop_map(|rest| PartId::from_suffix(&rest))
}

/// Any JSON value.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        seconds().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Any JSON value that is not taken for absent.
fn some_value() -> impl Strategy<Value = Value> {
    value().prop_filter("null is absent", |value| !value.is_null())
}

fn arguments() -> impl Strategy<Value = Arguments> {
    prop::collection::vec((any::<String>(), value()), 0..4)
        .prop_map(|entries| entries.into_iter().collect())
}

/// Arguments whose names differ from those of all other fields.
fn own_arguments() -> impl Strategy<Value = Arguments> {
    prop::collection::vec(("own_[a-z]{0,8}", value()), 0..4)
        .prop_map(|entries| entries.into_iter().collect())
}

/// Seconds in eighths, which text and floating point both hold exactly.
fn seconds() -> impl Strategy<Value = f64> {
    (0_u32..1 << 30).prop_map(|eighths| f64::from(eighths) / 8.0)
}

fn path() -> impl Strategy<Value = PathBuf> {
    any::<String>().prop_map(PathBuf::from)
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(any::<String>(), 0..4)
}

fn maybe<S: Strategy>(strategy: S) -> impl Strategy<Value = Option<S::Value>>
where
    S::Value: Clone,
{
    option::of(strategy)
}
