use super::*;

fn listed(name: &str, description: &str) -> Listed {
    Listed {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        schema: serde_json::json!({"type": "object"}),
    }
}

#[test]
fn what_changed_is_told_by_name() {
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
