//! Descriptions of tools.

use proptest::prelude::*;
use windlass_protocol::{
    Examples, Parameter, ParameterType, SpawnDescription, ToolDescription, ToolDescriptions,
};

use super::{handle_action, io_mode, maybe, own_arguments, texts, value};

pub(crate) fn examples() -> impl Strategy<Value = Examples> {
    prop_oneof![
        any::<String>().prop_map(Examples::Text),
        prop::collection::vec(value(), 0..3).prop_map(Examples::List),
    ]
}

pub(crate) fn parameter_type() -> impl Strategy<Value = ParameterType> {
    prop_oneof![
        any::<String>().prop_map(ParameterType::One),
        texts().prop_map(ParameterType::Many),
    ]
}

pub(crate) fn parameter() -> impl Strategy<Value = Parameter> {
    flat_parameter().prop_recursive(2, 4, 2, |inner| {
        let entries = prop::collection::vec((any::<String>(), inner.clone()), 0..2);
        (flat_parameter(), maybe(inner), maybe(entries)).prop_map(
            |(parameter, items, properties)| Parameter {
                items: items.map(Box::new),
                properties: properties.map(|entries| entries.into_iter().collect()),
                ..parameter
            },
        )
    })
}

/// A parameter that holds no other.
fn flat_parameter() -> impl Strategy<Value = Parameter> {
    (
        maybe(parameter_type()),
        any::<Option<String>>(),
        any::<Option<String>>(),
        maybe(examples()),
        maybe(value()),
        any::<Option<bool>>(),
        maybe(prop::collection::vec(value(), 0..3)),
        own_arguments(),
    )
        .prop_map(
            |(kind, summary, description, examples, default, required, options, rest)| Parameter {
                kind,
                summary,
                description,
                examples,
                default,
                required,
                options,
                items: None,
                properties: None,
                rest,
            },
        )
}

pub(crate) fn spawn_description() -> impl Strategy<Value = SpawnDescription> {
    (
        any::<bool>(),
        maybe(prop::collection::vec(handle_action(), 0..4)),
        maybe(io_mode()),
    )
        .prop_map(|(stateful, actions, io)| SpawnDescription {
            stateful,
            actions,
            io,
        })
}

pub(crate) fn tool_description() -> impl Strategy<Value = ToolDescription> {
    (
        any::<String>(),
        any::<Option<String>>(),
        any::<Option<String>>(),
        maybe(examples()),
        prop::collection::vec((any::<String>(), parameter()), 0..3),
        maybe(spawn_description()),
        any::<bool>(),
    )
        .prop_map(
            |(name, summary, description, examples, parameters, spawn, format_arguments)| {
                ToolDescription {
                    name,
                    summary,
                    description,
                    examples,
                    parameters: parameters.into_iter().collect(),
                    spawn,
                    format_arguments,
                }
            },
        )
}

pub(crate) fn tool_descriptions() -> impl Strategy<Value = ToolDescriptions> {
    prop::collection::vec(tool_description(), 0..3).prop_map(|tools| ToolDescriptions { tools })
}
