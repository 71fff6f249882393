use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::*;
use windlass_schema::derive_arguments;

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct Deploy {
    target: Target,
    #[serde(default)]
    retries: u8,
    dry_run: Option<bool>,
    #[serde(default)]
    hosts: Vec<Host>,
    ratio: Option<f64>,
    #[serde(default, deserialize_with = "even")]
    #[schemars(with = "u32")]
    even: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    Staging,
    Production,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct Host {
    name: String,
    port: Option<u16>,
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(deserializer)?;
    if number % 2 == 0 {
        Ok(number)
    } else {
        Err(serde::de::Error::custom("expected an even number"))
    }
}

/// What is wrong with these arguments.
fn said(arguments: Value) -> String {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    let entries = || derive_arguments::<Deploy>().unwrap().parameters;
    match read::<Deploy>(arguments, entries) {
        Ok(_) => "fits".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_error_names_the_argument_what_was_expected_and_what_came() {
    let with = |name: &str, value: Value| {
        let mut arguments = json!({"target": "staging"});
        arguments[name] = value;
        said(arguments)
    };
    insta::assert_snapshot!(
        [
            said(json!({})),
            with("target", json!("moon")),
            with("target", json!(7)),
            with("retries", json!("ten")),
            with("retries", json!(300)),
            with("retries", json!(-1)),
            with("dry_run", json!("yes")),
            with("hosts", json!("a")),
            with("hosts", json!([{"name": "a"}, {"port": 1}])),
            with("hosts", json!([{"name": "a", "port": "http"}])),
            with("ratio", json!({"long": "x".repeat(100)})),
            with("even", json!(3)),
        ]
        .join("\n"),
        @r#"
    argument `target` is missing; expected one of "staging", "production"
    argument `target`: expected one of "staging", "production", got "moon"
    argument `target`: expected one of "staging", "production", got 7
    argument `retries`: expected an integer from 0 to 255, got "ten"
    argument `retries`: expected an integer from 0 to 255, got 300
    argument `retries`: expected an integer from 0 to 255, got -1
    argument `dry_run`: expected true or false, got "yes"
    argument `hosts`: expected a list, got "a"
    argument `hosts[1].name` is missing; expected a string
    argument `hosts[0].port`: expected an integer from 0 to 65535, got "http"
    argument `ratio`: expected a number, got {"long":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    argument `even`: expected an even number
    "#
    );
}

#[test]
fn what_may_be_left_out_may_be_null() {
    let host = json!({"name": "a", "port": null});
    let arguments = json!({"target": "staging", "retries": null, "dry_run": null, "hosts": [host]});
    assert_eq!(said(arguments), "fits");
}
