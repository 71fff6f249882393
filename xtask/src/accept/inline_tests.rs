//! Made-up sources, rewritten.

use serde_json::json;

use super::*;

/// A visit in which a test got `new` where the source had `old`.
fn differs(line: usize, old: &str, new: &str) -> Record {
    let record = json!({
        "run_id": "1-2",
        "line": line,
        "new": { "module_name": "it", "metadata": {}, "snapshot": new },
        "old": { "module_name": "it", "metadata": {}, "snapshot": old },
    });
    Record::read(&record.to_string()).unwrap()
}

/// A visit in which the text was as expected.
fn agrees(line: usize) -> Record {
    let record = json!({ "run_id": "1-2", "line": line, "new": null, "old": null });
    Record::read(&record.to_string()).unwrap()
}

/// The rewritten source; nothing may be refused.
fn rewritten(source: &str, records: &[Record]) -> String {
    let rewritten = rewrite(source, records).unwrap();
    assert_eq!(rewritten.refused, []);
    rewritten.text
}

/// Why the only record was refused; the source must not have changed.
fn refusal(source: &str, records: &[Record]) -> Refusal {
    let rewritten = rewrite(source, records).unwrap();
    assert_eq!(rewritten.text, source);
    assert_eq!(rewritten.changed, [0; 0]);
    let [(_, refusal)] = rewritten.refused[..] else {
        panic!("{:?}", rewritten.refused);
    };
    refusal
}

#[test]
fn several_places_of_a_file_are_rewritten_whatever_their_lengths() {
    let source = "fn f() {\n    assert_snapshot!(a(), @\"one\");\n    insta::assert_snapshot!(\n        b(),\n        @\"two\",\n    );\n}\n";
    let records = [differs(3, "two", "x\n\n  y"), differs(2, "one", "longer")];
    assert_eq!(
        rewritten(source, &records),
        "fn f() {\n    assert_snapshot!(a(), @\"longer\");\n    insta::assert_snapshot!(\n        b(),\n        @\"\n    x\n\n      y\n    \",\n    );\n}\n"
    );
}

#[test]
fn calls_inside_of_other_calls_are_found() {
    let source = "fn f() {\n    allow_duplicates! {\n        for a in b() {\n            assert_json_snapshot!(\"name\", a, { \".id\" => \"[id]\" }, @r#\"{ \"a\": 1 }\"#);\n        }\n    }\n}\n";
    assert_eq!(
        rewritten(source, &[differs(4, "{ \"a\": 1 }", "2")]),
        source.replace("@r#\"{ \"a\": 1 }\"#", "@\"2\"")
    );
}

#[test]
fn letters_of_several_bytes_before_a_place_do_not_move_it() {
    let source = "// grün\nfn f() { assert_snapshot!(\"größe\", @\"ä\"); }\n";
    assert_eq!(
        rewritten(source, &[differs(2, "ä", "größe")]),
        "// grün\nfn f() { assert_snapshot!(\"größe\", @\"größe\"); }\n"
    );
}

#[test]
fn visits_that_agree_change_nothing() {
    let source = "fn f() { assert_snapshot!(a(), @\"one\"); }";
    assert_eq!(rewritten(source, &[agrees(1)]), source);
}

#[test]
fn a_place_that_was_edited_since_is_refused() {
    let source = "fn f() {\n    assert_snapshot!(a(), @\"edited\");\n}\n";
    for line in [1, 2] {
        assert_eq!(
            refusal(source, &[differs(line, "one", "two")]),
            Refusal::Changed
        );
    }
}

#[test]
fn a_place_that_is_visited_with_different_texts_is_refused() {
    let source = "fn f() { assert_snapshot!(a(), @\"one\"); }";
    let twice = [differs(1, "one", "two"), differs(1, "one", "three")];
    assert_eq!(refusal(source, &twice), Refusal::Differing);
    let sometimes = [agrees(1), differs(1, "one", "two")];
    assert_eq!(refusal(source, &sometimes), Refusal::Differing);
}

#[test]
fn a_place_that_is_visited_twice_with_one_text_is_rewritten() {
    let source = "fn f() { assert_snapshot!(a(), @\"one\"); }";
    let twice = [differs(1, "one", "two"), differs(1, "one", "two")];
    assert_eq!(rewritten(source, &twice), source.replace("one", "two"));
}

#[test]
fn of_two_places_in_a_line_the_one_with_the_old_text_is_rewritten() {
    let source = "fn f() { assert_snapshot!(a(), @\"one\"); assert_snapshot!(b(), @\"two\"); }";
    assert_eq!(
        rewritten(source, &[differs(1, "two", "three")]),
        source.replace("two", "three")
    );
    let same = source.replace("two", "one");
    assert_eq!(
        refusal(&same, &[differs(1, "one", "three")]),
        Refusal::Ambiguous
    );
}

#[test]
fn a_written_literal_has_its_text_again() {
    for text in [
        "",
        "one line",
        "  one line with an indentation",
        "a\nb",
        "a\n\n    b",
        "\na",
        "a \"quoted\" word",
        "a \"# b \"## c",
        "back\\slash\nand \"quotes\"",
        "a carriage\rreturn\nand a \"quote\"",
        "\u{1b}[1mbold\u{1b}[0m",
        "tab\tand 'quote'\n\tand more",
    ] {
        let literal = literal(text, "    ");
        let source = format!("fn f() {{\n    s!(a, @{literal});\n}}");
        let places = places(&source).unwrap();
        assert_eq!(places.len(), 1, "{source}");
        assert_eq!(normalized(&places[0].text), normalized(text), "{source}");
    }
}

#[test]
fn raw_strings_have_as_many_hashes_as_they_need() {
    assert_eq!(literal("a", ""), r#""a""#);
    assert_eq!(literal(r"a\b", ""), r#"r"a\b""#);
    assert_eq!(literal(r#"a"b"#, ""), r##"r#"a"b"#"##);
    assert_eq!(literal(r##"a"#b"##, ""), r###"r##"a"#b"##"###);
    assert_eq!(literal("a\rb\"", ""), r#""a\rb\"""#);
}
