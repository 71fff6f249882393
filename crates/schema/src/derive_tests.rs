use std::collections::HashMap;

use serde::Deserialize;

use super::*;

fn check<A: JsonSchema>() -> String {
    let described = derive_arguments::<A>().expect("a struct");
    let mut lines = vec![
        format!("summary: {:?}", described.summary),
        format!("description: {:?}", described.description),
    ];
    for (name, parameter) in &described.parameters {
        let json = serde_json::to_string(parameter).unwrap();
        lines.push(format!("{name}: {json}"));
    }
    lines.join("\n")
}

/// Puts files where they belong,
/// in one go.
///
/// Nothing is changed before everything has been looked at.
///
/// - fast
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema matters")]
struct Everything {
    /// What to put.
    ///
    /// Patterns are allowed.
    paths: Vec<String>,
    /// Where to.
    into: Option<String>,
    #[serde(default = "three")]
    retries: u8,
    #[serde(default)]
    verbose: bool,
    /// How to do it.
    mode: Mode,
    other_mode: Option<Mode>,
    plain: Option<Plain>,
    owner: Owner,
    deputies: Option<Vec<Owner>>,
    labels: HashMap<String, i64>,
    size: Size,
    tree: Option<Tree>,
    anything: Option<Value>,
    #[serde(rename = "type")]
    kind: Option<f32>,
    #[serde(flatten)]
    more: More,
    #[serde(skip)]
    hidden: u8,
}

fn three() -> u8 {
    3
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    /// Leave the
    /// original.
    CopyOnly,
    Move,
}

#[derive(Deserialize, JsonSchema)]
enum Plain {
    A,
    B,
}

/// Somebody.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema matters")]
struct Owner {
    /// As it is written.
    name: String,
    id: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "unit", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema matters")]
enum Size {
    Bytes { count: u64 },
    Unlimited,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema matters")]
struct Tree {
    leaves: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema matters")]
struct More {
    /// Whatever else.
    note: Option<String>,
}

#[test]
fn a_struct_describes_its_tool() {
    insta::assert_snapshot!(check::<Everything>(), @r#"
    summary: Some("Puts files where they belong, in one go.")
    description: Some("Nothing is changed before everything has been looked at.\n\n- fast")
    paths: {"type":"array","summary":"What to put.","description":"Patterns are allowed.","items":{"type":"string"}}
    into: {"type":"string","summary":"Where to.","required":false}
    retries: {"type":"integer","default":3,"minimum":0,"maximum":255}
    verbose: {"type":"boolean","default":false}
    mode: {"type":"string","summary":"How to do it.","description":"- copy-only: Leave the original.","enum":["move","copy-only"]}
    other_mode: {"type":"string","description":"- copy-only: Leave the original.","required":false,"enum":["move","copy-only"]}
    plain: {"type":"string","required":false,"enum":["A","B"]}
    owner: {"type":"object","summary":"Somebody.","properties":{"name":{"type":"string","summary":"As it is written."},"id":{"type":"integer","required":false,"minimum":0}}}
    deputies: {"type":"array","required":false,"items":{"type":"object","summary":"Somebody.","properties":{"name":{"type":"string","summary":"As it is written."},"id":{"type":"integer","required":false,"minimum":0}}}}
    labels: {"type":"object","additionalProperties":{"type":"integer"}}
    size: {"oneOf":[{"type":"object","properties":{"unit":{"type":"string","const":"bytes"},"count":{"type":"integer","minimum":0}},"required":["unit","count"]},{"type":"object","properties":{"unit":{"type":"string","const":"unlimited"}},"required":["unit"]}]}
    tree: {"type":"object","required":false,"properties":{"leaves":{"type":"array","items":{"type":"object"}}}}
    anything: {"required":false}
    type: {"type":"number","required":false}
    note: {"type":"string","summary":"Whatever else.","required":false}
    "#);
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[test]
fn a_tool_may_take_nothing() {
    assert_eq!(
        derive_arguments::<Nothing>(),
        Some(DerivedArguments::default()),
        "{}",
        check::<Nothing>()
    );
}

#[test]
fn only_a_struct_describes_a_tool() {
    assert_eq!(derive_arguments::<String>(), None);
    assert_eq!(derive_arguments::<Size>(), None);
    assert_eq!(derive_arguments::<()>(), None);
    assert_eq!(derive_arguments::<Vec<Owner>>(), None);
}
