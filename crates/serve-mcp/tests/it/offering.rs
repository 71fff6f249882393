//! The tools as they are listed.

use serde_json::json;

use crate::support::Tools;

#[tokio::test]
async fn tools_are_flat_titled_and_annotated() {
    let tools = Tools::new();
    let mut client = tools.client(json!({})).await;
    let answer = client.request("tools/list", json!({})).await;
    let listed = answer["result"]["tools"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    for tool in listed {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        for key in ["oneOf", "anyOf", "allOf", "$schema"] {
            assert!(schema.get(key).is_none(), "{key} in {tool}");
        }
        assert_eq!(tool["outputSchema"]["type"], "object");
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["type"].is_string(), "{name} in {tool}");
        }
    }
    assert_eq!(listed[0]["title"], "Tool");
    assert_eq!(
        listed[0]["annotations"],
        json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true})
    );
    assert_eq!(
        listed[1]["annotations"],
        json!({"readOnlyHint": true, "openWorldHint": false})
    );
}

#[tokio::test]
async fn what_is_not_declared_is_not_there() {
    let tools = Tools::new();
    let mut client = tools.client(json!({})).await;
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        let answer = client.request(method, json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
}
