//! Input to running programs: text, keys, and what cannot be sent.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Drive, Project, spawn};

/// A session in which `it` runs this command.
fn running(command: &str) -> (Project, Drive) {
    let project = Project::new();
    let mut drive = project.drive();
    let reply = drive.run([spawn("it", command)]);
    assert_eq!(
        reply["replies"][0]["content"]["state"],
        json!("running"),
        "{reply}"
    );
    (project, drive)
}

#[track_caller]
fn apply(drive: &mut Drive, typing: Value) -> Value {
    let mut arguments = json!({"action": "apply", "id": "it"});
    let typing = typing.as_object().unwrap().clone();
    arguments.as_object_mut().unwrap().extend(typing);
    drive.one("shell", arguments)["content"].clone()
}

#[test]
fn input_is_submitted_unless_it_ends_in_enter() {
    let (_project, mut drive) = running("cat");
    assert_eq!(
        apply(&mut drive, json!({"input": "y"}))["content"],
        json!("y\n")
    );
    assert_eq!(
        apply(&mut drive, json!({"input": "y\n"}))["content"],
        json!("y\n")
    );
    assert_eq!(
        apply(&mut drive, json!({"input": ""}))["content"],
        json!("\n")
    );
}

#[test]
fn without_enter_input_is_only_typed() {
    let (_project, mut drive) = running("while read line; do echo \"<$line>\"; done");
    let typed = apply(&mut drive, json!({"input": "half ", "enter": false}));
    assert_eq!(typed, json!({"id": "it", "state": "running"}));
    let typed = apply(&mut drive, json!({"input": "and half"}));
    assert_eq!(typed["content"], json!("<half and half>\n"));
}

#[test]
fn other_values_are_typed_as_json() {
    let (_project, mut drive) = running("cat");
    for (input, expected) in [
        (json!({"a": [1, true, null]}), "{\"a\":[1,true,null]}\n"),
        (json!([1, 2]), "[1,2]\n"),
        (json!(5), "5\n"),
        (json!(false), "false\n"),
    ] {
        assert_eq!(
            apply(&mut drive, json!({"input": input}))["content"],
            json!(expected)
        );
    }
}

#[test]
fn ctrl_c_interrupts_the_group() {
    let (_project, mut drive) = running("trap 'echo caught' INT; while :; do sleep 1; done");
    apply(&mut drive, json!({"keys": ["ctrl-c"]}));
    let until = json!([{"id": "it", "pattern": "^caught$"}]);
    let awaited = drive.content("await", json!({"until": until}));
    assert_eq!(awaited["matched"][0]["line"], json!("caught"), "{awaited}");
    let view = drive.content("shell", json!({"action": "fetch", "id": "it"}));
    assert_eq!(view["state"], json!("running"));

    let (_project, mut drive) = running("exec sleep 1000");
    apply(&mut drive, json!({"keys": ["ctrl-c"]}));
    let awaited = drive.content("await", json!({"all": ["it"]}));
    assert_eq!(
        awaited["completed"][0]["signal"],
        json!("SIGINT"),
        "{awaited}"
    );
}

#[test]
fn eof_closes_the_input() {
    let (_project, mut drive) = running("cat; echo over");
    let view = apply(&mut drive, json!({"input": "last", "keys": ["eof"]}));
    assert_eq!(
        view,
        json!({"id": "it", "state": "stopped", "result": "last\nover\n"})
    );

    let (_project, mut drive) = running("cat; echo over; exec sleep 1000");
    apply(&mut drive, json!({"keys": ["ctrl-d"]}));
    let refused = apply(&mut drive, json!({"input": "more"}));
    let refused = refused.as_str().unwrap();
    assert_snapshot!(refused, @"the program's input is closed; start it again to write to it");
}

#[test]
fn keys_are_sent_after_the_input() {
    let (_project, mut drive) = running("cat");
    let view = apply(
        &mut drive,
        json!({"input": "a", "enter": false, "keys": ["b", "space", "tab", "é", "enter"]}),
    );
    assert_eq!(view["content"], json!("ab \té\n"), "{view}");
}

#[test]
fn a_key_that_cannot_be_sent_is_refused_before_anything_is_typed() {
    let (_project, mut drive) = running("cat");
    for keys in [json!(["down"]), json!(["f13"]), json!([""])] {
        let refused = apply(&mut drive, json!({"input": "typed", "keys": keys}));
        let refused = refused.as_str().expect("it is refused");
        assert!(
            refused.contains("cannot be sent through a pipe"),
            "{refused}"
        );
    }
    let view = drive.content(
        "shell",
        json!({"action": "fetch", "id": "it", "view": "all"}),
    );
    assert_eq!(view, json!({"id": "it", "state": "running"}));
}

#[test]
fn configured_text_tools_take_input() {
    let project = Project::with_config(
        r#"
        [conversation.tools.echo]
        source = "local"
        command = "cat"
        parameters = {}
        spawn.stateful = true
        "#,
    );
    let mut drive = project.drive();
    drive.content("echo", json!({"action": "spawn", "id": "it"}));
    let view = drive.content(
        "echo",
        json!({"action": "apply", "id": "it", "input": "hi"}),
    );
    assert_eq!(view["content"], json!("hi\n"));
    let error = drive.error("echo", json!({"action": "apply", "id": "it"}));
    assert_snapshot!(error, @"action `apply` needs `input`");
}

#[test]
fn an_apply_of_nothing_is_refused() {
    let (_project, mut drive) = running("cat");
    let refused = drive.error("shell", json!({"action": "apply", "id": "it"}));
    assert_snapshot!(refused, @"action `apply` needs `input` or `keys`");
}

#[test]
fn a_configured_tool_that_reads_its_input_takes_enter_and_eof() {
    let project = Project::with_config(
        r#"
        [conversation.tools.reader]
        source = "local"
        command = "cat"
        parameters = {}
        spawn = { stateful = true }
        "#,
    );
    let mut drive = project.drive();
    drive.content("reader", json!({"action": "spawn", "id": "r"}));
    let apply = |rest: Value| {
        let mut arguments = json!({"action": "apply", "id": "r"});
        let Value::Object(rest) = rest else {
            unreachable!("what is typed is an object")
        };
        arguments.as_object_mut().unwrap().extend(rest);
        arguments
    };
    drive.content("reader", apply(json!({"input": "ab", "enter": false})));
    drive.content("reader", apply(json!({"input": "c"})));
    drive.content("reader", apply(json!({"keys": ["eof"]})));
    drive.content("await", json!({"all": ["r"]}));
    let again = drive.content("reader", json!({"action": "fetch", "id": "r"}));
    assert_eq!(again["state"], json!("stopped"));
    assert_eq!(again["result"], json!("abc\n"), "{again}");
}
