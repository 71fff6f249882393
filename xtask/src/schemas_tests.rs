//! The schema files: up to date, valid, consistent with the tables of
//! opencode's own schemas, and correct for examples.

use super::*;

fn schema(name: &str) -> Value {
    all()
        .into_iter()
        .find(|file| file.name == name)
        .unwrap_or_else(|| panic!("there is no schema `{name}`"))
        .schema
}

/// Validates `text` by the schema; returns the errors.
fn check(name: &str, text: &str) -> Result<(), String> {
    let schema = schema(name);
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    validator
        .validate(&value)
        .map_err(|error| error.to_string())
}

fn accepts(name: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(check(name, text), Ok(()), "{name}: {text}");
    }
}

fn rejects(name: &str, texts: &[&str]) {
    for text in texts {
        assert!(check(name, text).is_err(), "{name} accepts {text}");
    }
}

/// Every property of an object's schema, one per line: its name, its type, and
/// `required` if it is.
fn fields(name: &str) -> String {
    let schema = schema(name);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().unwrap();
    let mut lines: Vec<String> = properties
        .iter()
        .map(|(property, inner)| {
            let required = if required.contains(&json!(property)) {
                " required"
            } else {
                ""
            };
            format!("{property}: {}{required}", kind(&schema, inner))
        })
        .collect();
    lines.sort();
    lines.join("\n")
}

/// A schema in one word, in the notation of the tables.
fn kind(root: &Value, schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        let definition = &root["$defs"][name];
        return match definition["pattern"].as_str() {
            Some(pattern) => format!("{} {pattern}", definition["type"].as_str().unwrap()),
            None => name.to_owned(),
        };
    }
    match (&schema["type"], &schema["const"]) {
        (Value::String(kind), Value::String(word)) => format!("{kind} ={word}"),
        (Value::String(kind), _) if kind == "array" => {
            format!("{}[]", kind_of_items(root, schema))
        }
        (Value::String(kind), _) => kind.clone(),
        _ => schema.to_string(),
    }
}

fn kind_of_items(root: &Value, schema: &Value) -> String {
    kind(root, &schema["items"])
}

#[test]
fn the_files_are_fresh() {
    let files = all();
    for file in &files {
        let written = std::fs::read_to_string(file.path()).unwrap_or_default();
        assert!(
            written == file.text(),
            "`schemas/{}.schema.json` is stale; run `cargo xtask schemas`",
            file.name
        );
    }
    for path in found().unwrap() {
        assert!(
            files.iter().any(|file| file.path() == path),
            "`{}` is no longer made; run `cargo xtask schemas`",
            path.display()
        );
    }
}

#[test]
fn every_file_is_a_sound_schema_of_draft_2020_12() {
    for file in all() {
        assert_eq!(
            file.schema["$schema"], "https://json-schema.org/draft/2020-12/schema",
            "{}",
            file.name
        );
        assert!(
            jsonschema::draft202012::meta::validate(&file.schema).is_ok(),
            "{}",
            file.name
        );
        assert_eq!(file.schema["title"], file.name);
        assert!(file.text().ends_with("}\n"));
    }
}

#[test]
fn every_file_stands_alone() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str));
                object.values().for_each(|inner| references(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
            _ => {}
        }
    }
    for file in all() {
        let mut found = Vec::new();
        references(&file.schema, &mut found);
        for reference in found {
            let definition = reference
                .strip_prefix('#')
                .map(|path| file.schema.pointer(path));
            assert!(
                matches!(definition, Some(Some(_))),
                "`{reference}` in {} leads nowhere",
                file.name
            );
        }
    }
}

#[test]
fn the_states_have_the_fields_of_the_table() {
    assert_eq!(
        fields("toolStatePending"),
        "input: object required\n\
         raw: string required\n\
         status: string =pending required"
    );
    assert_eq!(
        fields("toolStateRunning"),
        "input: object required\n\
         metadata: object\n\
         status: string =running required\n\
         time: PartTime required\n\
         title: string"
    );
    assert_eq!(
        fields("toolStateCompleted"),
        "attachments: FilePart[]\n\
         input: object required\n\
         metadata: object\n\
         output: string required\n\
         status: string =completed required\n\
         time: PartTimeWithEnd required\n\
         title: string required"
    );
    assert_eq!(
        fields("toolStateError"),
        "error: string required\n\
         input: object required\n\
         metadata: object\n\
         status: string =error required\n\
         time: PartTimeWithEnd required"
    );
}

#[test]
fn free_form_objects_admit_every_property() {
    for (file, properties) in [
        ("toolStatePending", &["input"][..]),
        ("toolStateRunning", &["input", "metadata"]),
        ("toolStateCompleted", &["input", "metadata"]),
        ("toolStateError", &["input", "metadata"]),
        ("toolPart", &["metadata"]),
        ("permissionRequest", &["metadata"]),
    ] {
        for property in properties {
            let schema = &schema(file)["properties"][property];
            assert_eq!(schema["additionalProperties"], true, "{file} {property}");
        }
    }
}

#[test]
fn a_state_is_one_of_the_four_by_its_status() {
    let union = schema("toolState");
    let members = union["oneOf"].as_array().unwrap();
    let files = [
        "toolStatePending",
        "toolStateRunning",
        "toolStateCompleted",
        "toolStateError",
    ];
    assert_eq!(members.len(), files.len());
    for (member, file) in members.iter().zip(files) {
        let name = member["$ref"].as_str().unwrap().trim_start_matches('#');
        let member = union.pointer(name).unwrap();
        let file = schema(file);
        assert_eq!(member["properties"], file["properties"]);
        assert_eq!(member["required"], file["required"]);
    }
}

#[test]
fn a_tool_part_has_the_fields_of_the_table() {
    assert_eq!(
        fields("toolPart"),
        "callID: string required\n\
         id: string ^prt required\n\
         messageID: string ^msg required\n\
         metadata: object\n\
         sessionID: string ^ses required\n\
         state: PartState required\n\
         tool: string required\n\
         type: string =tool required"
    );
}

#[test]
fn a_permission_has_the_fields_of_the_table() {
    assert_eq!(
        fields("permissionRequest"),
        "always: string[] required\n\
         id: string ^per required\n\
         metadata: object required\n\
         patterns: string[] required\n\
         permission: string required\n\
         sessionID: string ^ses required\n\
         tool: PermissionToolContext"
    );
    assert_eq!(
        fields("permissionToolContext"),
        "callID: string required\n\
         messageID: string ^msg required"
    );
    let reply = schema("permissionReply");
    assert_eq!(reply["type"], "string");
    assert_eq!(reply["enum"], json!(["once", "always", "reject"]));
}

#[test]
fn states_are_judged_rightly() {
    let right = [
        r#"{"status":"pending","input":{"a":1},"raw":"{}"}"#,
        r#"{"status":"running","input":{},"time":{"start":1767600000000}}"#,
        r#"{"status":"running","input":{},"title":"ls","metadata":{"k":[1]},"time":{"start":1.5}}"#,
        r#"{"status":"completed","input":{},"output":"","title":"","metadata":{},"time":{"start":1,"end":2,"compacted":3},"attachments":[{"type":"file","id":"prt_2","sessionID":"ses_1","messageID":"msg_1","mime":"text/plain","url":"data:,a"}]}"#,
        r#"{"status":"error","input":{},"error":"no","time":{"start":1,"end":2}}"#,
    ];
    accepts("toolState", &right);
    accepts("toolStatePending", &right[..1]);
    accepts("toolStateRunning", &right[1..3]);
    accepts("toolStateCompleted", &right[3..4]);
    accepts("toolStateError", &right[4..]);
    rejects("toolStatePending", &right[1..]);
    rejects("toolStateRunning", &[right[0], right[3], right[4]]);
    rejects("toolStateCompleted", &[right[0], right[1], right[4]]);
    rejects("toolStateError", &right[..4]);
    rejects(
        "toolState",
        &[
            r#"{"status":"waiting","input":{}}"#,
            r#"{"input":{},"raw":""}"#,
            r#"{"status":"pending","input":{}}"#,
            r#"{"status":"pending","input":"ls","raw":""}"#,
            r#"{"status":"running","input":{}}"#,
            r#"{"status":"running","input":{},"title":null,"time":{"start":1}}"#,
            r#"{"status":"running","input":{},"time":{"start":"now"}}"#,
            r#"{"status":"completed","input":{},"output":"","time":{"start":1,"end":2}}"#,
            r#"{"status":"error","input":{},"error":"no","time":{"start":1}}"#,
        ],
    );
}

#[test]
fn parts_are_judged_rightly() {
    const PART: &str = r#"{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"tool","callID":"c","tool":"bash","state":{"status":"pending","input":{},"raw":""}}"#;
    accepts(
        "toolPart",
        &[
            PART,
            &PART.replace(r#""tool":"#, r#""metadata":{"k":1},"tool":"#),
        ],
    );
    rejects(
        "toolPart",
        &[
            &PART.replace(r#""type":"tool""#, r#""type":"file""#),
            &PART.replace(r#""type":"tool","#, ""),
            &PART.replace(r#""callID":"c","#, ""),
            &PART.replace("ses_1", "s_1"),
            &PART.replace("pending", "done"),
        ],
    );
}

#[test]
fn permissions_are_judged_rightly() {
    const REQUEST: &str = r#"{"id":"per01J","sessionID":"ses01J","permission":"edit","patterns":["*.rs"],"metadata":{},"always":["*"],"tool":{"messageID":"msg_1","callID":"c"}}"#;
    accepts(
        "permissionRequest",
        &[
            REQUEST,
            &REQUEST.replace(r#","tool":{"messageID":"msg_1","callID":"c"}"#, ""),
        ],
    );
    rejects(
        "permissionRequest",
        &[
            &REQUEST.replace("per01J", "01J"),
            &REQUEST.replace("per01J", "xper"),
            &REQUEST.replace("ses01J", "per01J"),
            &REQUEST.replace(r#""metadata":{},"#, ""),
            &REQUEST.replace(r#"["*"]"#, "[1]"),
            &REQUEST.replace(r#"{"messageID":"msg_1","callID":"c"}"#, "null"),
            &REQUEST.replace(r#","callID":"c""#, ""),
        ],
    );
    accepts(
        "permissionReply",
        &[r#""once""#, r#""always""#, r#""reject""#],
    );
    rejects("permissionReply", &[r#""never""#, "true", "null"]);
}

#[test]
fn what_tools_print_is_judged_rightly() {
    accepts(
        "protocolState",
        &[
            r#"{"type":"running"}"#,
            r#"{"type":"running","content":null}"#,
            r#"{"type":"waiting","question":{"id":"q","text":"?","answer_type":{"Select":{"options":["a"]}}}}"#,
            r#"{"type":"stopped","result":{"Ok":"fine"}}"#,
            r#"{"type":"stopped","result":{"Err":{"message":"no"}}}"#,
        ],
    );
    rejects(
        "protocolState",
        &[
            r#"{"type":"pending"}"#,
            r#"{"type":"waiting"}"#,
            r#"{"type":"stopped","result":"fine"}"#,
            r#"{"type":"stopped","result":{"Err":"no"}}"#,
        ],
    );
    accepts(
        "question",
        &[
            r#"{"id":"q","text":"?","answer_type":"Boolean"}"#,
            r#"{"id":"q","text":"?","pre_amble":"x","answer_type":"Text","default":"y"}"#,
        ],
    );
    rejects(
        "question",
        &[
            r#"{"id":"q","text":"?","answer_type":"Number"}"#,
            r#"{"id":"q","answer_type":"Text"}"#,
        ],
    );
    accepts(
        "toolDescriptions",
        &[
            r#"{"tools":[{"name":"cargo_check","summary":"Run cargo check for the given package.","description":"Longer description with details...","parameters":{"package":{"type":"string","summary":"Package to check."}}}]}"#,
            r#"{"tools":[{"name":"t","spawn":{"stateful":true,"actions":["spawn","fetch"],"io":"state"}}]}"#,
        ],
    );
    rejects(
        "toolDescriptions",
        &[
            "{}",
            r#"{"tools":[{"summary":"x"}]}"#,
            r#"{"tools":[{"name":"t","spawn":{"io":"pipe"}}]}"#,
        ],
    );
}

#[test]
fn the_schemas_for_programs_accept_what_they_should() {
    accepts(
        "context",
        &[
            r#"{"action":"schema","root":"/p"}"#,
            r#"{"action":"run","root":"/p","workspace_id":"w","conversation_id":"c","handle_id":"h"}"#,
        ],
    );
    rejects(
        "context",
        &[r#"{"action":"stop","root":"/p"}"#, r#"{"action":"run"}"#],
    );
    accepts(
        "tool",
        &[r#"{"name":"t","arguments":{},"answers":{"q":true},"options":{}}"#],
    );
    rejects("tool", &[r#"{"name":"t"}"#]);
}

#[test]
fn what_the_assistant_reads_is_judged_rightly() {
    accepts(
        "handleView",
        &[
            r#"{"id":"x","state":"pending"}"#,
            r#"{"id":"x","state":"running","content":"hi","awaiting_input":true}"#,
            r#"{"id":"x","state":"stopped","result":"no","content":"","error":{"transient":false,"trace":["a"]},"exit_code":1}"#,
        ],
    );
    rejects(
        "handleView",
        &[
            r#"{"id":"a b","state":"running"}"#,
            r#"{"id":"x","state":"spawned"}"#,
            r#"{"id":"x","state":"running","content":null}"#,
        ],
    );
    accepts(
        "notice",
        &[
            r#"{"level":"info","kind":"left_running","tool":"shell","text":"2 processes still run."}"#,
        ],
    );
    rejects(
        "notice",
        &[r#"{"level":"fatal","kind":"success","text":""}"#],
    );
}

#[test]
fn await_is_judged_rightly() {
    accepts(
        "awaitRequest",
        &[
            r#"{"all":["check","test"]}"#,
            r#"{"any":["crates","github"],"timeout_secs":5}"#,
            r#"{"until":[{"id":"x","pattern":"ready","new":true}]}"#,
        ],
    );
    rejects(
        "awaitRequest",
        &[
            r#"{"all":"check"}"#,
            r#"{"until":[{"port":1}]}"#,
            r#"{"every":[]}"#,
        ],
    );
    accepts(
        "awaitReply",
        &[
            r#"{"completed":[{"id":"check","state":"stopped","result":"ok"}],"pending":[{"id":"test","state":"running"}],"timed_out":true}"#,
            r#"{"completed":[],"pending":[],"matched":[{"id":"x","pattern":"a","line":"abc"}],"unmet":[{"id":"y","port":80}]}"#,
        ],
    );
    rejects("awaitReply", &[r#"{"completed":[]}"#]);
}

#[test]
fn lines_to_a_driver_are_judged_rightly() {
    accepts(
        "driveOutput",
        &[
            r#"{"batch":"1","replies":[{"id":"1","content":"hello","is_error":false}]}"#,
            r#"{"event":"question","ask":"q_1","tool":"ask","question":{"id":"q","text":"?","answer_type":"Text"}}"#,
            r#"{"event":"update","session":"ses_1","number":1,"at":1,"type":"question","ask":"q_1","tool":"ask","question":{"id":"q","text":"?","answer_type":"Text"}}"#,
            r#"{"event":"update","session":"ses_1","number":1,"at":1,"type":"started","tool_number":1,"offset":0}"#,
            r#"{"event":"update","session":"ses_1","number":1,"at":1,"type":"answered","tool_number":1,"offset":0}"#,
            r#"{"event":"tool_call","run":"run_1","tool":"add","arguments":{"left":1}}"#,
            r#"{"reply":"1","value":{"from":0,"to":2,"text":"a\n","ended":false}}"#,
            r#"{"reply":"1","error":"there is no handle `x`"}"#,
        ],
    );
    rejects(
        "driveOutput",
        &[
            r#"{"event":"question","ask":"q_1"}"#,
            r#"{"event":"update","session":"ses_1","number":1,"at":1,"type":"begun","tool_number":1}"#,
            r#"{"event":"tool_call","run":"run_1"}"#,
        ],
    );
    accepts(
        "driverRequest",
        &[
            r#"{"op":"output","handle":"build","wait":true}"#,
            r#"{"op":"add_tool","name":"add","parameters":{"type":"object"},"on_turn_end":"abort"}"#,
        ],
    );
    rejects("driverRequest", &[r#"{"op":"output"}"#, r#"{"op":"fly"}"#]);
    accepts(
        "driverReport",
        &[r#"{"report":"error","error":{"message":"no"}}"#],
    );
    rejects("driverReport", &[r#"{"report":"output"}"#]);
}
