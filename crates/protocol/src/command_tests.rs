//! Calls as models write them, and the requests that are read from them.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

/// A tool with these actions that takes `command`, one of the seed's, and
/// optional `args`.
fn git(actions: ActionSet) -> ToolShape {
    ToolShape {
        parameters: Parameters::from_object_schema(&json!({
            "properties": {
                "command": {"enum": ["stage", "commit", "rebase"]},
                "args": {"type": "array", "items": {"type": "string"}},
                "note": {"type": ["string", "null"]},
            },
            "required": ["command"],
            "additionalProperties": false,
        })),
        actions,
        one_shot: false,
        typing: false,
        lines: false,
        keep: false,
    }
}

/// The seed's `cargo_check`: no `apply`, nothing required.
fn cargo_check() -> ToolShape {
    ToolShape {
        parameters: Parameters::from_object_schema(&json!({
            "properties": {"package": {"type": "string"}},
            "additionalProperties": false,
        })),
        actions: ActionSet::from_iter([
            HandleAction::Spawn,
            HandleAction::Fetch,
            HandleAction::Abort,
        ]),
        one_shot: true,
        typing: false,
        lines: false,
        keep: false,
    }
}

fn terminal() -> ToolShape {
    ToolShape {
        typing: true,
        lines: false,
        ..git(ActionSet::all())
    }
}

/// Reads a call of `shape` and returns the request, or what is wrong.
fn check(shape: &ToolShape, arguments: &Value) -> String {
    let arguments = arguments.as_object().unwrap().clone();
    match parse(shape, arguments) {
        Ok(Request::OneShot { args }) => format!("one-shot {}", Value::Object(args)),
        Ok(Request::Handle(command)) => serde_json::to_string(&command).unwrap(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn interactive_staging_is_read_call_by_call() {
    let git = git(ActionSet::all());
    assert_snapshot!(
        check(
            &git,
            &json!({"action": "spawn", "id": "staging", "command": "stage", "args": ["--patch"]})
        ),
        @r#"{"action":"spawn","id":"staging","command":"stage","args":["--patch"]}"#
    );
    assert_eq!(
        check(&git, &json!({"action": "fetch", "id": "staging"})),
        r#"{"action":"fetch","id":"staging","view":"new"}"#
    );
    assert_eq!(
        check(
            &git,
            &json!({"action": "apply", "id": "staging", "input": "y"})
        ),
        r#"{"action":"apply","id":"staging","input":"y"}"#
    );
    assert_eq!(
        check(
            &git,
            &json!({"action": "apply", "id": "staging", "input": true})
        ),
        r#"{"action":"apply","id":"staging","input":true}"#
    );
    assert_eq!(
        check(&git, &json!({"action": "abort", "id": "staging"})),
        r#"{"action":"abort","id":"staging"}"#
    );
}

#[test]
fn spawns_of_one_batch_are_read() {
    assert_eq!(
        check(
            &cargo_check(),
            &json!({"action": "spawn", "id": "check", "package": "jp_cli"})
        ),
        r#"{"action":"spawn","id":"check","package":"jp_cli"}"#
    );
    assert_eq!(
        check(&cargo_check(), &json!({"action": "spawn", "id": "test"})),
        r#"{"action":"spawn","id":"test"}"#
    );
}

#[test]
fn a_call_without_action_is_one_shot() {
    assert_eq!(
        check(&cargo_check(), &json!({"package": "jp_cli"})),
        r#"one-shot {"package":"jp_cli"}"#
    );
    assert_eq!(check(&cargo_check(), &json!({})), "one-shot {}");
    assert_eq!(
        check(&cargo_check(), &json!({"action": null, "package": null})),
        "one-shot {}"
    );
    assert_eq!(
        check(&git(ActionSet::all()), &json!({"command": "commit"})),
        r#"one-shot {"command":"commit"}"#
    );
}

#[test]
fn an_action_that_is_not_declared_is_refused() {
    assert_snapshot!(
        check(
            &cargo_check(),
            &json!({"action": "apply", "id": "check", "input": "y"})
        ),
        @"`apply` is not an action of this tool; it has spawn, fetch, abort"
    );
    assert_snapshot!(
        check(&cargo_check(), &json!({"action": "kill", "id": "check"})),
        @"`kill` is not an action of this tool; it has spawn, fetch, abort"
    );
    assert_snapshot!(
        check(&cargo_check(), &json!({"action": 1, "id": "check"})),
        @"`1` is not an action of this tool; it has spawn, fetch, abort"
    );
}

#[test]
fn an_action_for_a_tool_without_any_is_refused_or_passed_on() {
    let mut shape = git(ActionSet::NONE);
    assert_eq!(
        check(
            &shape,
            &json!({"action": "spawn", "id": "x", "command": "stage"})
        ),
        "this tool has no actions; call it without `action`"
    );
    shape
        .parameters
        .properties
        .insert("action".to_owned(), json!({"type": "string"}));
    assert_eq!(
        check(&shape, &json!({"action": "open", "command": "stage"})),
        r#"one-shot {"action":"open","command":"stage"}"#
    );
}

#[test]
fn an_id_is_needed_and_checked() {
    let git = git(ActionSet::all());
    for action in ["spawn", "fetch", "apply", "abort"] {
        assert_eq!(
            check(
                &git,
                &json!({"action": action, "command": "stage", "input": "y"})
            ),
            format!("action `{action}` needs an `id`")
        );
    }
    assert_eq!(
        check(&git, &json!({"action": "fetch", "id": null})),
        "action `fetch` needs an `id`"
    );
    assert_eq!(
        check(&git, &json!({"action": "fetch", "id": 7})),
        "`id` must be a string"
    );
    assert_snapshot!(
        check(&git, &json!({"action": "fetch", "id": "a b"})),
        @"`a b` cannot be a handle ID; use 1 to 64 of A-Z a-z 0-9 _ . -"
    );
}

#[test]
fn what_is_missing_is_named_with_who_needs_it() {
    let git = git(ActionSet::all());
    assert_eq!(
        check(&git, &json!({"action": "spawn", "id": "staging"})),
        "missing `command`, which action `spawn` needs"
    );
    assert_eq!(check(&git, &json!({})), "missing `command`");
    assert_eq!(
        check(&git, &json!({"action": "apply", "id": "staging"})),
        "action `apply` needs `input`"
    );
    assert_eq!(
        check(&terminal(), &json!({"action": "apply", "id": "staging"})),
        "action `apply` needs `input` or `keys`"
    );
}

#[test]
fn what_is_unknown_is_named_with_what_is_known() {
    assert_snapshot!(
        check(
            &git(ActionSet::all()),
            &json!({"action": "spawn", "id": "x", "command": "stage", "flags": []})
        ),
        @"unknown argument `flags`; this tool takes command, args, note"
    );
    let shape = ToolShape::default();
    assert_eq!(
        check(&shape, &json!({"flags": []})),
        "unknown argument `flags`; this tool takes none"
    );
}

#[test]
fn what_is_unknown_is_passed_on_where_the_schema_is_open() {
    let mut shape = git(ActionSet::all());
    shape.parameters.additional = true;
    assert_eq!(
        check(&shape, &json!({"command": "stage", "flags": 1})),
        r#"one-shot {"command":"stage","flags":1}"#
    );
}

#[test]
fn null_is_absent_unless_the_parameter_admits_it() {
    let git = git(ActionSet::all());
    assert_eq!(
        check(
            &git,
            &json!({"command": "stage", "args": null, "note": null})
        ),
        r#"one-shot {"command":"stage","note":null}"#
    );
    assert_eq!(check(&git, &json!({"command": null})), "missing `command`");
}

#[test]
fn a_null_action_is_none_for_a_tool_without_actions_too() {
    let git = git(ActionSet::NONE);
    assert_eq!(
        check(
            &git,
            &json!({"action": null, "id": null, "command": "stage"})
        ),
        r#"one-shot {"command":"stage"}"#
    );
    assert_eq!(
        check(&git, &json!({"action": "spawn", "command": "stage"})),
        "this tool has no actions; call it without `action`"
    );
}

#[test]
fn typing_takes_enter_and_keys() {
    assert_snapshot!(
        check(
            &terminal(),
            &json!({"action": "apply", "id": "x", "input": "y", "enter": false, "keys": ["esc", "j"]})
        ),
        @r#"{"action":"apply","id":"x","input":"y","enter":false,"keys":["esc","j"]}"#
    );
    assert_eq!(
        check(
            &terminal(),
            &json!({"action": "apply", "id": "x", "input": null, "enter": null, "keys": ["ctrl-c"]})
        ),
        r#"{"action":"apply","id":"x","keys":["ctrl-c"]}"#
    );
    assert_eq!(
        check(
            &terminal(),
            &json!({"action": "apply", "id": "x", "keys": "esc"})
        ),
        r#"`keys` must be a list of key names, such as ["ctrl-c"]"#
    );
    assert_eq!(
        check(
            &terminal(),
            &json!({"action": "apply", "id": "x", "input": "y", "enter": "no"})
        ),
        "`enter` must be true or false"
    );
}

#[test]
fn enter_and_keys_are_understood_of_any_tool() {
    for shape in [git(ActionSet::all()), terminal()] {
        for call in [
            json!({"action": "apply", "id": "x", "keys": ["eof"]}),
            json!({"action": "apply", "id": "x", "input": "y", "enter": false}),
        ] {
            assert_eq!(check(&shape, &call), call.to_string());
        }
    }
}

#[test]
fn a_fetch_chooses_its_view() {
    for view in ["new", "screen", "all"] {
        assert_eq!(
            check(
                &terminal(),
                &json!({"action": "fetch", "id": "x", "view": view})
            ),
            format!(r#"{{"action":"fetch","id":"x","view":"{view}"}}"#)
        );
    }
    assert_eq!(
        check(
            &terminal(),
            &json!({"action": "fetch", "id": "x", "view": null})
        ),
        r#"{"action":"fetch","id":"x","view":"new"}"#
    );
    assert_eq!(
        check(
            &terminal(),
            &json!({"action": "fetch", "id": "x", "view": "half"})
        ),
        r#"`view` must be "new", "screen" or "all""#
    );
}

#[test]
fn a_command_knows_its_handle_and_its_action() {
    for action in HandleAction::ALL {
        let command: ToolCommand = serde_json::from_value(json!({
            "action": action, "id": "x", "input": "y",
        }))
        .unwrap();
        assert_eq!(command.action(), action);
        assert_eq!(command.id().as_str(), "x");
    }
}

#[test]
fn an_action_set_holds_what_was_put_in() {
    let set: ActionSet = [HandleAction::Abort, HandleAction::Spawn]
        .into_iter()
        .collect();
    assert_eq!(
        set.iter().collect::<Vec<_>>(),
        [HandleAction::Spawn, HandleAction::Abort]
    );
    assert!(!set.contains(HandleAction::Apply));
    assert!(!set.is_empty());
    assert!(ActionSet::NONE.is_empty());
    assert_eq!(ActionSet::all().iter().count(), 4);
}

#[test]
fn every_action_is_found_by_its_name() {
    for action in HandleAction::ALL {
        assert_eq!(HandleAction::from_name(action.as_str()), Some(action));
        assert_eq!(
            serde_json::to_value(action).unwrap(),
            json!(action.to_string())
        );
    }
    assert_eq!(HandleAction::from_name("Spawn"), None);
}

#[test]
fn a_neutral_value_that_the_action_does_not_take_is_ignored() {
    let filled = |action: &str, more: Value| {
        let mut call = json!({
            "action": action, "id": "a", "view": "", "input": "", "enter": false, "keys": [],
        });
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        check(&terminal(), &call)
    };
    let command = json!({"command": "stage"});
    assert_eq!(
        filled("spawn", command.clone()),
        r#"{"action":"spawn","id":"a","command":"stage"}"#
    );
    assert_eq!(
        filled("fetch", command.clone()),
        r#"{"action":"fetch","id":"a","view":"new"}"#
    );
    let once = json!({"command": "stage", "id": "", "view": "new", "enter": true});
    assert_eq!(filled("", once), r#"one-shot {"command":"stage"}"#);
    // A value that says something is still told of.
    let wrong = filled("spawn", json!({"command": "stage", "input": "y"}));
    assert_snapshot!(wrong, @"unknown argument `input`; this tool takes command, args, note");
}

#[test]
fn a_field_that_the_action_does_not_have_is_reported() {
    let call = |rest: Value| {
        let mut call = json!({"id": "a"});
        for (name, value) in rest.as_object().unwrap() {
            call[name] = value.clone();
        }
        check(&terminal(), &call)
    };
    assert_snapshot!(
        call(json!({"action": "fetch", "veiw": "all"})),
        @"action `fetch` does not take `veiw`; it takes id, view, lines"
    );
    assert_snapshot!(
        call(json!({"action": "fetch", "input": "y"})),
        @"action `fetch` does not take `input`; it takes id, view, lines"
    );
    assert_snapshot!(
        call(json!({"action": "apply", "input": "y", "entr": true})),
        @"action `apply` does not take `entr`; it takes id, input, enter, keys"
    );
    assert_eq!(
        call(json!({"action": "abort", "force": true})),
        "action `abort` does not take `force`; it takes id"
    );
    // Neutral values, and the tool's own parameters, are passed over.
    assert_eq!(
        call(json!({"action": "abort", "keys": [], "force": false, "command": "stage"})),
        r#"{"action":"abort","id":"a"}"#
    );
}

#[test]
fn zero_is_absent_where_an_optional_number_must_be_more() {
    let mut shape = terminal();
    let rows = json!({"type": "integer", "minimum": 1});
    let count = json!({"type": "integer"});
    let more = [("rows", rows), ("count", count)];
    let more = more.map(|(name, schema)| (name.to_owned(), schema));
    shape.parameters.properties.extend(more);
    let zeros = json!({"command": "stage", "rows": 0, "count": 0});
    assert_eq!(
        check(&shape, &zeros),
        r#"one-shot {"command":"stage","count":0}"#
    );
    shape.parameters.required.push("rows".to_owned());
    assert_eq!(
        check(&shape, &zeros),
        r#"one-shot {"command":"stage","rows":0,"count":0}"#
    );
}

#[test]
fn run_is_the_word_for_no_action() {
    let call = json!({"action": "run", "command": "stage"});
    assert_eq!(check(&terminal(), &call), r#"one-shot {"command":"stage"}"#);
}

#[test]
fn an_empty_input_is_enter_and_beside_keys_nothing() {
    let apply = |rest: Value| {
        let mut call = json!({"action": "apply", "id": "a"});
        for (name, value) in rest.as_object().unwrap() {
            call[name] = value.clone();
        }
        check(&terminal(), &call)
    };
    assert_eq!(
        apply(json!({"input": "", "keys": []})),
        r#"{"action":"apply","id":"a","input":""}"#
    );
    assert_eq!(
        apply(json!({"input": "", "keys": ["ctrl-c"]})),
        r#"{"action":"apply","id":"a","keys":["ctrl-c"]}"#
    );
}

#[test]
fn lines_are_fetched_by_their_numbers() {
    let fetch = |lines: Value| {
        check(
            &terminal(),
            &json!({"action": "fetch", "id": "a", "lines": lines}),
        )
    };
    let read = r#"{"action":"fetch","id":"a","view":"new","lines":"4-98"}"#;
    assert_eq!(fetch(json!("4-98")), read);
    assert_eq!(fetch(json!("4–98")), read);
    let one = r#"{"action":"fetch","id":"a","view":"new","lines":"7"}"#;
    assert_eq!(fetch(json!(7)), one);
    let none = r#"{"action":"fetch","id":"a","view":"new"}"#;
    for neutral in [json!(null), json!(""), json!(0)] {
        assert_eq!(fetch(neutral), none);
    }
    let refused = "`lines` must be a range of line numbers, such as \"4-98\"";
    for wrong in [json!("98-4"), json!("all"), json!([4, 98]), json!(-1)] {
        assert_eq!(fetch(wrong), refused);
    }
    // Clients that fill every field can run a command once.
    assert_eq!(
        check(
            &terminal(),
            &json!({"command": "ls", "lines": "", "view": "new"})
        ),
        check(&terminal(), &json!({"command": "ls"}))
    );
}

#[test]
fn keep_is_read_where_it_is_offered() {
    let read = |keep: Value, offered: bool| {
        let shape = ToolShape {
            keep: offered,
            ..git(ActionSet::all())
        };
        let arguments = json!({"action": "spawn", "id": "a", "command": "stage", "keep": keep});
        let Value::Object(arguments) = arguments else {
            unreachable!("it is an object")
        };
        parse(&shape, arguments)
    };
    for keep in [true, false] {
        let Ok(Request::Handle(ToolCommand::Spawn {
            keep: read, args, ..
        })) = read(json!(keep), true)
        else {
            panic!("it is taken");
        };
        assert_eq!(read, Some(keep));
        assert!(!args.contains_key("keep"));
    }
    assert!(matches!(
        read(json!("yes"), true),
        Err(ParseError::WrongType { field: "keep", .. })
    ));
    assert!(matches!(
        read(json!(true), false),
        Err(ParseError::UnknownParameter { .. })
    ));
}

#[test]
fn a_misspelt_argument_is_named_with_the_one_that_was_meant() {
    let git = git(ActionSet::all());
    let unknown =
        |name: &str, meant: &str| format!("unknown argument `{name}`; did you mean `{meant}`?");
    let calls = [
        (json!({"comand": "stage"}), ("comand", "command")),
        (
            json!({"Command": "stage", "command": null}),
            ("Command", "command"),
        ),
        (
            json!({"action": "spawn", "id": "a", "comamnd": "stage"}),
            ("comamnd", "command"),
        ),
        (json!({"command": "stage", "nte": "x"}), ("nte", "note")),
        (
            json!({"acton": "spawn", "command": "stage"}),
            ("acton", "action"),
        ),
        (json!({"action": "fetch", "ID": "a"}), ("ID", "id")),
        (
            json!({"action": "spawn", "Id": "a", "command": "stage"}),
            ("Id", "id"),
        ),
    ];
    for (call, (name, meant)) in calls {
        assert_eq!(check(&git, &call), unknown(name, meant), "{call}");
    }
    // One that was given is not meant by another.
    assert_snapshot!(
        check(&git, &json!({"command": "stage", "comand": "x"})),
        @"unknown argument `comand`; this tool takes command, args, note"
    );
    let keeping = ToolShape { keep: true, ..git };
    assert_eq!(
        check(
            &keeping,
            &json!({"action": "spawn", "id": "a", "command": "stage", "kepe": true})
        ),
        unknown("kepe", "keep")
    );
    let any = ToolShape {
        parameters: Parameters::from_object_schema(&json!({
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        })),
        ..cargo_check()
    };
    assert_eq!(check(&any, &json!({"nmae": "x"})), unknown("nmae", "name"));
    assert_eq!(
        check(&any, &json!({"name": "x", "nmae": "y"})),
        r#"one-shot {"name":"x","nmae":"y"}"#
    );
}
