//! Made-up sources, counted and compared.

use super::habits::Kind;
use super::*;

fn source(path: &str, text: &str) -> Source {
    Source {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

/// The places of every habit in the files, in the order of [`Habit::ALL`].
fn places(files: &[(&str, &str)]) -> [Vec<String>; 6] {
    let found = found(files);
    Habit::ALL.map(|habit| {
        let sightings = found.sightings(habit).iter();
        sightings.map(ToString::to_string).collect()
    })
}

fn found(files: &[(&str, &str)]) -> habits::Census {
    let sources: Vec<Source> = files
        .iter()
        .map(|(path, text)| source(path, text))
        .collect();
    census(&sources).unwrap()
}

fn allowed(count: usize) -> BTreeMap<Habit, usize> {
    Habit::ALL.map(|habit| (habit, count)).into()
}

#[test]
fn a_name_that_is_declared_twice_counts_twice() {
    let [names, ..] = places(&[
        ("a.rs", "struct Answer; enum Only {}"),
        (
            "b.rs",
            "pub(crate) trait Answer {}\nfn f() { struct Wire; }",
        ),
        ("c.rs", "mod inner { enum Wire {} }"),
    ]);
    assert_eq!(
        names,
        [
            "a.rs:1 Answer",
            "b.rs:1 Answer",
            "b.rs:2 Wire",
            "c.rs:1 Wire"
        ]
    );
}

#[test]
fn names_in_tests_are_not_counted() {
    let [names, ..] = places(&[(
        "a.rs",
        "struct Answer;\n#[cfg(test)]\nmod tests { struct Answer; }",
    )]);
    assert_eq!(names, [""; 0]);
}

#[test]
fn a_result_with_a_string_as_its_error_is_reported_by_its_function() {
    let [_, strings, ..] = places(&[(
        "a.rs",
        "fn read() -> Result<u8, String> {}\n\
         trait T { async fn model(&self) -> std::result::Result<Vec<u8>, std::string::String>; }\n\
         type Key = Box<dyn Fn() -> Result<(), String>>;\n\
         fn fine() -> Result<String, Fault> {}\n\
         fn too() -> anyhow::Result<String> {}",
    )]);
    assert_eq!(
        strings,
        [
            "a.rs:1 fn read",
            "a.rs:2 fn model",
            "a.rs:3 Result<_, String>"
        ]
    );
}

#[test]
fn only_the_beginning_of_a_doc_comment_counts() {
    let [_, _, what, the_same, ..] = places(&[(
        "a.rs",
        "//! What it is.\n\n\
         /// Reads it.\n/// What is more.\nstruct A {\n\
         /// What a field is.\na: u8,\n\
         /// The same, again.\nb: u8,\n\
         /// The same as before.\nc: u8,\n\
         /// Whatever.\nd: u8 }\n\
         // What a comment says.\nfn f() {}",
    )]);
    assert_eq!(
        what,
        ["a.rs:1 \"What it is.\"", "a.rs:6 \"What a field is.\""]
    );
    assert_eq!(the_same, ["a.rs:8 \"The same, again.\""]);
}

#[test]
fn sources_and_tests_of_crates_are_counted_and_generated_code_is_not() {
    let kinds = [
        "crates/runtime/src/wait.rs",
        "crates/cli/src/drive/asks.rs",
        "crates/runtime/src/wait_tests.rs",
        "crates/runtime/tests/it/main.rs",
        "tests/command/tests/it/main.rs",
        "crates/control/src/generated/tool.rs",
        "crates/control/generated/tool.rs",
        "crates/runtime/tests/it/notes.txt",
        "xtask/src/main.rs",
    ]
    .map(habits::kind);
    let (source, test) = (Some(Kind::Source), Some(Kind::Test));
    assert_eq!(
        kinds,
        [source, source, test, test, test, None, None, None, None]
    );
}

#[test]
fn long_literals_that_are_compared_count_once_in_each_assertion() {
    let long = "x".repeat(61);
    let short = "x".repeat(60);
    let text = format!(
        "fn f() {{\n\
         assert_eq!(a, \"{long}\");\n\
         assert_ne!(Some(\"{long}\"), b(r#\"{long}\"#), \"why\");\n\
         assert_eq!(a, \"{short}\");\n\
         assert_eq!(a, b, \"{long}\");\n\
         assert_snapshot!(a, @\"{long}\");\n\
         outer! {{ assert_eq!(a, [\"{long}\"]) }}\n\
         assert!(a, \"{long}\");\n\
         }}"
    );
    let [.., long, _] = places(&[("crates/a/src/a_tests.rs", &text)]);
    let shown = "x".repeat(40);
    let expected = [2, 3, 7].map(|line| format!("crates/a/src/a_tests.rs:{line} {shown:?}"));
    assert_eq!(long, expected);
    let [.., long, _] = places(&[("crates/a/src/a.rs", &text)]);
    assert_eq!(long, [""; 0]);
}

#[test]
fn texts_that_must_be_absent_and_other_values_may_be_looked_for() {
    let [.., contained] = places(&[(
        "tests/command/tests/it/a.rs",
        "fn f() {\n\
         assert!(a.contains(\"one\"), \"{a}\");\n\
         assert!(!a.contains(\"two\"));\n\
         assert!(a.contains(\"three\") && !a.contains(\"four\"));\n\
         assert!(a.iter().any(|a| a.contains(r\"five\")));\n\
         assert!(a.contains(&six) && a.contains('7'));\n\
         if a.contains(\"eight\") {}\n\
         }",
    )]);
    assert_eq!(
        contained,
        [
            "tests/command/tests/it/a.rs:2 \"one\"",
            "tests/command/tests/it/a.rs:4 \"three\"",
            "tests/command/tests/it/a.rs:5 \"five\"",
        ]
    );
}

#[test]
fn a_count_that_rises_is_a_fault_and_one_that_falls_is_a_hint() {
    let found = found(&[("a.rs", "fn read() -> Result<u8, String> {}")]);
    let tally = compare(&allowed(0), &found);
    assert_eq!(
        tally.faults,
        [
            "`Result<_, String>`: 1, but `xtask/ratchet.toml` allows 0; \
             make the error an enum with `thiserror`"
        ]
    );
    assert_eq!(tally.hints, [""; 0]);

    let mut limits = allowed(0);
    limits.insert(Habit::StringError, 2);
    let tally = compare(&limits, &found);
    assert_eq!(tally.faults, [""; 0]);
    assert_eq!(
        tally.hints,
        ["`Result<_, String>`: fell from 2 to 1; keep it there with `cargo xtask tidy --tighten`"]
    );
    assert_eq!(tally.counts[1], "`Result<_, String>`: 1");
}

#[test]
fn news_are_places_that_were_not_there_before() {
    let earlier = found(&[("a.rs", "/// What.\nfn f() -> Result<u8, String> {}")]);
    let now = found(&[(
        "a.rs",
        "fn first() {}\n/// What.\nfn f() -> Result<u8, String> {}\n\
         fn g() -> Result<u8, String> {}\nfn f() -> Result<u8, String> {}",
    )]);
    assert_eq!(
        habits::news(&earlier, &now, Habit::StringError),
        ["a.rs:4 fn g", "a.rs:5 fn f"]
    );
    assert_eq!(habits::news(&earlier, &now, Habit::DocWithWhat), [""; 0]);
}

#[test]
fn the_written_counts_are_read_again() {
    let counts = Habit::ALL.map(|habit| (habit, habit as usize + 3));
    assert_eq!(limits(&written(&counts)).unwrap(), counts.into());
    assert_eq!(
        limits("shared_type_names = \"many\"")
            .unwrap_err()
            .to_string(),
        "`shared_type_names` must be a count"
    );
}

#[test]
fn many_places_are_cut() {
    let places: Vec<String> = (0..LISTED + 2).map(|place| format!("p{place}")).collect();
    let text = listed(&places);
    assert!(text.ends_with("\n    p19\n    and 2 more"), "{text}");
}
