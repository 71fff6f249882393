use indexmap::IndexMap;
use serde_json::json;

use super::*;
use crate::syntax::ParsedTemplate;

fn parameters() -> Parameters {
    let entries: IndexMap<String, windlass_protocol::Parameter> = serde_json::from_value(json!({
        "dir": {"type": "string"},
        "count": {"type": "integer", "default": 3},
        "files": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}}},
        "level": {"type": "object", "properties": {"high": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        "free": {"type": "object"},
        "open": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true},
        "either": {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
    }))
    .unwrap();
    Parameters::from_entries(&entries)
}

fn faults(template: &str) -> Vec<String> {
    let parameters = parameters();
    let options = Arguments::from_iter([("region".to_owned(), json!("eu"))]);
    let known = KnownNames {
        parameters: Some(&parameters),
        options: &options,
    };
    let parsed = ParsedTemplate::parse(template).unwrap();
    let names = parsed.uses().names;
    let faults = names.iter().filter_map(|used| known.check(used).err());
    faults.map(|fault| fault.to_string()).collect()
}

#[test]
fn names_that_can_have_a_value_are_known() {
    for template in [
        "{{tool}} {{context}} {{tool.arguments}} {{tool.name}} {{tool.answers.x.y}} {{context.root}}",
        "{{tool.arguments.dir}} {{tool.arguments['dir']}} {{tool.arguments.level.high.a}}",
        "{{tool.arguments.free.x.y}} {{tool.arguments.open.x}} {{tool.arguments.either.x}}",
        "{{tool.arguments.files[0].path}} {% for f in tool.arguments.files %}{{f.path}}{% endfor %}",
        "{{tool.options.region}} {{tool.options.other | default('x')}} {% if tool.options.z %}{% endif %}",
        "{% set a = tool.arguments %}{{ a.dir }}",
    ] {
        assert_eq!(faults(template), [""; 0], "{template}");
    }
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_one() {
    for (template, expected) in [
        (
            "{{tool.arguments.dri}}",
            "uses `tool.arguments.dri`, which is unknown; did you mean `tool.arguments.dir`?",
        ),
        (
            "{{tool.arguments | attr('dri')}}",
            "uses `tool.arguments.dri`, which is unknown; did you mean `tool.arguments.dir`?",
        ),
        (
            "{% if tool.arguments.dri %}x{% endif %}",
            "uses `tool.arguments.dri`, which is unknown; did you mean `tool.arguments.dir`?",
        ),
        (
            "{{tool.arguments['conut'] | default(1)}}",
            "uses `tool.arguments.conut`, which is unknown; did you mean `tool.arguments.count`?",
        ),
        (
            "{{dir}}",
            "uses `dir`, which is unknown; did you mean `tool.arguments.dir`?",
        ),
        (
            "{{tool.dir}}",
            "uses `tool.dir`, which is unknown; did you mean `tool.arguments.dir`?",
        ),
        (
            "{{tool.argument.dir}}",
            "uses `tool.argument`, which is unknown; did you mean `tool.arguments`?",
        ),
        (
            "{{tol.arguments.dir}}",
            "uses `tol`, which is unknown; did you mean `tool`?",
        ),
        (
            "{{context.rot}}",
            "uses `context.rot`, which is unknown; did you mean `context.root`?",
        ),
        (
            "{{zebra}}",
            "uses `zebra`, which is unknown; templates can use `tool` and `context`; a parameter \
             is `tool.arguments.NAME`",
        ),
        (
            "{{tool.arguments.level.hihg}}",
            "uses `tool.arguments.level.hihg`, which is unknown; did you mean `tool.arguments.level.high`?",
        ),
        (
            "{% for f in tool.arguments.files %}{{f.pth}}{% endfor %}",
            "uses `tool.arguments.files[].pth`, which is unknown; did you mean `tool.arguments.files[].path`?",
        ),
        (
            "{% set a = tool.arguments %}{{ a.dri }}",
            "uses `tool.arguments.dri`, which is unknown; did you mean `tool.arguments.dir`?",
        ),
        (
            "{{tool.options.regoin}}",
            "uses `tool.options.regoin`, which is unknown; did you mean `tool.options.region`?",
        ),
        (
            "{{tool.options.zone}}",
            "uses `tool.options.zone`, which is unknown; set it with `options.zone = …`",
        ),
        (
            "{{tool.arguments.dir.x}}",
            "uses `tool.arguments.dir.x`, but `tool.arguments.dir` is a string and has no fields",
        ),
        (
            "{{tool.arguments.files.path}}",
            "uses `tool.arguments.files.path`, but `tool.arguments.files` is an array and has no fields",
        ),
    ] {
        assert_eq!(faults(template), [expected], "{template}");
    }
}
