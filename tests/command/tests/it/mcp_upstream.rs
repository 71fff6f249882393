//! What other MCP servers have goes through `windlass mcp`: prompts, resources,
//! completions, and results that are no text.

use serde_json::json;
use windlass_outside::needs;

use crate::support::Project;

const SERVER: &str = r#"
import json, sys
PIXEL = "iVBORw0KGgo="
ANSWERS = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "completions": {}}, "serverInfo": {"name": "u", "version": "1"}},
    "tools/list": {"tools": [{"name": "draw", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [
        {"type": "text", "text": "drawn"},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "mem://note", "mimeType": "text/plain", "text": "a note"}},
    ]},
    "prompts/list": {"prompts": [{"name": "greet"}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}]},
    "resources/list": {"resources": [{"uri": "mem://note", "name": "note"}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "mem://{id}", "name": "any"}]},
    "completion/complete": {"completion": {"values": ["paris"]}},
}
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    answer = {"error": {"code": -32601, "message": "no"}}
    if method in ANSWERS:
        answer = {"result": ANSWERS[method]}
    elif method == "resources/read":
        uri = message["params"]["uri"]
        known = {"result": {"contents": [{"uri": uri, "text": "a note"}]}}
        answer = known if uri == "mem://note" else {"error": {"code": -32602, "message": "Resource not found", "data": {"uri": uri}}}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"#;

#[test]
fn prompts_resources_and_completions_of_other_servers_go_through() {
    needs!("python3");
    let project =
        Project::with_config("[providers.mcp.u]\ncommand = \"python3 u.py\"\ntools = \"all\"\n");
    project.write("u.py", SERVER);
    let mut mcp = project.mcp(&[]);
    let mut ask = |method: &str, params| mcp.request(method, params);
    let prompts = ask("prompts/list", json!({}));
    assert_eq!(
        prompts["result"]["prompts"][0]["name"], "greet",
        "{prompts}"
    );
    let prompt = ask("prompts/get", json!({"name": "greet"}));
    let said = &prompt["result"]["messages"][0]["content"]["text"];
    assert_eq!(said, "Say hello.", "{prompt}");
    let resources = ask("resources/list", json!({}));
    let uri = &resources["result"]["resources"][0]["uri"];
    assert_eq!(uri, "mem://note", "{resources}");
    let templates = ask("resources/templates/list", json!({}));
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "mem://{id}", "{templates}");
    let read = ask("resources/read", json!({"uri": "mem://note"}));
    assert_eq!(read["result"]["contents"][0]["text"], "a note", "{read}");
    let lost = ask("resources/read", json!({"uri": "mem://lost"}));
    assert_eq!(lost["error"]["data"]["uri"], "mem://lost", "{lost}");
    let reference = json!({"type": "ref/prompt", "name": "greet"});
    let argument = json!({"name": "city", "value": "pa"});
    let completed = ask(
        "completion/complete",
        json!({"ref": reference, "argument": argument}),
    );
    let values = &completed["result"]["completion"]["values"];
    assert_eq!(values, &json!(["paris"]), "{completed}");
}

#[test]
fn images_and_resources_in_a_result_go_through_as_blocks() {
    needs!("python3");
    let project =
        Project::with_config("[providers.mcp.u]\ncommand = \"python3 u.py\"\ntools = \"all\"\n");
    project.write("u.py", SERVER);
    let drawn = project.mcp(&[]).call("u_draw", json!({}));
    let blocks = drawn["content"].as_array().unwrap();
    let of = |kind: &str| blocks.iter().find(|block| block["type"] == kind);
    let image = of("image").unwrap_or_else(|| panic!("{drawn}"));
    assert_eq!(image["data"], "iVBORw0KGgo=");
    assert_eq!(image["mimeType"], "image/png");
    let resource = of("resource").unwrap_or_else(|| panic!("{drawn}"));
    assert_eq!(resource["resource"]["uri"], "mem://note");
    assert_eq!(resource["resource"]["text"], "a note");
}

#[test]
fn a_failed_one_shot_has_its_exit_code_as_structure() {
    let project = Project::new();
    let mut mcp = project.mcp(&[]);
    let failed = mcp.call("shell", json!({"command": "echo no; exit 3"}));
    assert_eq!(failed["isError"], true);
    assert_eq!(failed["structuredContent"]["exit_code"], 3, "{failed}");
}
