use super::*;

#[track_caller]
fn check(template: &str, expected: &[&str]) {
    let parsed = ParsedTemplate::parse(template).unwrap();
    let names: Vec<String> = parsed
        .uses()
        .names
        .iter()
        .map(|used| {
            let sign = match used.kind {
                UseKind::Needed if used.guarded => "(!)",
                UseKind::Needed => "!",
                UseKind::Defaulted => "=",
                UseKind::Tested => "?",
            };
            format!("{}{sign}", used.name())
        })
        .collect();
    assert_eq!(names, expected, "{template}");
}

#[test]
fn a_name_is_found_wherever_it_stands() {
    check("{{ tool.arguments.a.b }}", &["tool.arguments.a.b!"]);
    check(
        "{{ tool['arguments'][\"a\"][0] }}",
        &["tool.arguments.a[]!"],
    );
    check("{{ x | upper | join(y) }}", &["x!", "y!"]);
    check("{{ 'a' ~ x }} {{ [x, {'k': y}] }}", &["x!", "x!", "y!"]);
    check("{{ x[y.z] }}", &["x!", "y.z!"]);
    check("{{ range(x) }}", &["x!"]);
}

#[test]
fn a_default_or_a_condition_says_what_a_missing_value_means() {
    check("{{ x | default('a') }}", &["x="]);
    check("{{ x | d(y) | upper }}", &["x=", "y!"]);
    check("{% if x %}{{ x }}{% endif %}", &["x?", "x(!)"]);
    check("{% if x.a %}{{ x }}{% endif %}", &["x.a?", "x!"]);
    check(
        "{% if x is defined %}{{ x.y }}{% endif %}",
        &["x=", "x.y(!)"],
    );
    check("{% if x | length %}{% endif %}", &["x!"]);
    check("{{ x if x else y }}", &["x?", "x(!)", "y!"]);
    check("{{ x or 'a' }}", &["x?"]);
}

#[test]
fn local_names_stand_for_their_values() {
    check(
        "{% for f in x %}{{ f.a }}{{ loop.index }}{% endfor %}",
        &["x!", "x[].a!"],
    );
    check("{% set a = x.y %}{{ a.z }}", &["x.y?", "x.y.z!"]);
    check("{% set a = x %}{% set a = y %}{{ a.z }}", &["x?", "y?"]);
    check(
        "{% with a = x %}{{ a }}{% endwith %}{{ a }}",
        &["x?", "x!", "a!"],
    );
    check(
        "{% for k, v in x | items %}{{ k }}{{ v }}{% endfor %}",
        &["x!"],
    );
}

#[test]
fn a_template_that_cannot_be_read_says_why() {
    let fault = ParsedTemplate::parse("{{ a b }}").map(|_| ()).unwrap_err();
    let text = fault.to_string();
    assert!(text.contains("`{{ a b }}`"), "{text}");
}
