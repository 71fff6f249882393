use serde_json::json;
use windlass_protocol::{ActionSet, Parameters};

use super::*;

fn shape(parameter: &str) -> ToolShape {
    ToolShape {
        parameters: Parameters::exactly([(parameter, json!({"type": "string"}))], &[]),
        actions: ActionSet::all(),
        one_shot: true,
        typing: false,
        lines: false,
        keep: false,
    }
}

#[test]
fn a_schema_is_rendered_once_per_dialect_and_shared_by_clones() {
    let rendered = RenderedShape::new(shape("path"));
    let clone = rendered.clone();
    for dialect in Dialect::ALL {
        let schema = rendered.schema(dialect);
        assert_eq!(*schema, render(&shape("path"), dialect), "{dialect}");
        assert!(
            std::ptr::eq(schema, clone.schema(dialect)),
            "{dialect} was rendered again"
        );
    }
}

#[test]
fn another_shape_has_another_schema() {
    let before = RenderedShape::new(shape("path"));
    let _ = before.schema(Dialect::Anthropic);
    let after = RenderedShape::new(shape("file"));
    assert_ne!(before, after);
    let schema = after.schema(Dialect::Anthropic);
    assert!(schema["properties"]["file"].is_object(), "{schema}");
    assert!(schema["properties"]["path"].is_null(), "{schema}");
}
