use super::*;

fn listed(name: &str, description: &str) -> ToolListing {
    ToolListing {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        only_reads: false,
        details: ListedTool {
            input_schema: serde_json::json!({"type": "object"}),
            ..ListedTool::default()
        },
    }
}

#[test]
fn what_changed_is_reported_by_name() {
    let before = [listed("a", "1"), listed("b", "1"), listed("c", "1")];
    let now = [
        listed("b", "2"),
        listed("c", "1"),
        listed("d", "1"),
        listed("e", "1"),
    ];
    let change = Change::between(&before, &now).unwrap();
    assert_eq!(change.to_string(), "new: `d`, `e`; gone: `a`; changed: `b`");
    assert_eq!(Change::between(&now, &now), None);
}

#[test]
fn a_tool_only_reads_where_its_server_says_so() {
    for (annotations, only_reads) in [
        (serde_json::json!(null), false),
        (serde_json::json!({"readOnlyHint": false}), false),
        (serde_json::json!({"readOnlyHint": true}), true),
    ] {
        let tool = serde_json::json!({
            "name": "look", "inputSchema": {"type": "object"}, "annotations": annotations,
        });
        let tool: Tool = serde_json::from_value(tool).unwrap();
        let definition = ToolListing::from(tool).definition("fixture");
        assert_eq!(definition.only_reads, only_reads, "{annotations}");
    }
}
