//! What an MCP server has for the client of `windlass mcp` reaches it: hints,
//! structured results, forms, requests for the client's model and folders,
//! progress, log lines, and news of resources.

use serde_json::{Value, json};
use windlass_outside::needs;

use crate::mcp_support::Mcp;
use crate::support::Project;

const SERVER: &str = r#"
import json, sys, threading
lock, answers, come = threading.Lock(), {}, threading.Condition()
def send(message):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def ask(method, params):
    send({"id": method, "method": method, "params": params})
    with come:
        come.wait_for(lambda: method in answers)
        return answers.pop(method)
def text(words): return {"content": [{"type": "text", "text": words}]}
def told(answer): return text(json.dumps(answer.get("result") or answer.get("error"), sort_keys=True))
OBJECT = {"type": "object"}
COUNTED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FORM = {"type": "object", "required": ["name", "age"], "properties": {
    "name": {"type": "string", "minLength": 2},
    "age": {"type": "integer", "default": 30},
    "tags": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A!"}, {"const": "b", "title": "B!"}]}},
}}
def work(params):
    token = params["_meta"].get("progressToken")
    send({"method": "notifications/message", "params": {"level": "debug", "data": "too quiet"}})
    for done in [0, 5, 10]:
        send({"method": "notifications/message", "params": {"level": "info", "logger": "w", "data": {"done": done}}})
        if token is not None:
            progress = {"progressToken": token, "progress": done, "total": 10, "message": f"step {done}"}
            send({"method": "notifications/progress", "params": progress})
    return text("worked")
def touch(params):
    send({"method": "notifications/resources/updated", "params": {"uri": "mem://note"}})
    send({"method": "notifications/resources/updated", "params": {"uri": "mem://other"}})
    return text("touched")
TOOLS = {
    "count": lambda params: {**text("three"), "structuredContent": {"n": 3}},
    "fill": lambda params: told(ask("elicitation/create", {"message": "Who are you?", "requestedSchema": FORM})),
    "think": lambda params: told(ask("sampling/createMessage", {"messages": [], "maxTokens": 5})),
    "roots": lambda params: told(ask("roots/list", {})),
    "work": work,
    "touch": touch,
}
DETAILS = {
    "count": {"title": "Count things", "outputSchema": COUNTED, "annotations": {"readOnlyHint": True, "openWorldHint": False}},
    "work": {"annotations": {"title": "Work hard", "destructiveHint": False, "idempotentHint": True}},
}
CAPABILITIES = {"tools": {}, "resources": {"subscribe": True}, "logging": {}}
ANSWERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "serverInfo": {"name": "u", "version": "1"}},
    "tools/list": {"tools": [{"name": name, "inputSchema": OBJECT, **DETAILS.get(name, {})} for name in TOOLS]},
    "logging/setLevel": {}, "resources/subscribe": {}, "resources/unsubscribe": {},
}
def answer(message):
    method, params = message["method"], message.get("params", {})
    if method == "tools/call":
        send({"id": message["id"], "result": TOOLS[params["name"]](params)})
    elif method in ANSWERS:
        send({"id": message["id"], "result": ANSWERS[method]})
    else:
        send({"id": message["id"], "error": {"code": -32601, "message": "no"}})
for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        with come:
            answers[message["id"]] = message
            come.notify_all()
    elif "id" in message:
        threading.Thread(target=answer, args=[message], daemon=True).start()
"#;

fn project() -> Project {
    let project =
        Project::with_config("[providers.mcp.u]\ncommand = \"python3 u.py\"\ntools = \"all\"\n");
    project.write("u.py", SERVER);
    project
}

fn begun(project: &Project, capabilities: &Value) -> Mcp {
    let mut mcp = project.mcp_declaring(&[], capabilities);
    mcp.notify("notifications/initialized");
    mcp
}

/// The only text of a result, as JSON.
#[track_caller]
fn said(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{result}"))).unwrap()
}

fn nothing(asked: &Value) -> Value {
    panic!("nothing is asked: {asked}")
}

#[test]
fn hints_and_structured_results_go_through() {
    needs!("python3");
    let project = project();
    let mut mcp = begun(&project, &json!({}));
    let listed = mcp.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let count = tool("u_count");
    assert_eq!(count["title"], "Count things");
    assert_eq!(
        count["annotations"],
        json!({"readOnlyHint": true, "openWorldHint": false})
    );
    assert_eq!(count["outputSchema"]["required"], json!(["n"]));
    let work = tool("u_work");
    assert_eq!(work["title"], "Work hard");
    assert_eq!(
        work["annotations"],
        json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true})
    );
    // What a server does not say is not made up.
    assert_eq!(tool("u_touch")["annotations"]["destructiveHint"], true);
    assert_eq!(tool("u_touch")["outputSchema"], Value::Null);
    let counted = mcp.call("u_count", json!({}));
    assert_eq!(counted["structuredContent"], json!({"n": 3}));
    assert_eq!(counted["content"][0]["text"], "three");
}

#[test]
fn a_form_of_several_fields_is_one_dialog() {
    needs!("python3");
    let project = project();
    let mut mcp = begun(&project, &json!({"elicitation": {}}));
    let (result, _) = mcp.call_answering("u_fill", &json!({}), |asked| {
        assert_eq!(asked["method"], "elicitation/create");
        let schema = &asked["params"]["requestedSchema"];
        assert_eq!(schema["required"], json!(["name", "age"]));
        let fields = &schema["properties"];
        assert_eq!(fields["name"]["minLength"], 2);
        assert_eq!(fields["age"], json!({"type": "integer", "default": 30}));
        assert_eq!(fields["tags"]["items"]["anyOf"][1]["title"], "B!");
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.contains("u_fill") && message.contains("Who are you?"));
        let content = json!({"name": "Ann", "age": 41, "tags": ["b"]});
        json!({"action": "accept", "content": content})
    });
    assert_eq!(
        said(&result),
        json!({"action": "accept", "content": {"name": "Ann", "age": 41, "tags": ["b"]}})
    );
}

#[test]
fn the_clients_model_and_folders_are_lent_if_it_declares_them() {
    needs!("python3");
    let project = project();
    let mut mcp = begun(&project, &json!({"sampling": {}, "roots": {}}));
    let thought =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hm"}});
    let (result, _) = mcp.call_answering("u_think", &json!({}), |asked| {
        assert_eq!(asked["method"], "sampling/createMessage");
        assert_eq!(asked["params"]["maxTokens"], 5);
        thought.clone()
    });
    assert_eq!(said(&result)["content"]["text"], "hm");
    let (result, _) = mcp.call_answering("u_roots", &json!({}), |asked| {
        assert_eq!(asked["method"], "roots/list");
        json!({"roots": [{"uri": "file:///w"}]})
    });
    assert_eq!(said(&result)["roots"][0]["uri"], "file:///w");
    drop(mcp);

    let mut plain = begun(&project, &json!({}));
    let (refused, _) = plain.call_answering("u_think", &json!({}), nothing);
    let error = said(&refused);
    assert_eq!(error["message"], "the client does not offer sampling");
    let (none, _) = plain.call_answering("u_roots", &json!({}), nothing);
    assert_eq!(said(&none), json!({"roots": []}));
}

#[test]
fn progress_and_log_lines_come_before_the_result() {
    needs!("python3");
    let project = project();
    let mut mcp = begun(&project, &json!({}));
    mcp.request("logging/setLevel", json!({"level": "info"}));
    let meta = json!({"progressToken": "t"});
    let (result, told) = mcp.call_answering("u_work", &meta, nothing);
    assert_eq!(result["content"][0]["text"], "worked");
    let of = |method: &str| -> Vec<&Value> {
        let told = told.iter().filter(|told| told["method"] == method);
        told.map(|told| &told["params"]).collect()
    };
    let progress = of("notifications/progress");
    let steps: Vec<_> = progress
        .iter()
        .map(|it| (&it["progress"], &it["total"], &it["message"]))
        .collect();
    let expected =
        [0.0, 5.0, 10.0].map(|done| (json!(done), json!(10.0), json!(format!("step {done}"))));
    let expected: Vec<_> = expected
        .iter()
        .map(|(done, total, message)| (done, total, message))
        .collect();
    assert_eq!(steps, expected);
    let logged = of("notifications/message");
    let lines: Vec<_> = logged
        .iter()
        .filter(|line| line["logger"] == "w")
        .map(|line| &line["data"]["done"])
        .collect();
    assert_eq!(lines, [&json!(0), &json!(5), &json!(10)]);
    assert!(
        !logged.iter().any(|line| line["data"] == "too quiet"),
        "{logged:?}"
    );
}

#[test]
fn a_client_hears_of_the_resources_that_it_subscribed_to() {
    needs!("python3");
    let project = project();
    let mut mcp = begun(&project, &json!({}));
    let note = json!({"uri": "mem://note"});
    let subscribed = mcp.request("resources/subscribe", note.clone());
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    mcp.notify_call("u_touch");
    let updated = mcp.told("notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], "mem://note");
    // It hears nothing more, of this one or another.
    assert_eq!(
        mcp.request("resources/unsubscribe", note)["result"],
        json!({})
    );
    let (_, told) = mcp.call_answering("u_touch", &json!({}), nothing);
    assert!(told.is_empty(), "{told:?}");
}
