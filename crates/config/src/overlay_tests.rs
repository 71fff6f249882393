use std::time::Duration;

use serde_json::json;
use windlass_protocol::{HandleAction, Parameter, ParameterType, Parameters};
use windlass_runtime::{OnTurnEnd, QuestionTarget, RunMode, RunPolicy};

use super::*;
use crate::resolve::untold_builtin;
use crate::settings::QuestionSettings;

fn base() -> ToolDefinition {
    let mut base = ToolDefinition::new("theirs");
    base.summary = Some("their summary".to_owned());
    base.run = RunPolicy::starting(RunMode::Unattended);
    base.limits.timeout = Duration::from_secs(5);
    base.shape.actions = ActionSet::all();
    base.shape.parameters = Parameters::from_object_schema(&json!({
        "properties": {
            "query": { "type": "string", "description": "theirs" },
            "limit": { "type": "integer" },
        },
        "required": ["query"],
        "additionalProperties": false,
    }));
    base
}

#[test]
fn silence_changes_nothing_but_the_name() {
    let tool = untold_builtin("ours", ToolSettings::default());
    let mut expected = base();
    expected.name = "ours".to_owned();
    assert_eq!(tool.overlay(base()), expected);
}

#[test]
fn what_was_said_wins_and_the_rest_stays() {
    let mut settings = ToolSettings {
        grace: Some(Duration::ZERO),
        output_limit: Some(1),
        ..ToolSettings::default()
    };
    settings.run.spawn = Some(RunMode::Skip);
    settings.spawn.lifecycle.on_turn_end = Some(OnTurnEnd::Abort);
    settings.spawn.actions = Some(vec![HandleAction::Spawn]);
    settings.questions.insert(
        "sure".to_owned(),
        QuestionSettings {
            target: Some(QuestionTarget::Assistant),
            answer: None,
        },
    );
    let got = untold_builtin("ours", settings).overlay(base());
    assert_eq!(got.run.one_shot, RunMode::Unattended);
    assert_eq!(got.run.spawn, RunMode::Skip);
    assert_eq!(got.limits.timeout, Duration::from_secs(5));
    assert_eq!(got.limits.grace, Duration::ZERO);
    assert_eq!(got.limits.output_limit, 1);
    assert_eq!(got.lifecycle.on_turn_end, OnTurnEnd::Abort);
    assert_eq!(got.lifecycle.timeout, base().lifecycle.timeout);
    assert_eq!(got.questions["sure"].target, QuestionTarget::Assistant);
    assert_eq!(
        got.shape.actions.iter().collect::<Vec<_>>(),
        [HandleAction::Spawn]
    );
}

#[test]
fn parameters_are_changed_and_not_replaced() {
    let mut tool = untold_builtin("ours", ToolSettings::default());
    let changes = [
        (
            "query",
            Parameter {
                summary: Some("ours".to_owned()),
                default: Some(json!("x")),
                ..Parameter::default()
            },
        ),
        (
            "limit",
            Parameter {
                required: Some(true),
                options: Some(vec![json!(1), json!(2)]),
                ..Parameter::default()
            },
        ),
        (
            "gone",
            Parameter {
                kind: Some(ParameterType::One("string".to_owned())),
                ..Parameter::default()
            },
        ),
    ];
    tool.overrides = changes
        .into_iter()
        .map(|(name, parameter)| (name.to_owned(), parameter))
        .collect();
    assert_eq!(
        tool.overlay(base()).shape.parameters.to_object_schema(),
        json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "ours", "default": "x" },
                "limit": { "type": "integer", "enum": [1, 2] },
            },
            "required": ["limit"],
            "additionalProperties": false,
        })
    );
    assert_eq!(tool.unknown_overrides(&base()), ["gone"]);
}

#[test]
fn the_person_may_know_better_how_a_program_is_talked_to() {
    let mut settings = ToolSettings::default();
    let said = |settings: &ToolSettings| untold_builtin("ours", settings.clone());
    assert_eq!(said(&settings).io_over(None), IoMode::Text);
    assert_eq!(said(&settings).io_over(Some(IoMode::State)), IoMode::State);
    settings.spawn.io = Some(IoMode::Text);
    assert_eq!(said(&settings).io_over(Some(IoMode::State)), IoMode::Text);
}

#[test]
fn a_described_tool_is_shaped_by_what_comes_of_both() {
    let description = serde_json::from_value(json!({
        "name": "theirs",
        "spawn": {"stateful": true, "io": "terminal"},
    }));
    let description = ToolDefinition::described(&description.unwrap());
    let shape = |settings: &ToolSettings| {
        let mut tool = untold_builtin("ours", settings.clone());
        tool.source = ToolSource::Local { tool: None };
        let shape = tool.overlay(description.clone()).shape;
        (shape.actions.is_empty(), shape.one_shot, shape.typing)
    };
    let mut settings = ToolSettings::default();
    assert_eq!(shape(&settings), (false, false, true));
    settings.spawn.io = Some(IoMode::Text);
    assert_eq!(shape(&settings), (false, false, false));
    settings.spawn.io = None;
    settings.spawn.stateful = Some(false);
    assert_eq!(shape(&settings), (true, true, false));
}
