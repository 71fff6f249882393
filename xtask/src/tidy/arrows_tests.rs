//! Checks example graphs.

use super::*;

/// Parses `from -> to, to; from -> to` (`~to` is a dev-dependency) and returns
/// the faults, one per line.
fn check(graph: &str) -> String {
    let node = |line: &str| {
        let (from, uses) = line.split_once("->").expect("every line has an arrow");
        Node {
            package: from.trim().to_owned(),
            uses: uses
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(|name| match name.strip_prefix('~') {
                    Some(name) => (name.to_owned(), Use::Test),
                    None => (name.to_owned(), Use::Work),
                })
                .collect(),
        }
    };
    let graph: Vec<Node> = graph.split(';').map(node).collect();
    super::check(&graph).join("\n")
}

#[test]
fn the_arrows_of_the_design_are_right() {
    assert_eq!(
        check(
            "windlass-protocol -> ;
             windlass-process -> ;
             windlass-schema -> windlass-protocol;
             windlass-executors -> windlass-runtime, windlass-process, windlass-schema;
             windlass-control -> windlass-runtime, windlass-kept, windlass-protocol;
             windlass-serve-http -> windlass-control;
             windlass -> windlass-runtime, windlass-executors, windlass-config"
        ),
        ""
    );
}

#[test]
fn a_wrong_arrow_is_named_with_what_is_allowed() {
    assert_eq!(
        check("windlass-runtime -> windlass-protocol, windlass-process"),
        "`runtime` must not use `process`; it may use `digest`, `output`, `protocol`, `task`, and `outside`, `skip`, `testing` in its tests"
    );
}

#[test]
fn a_leaf_uses_nothing_of_ours() {
    assert_eq!(
        check("windlass-output -> windlass-protocol"),
        "`output` must not use `protocol`; it may use no crate of ours, and `outside`, `skip`, `testing` in its tests"
    );
}

#[test]
fn a_front_end_names_no_executor() {
    assert_eq!(
        check("windlass-serve-mcp -> windlass-executors"),
        "`serve-mcp` must not use `executors`; it may use `runtime`, `schema`, `protocol`, `task`, \
         and `outside`, `skip`, `testing` in its tests"
    );
}

#[test]
fn tests_of_any_crate_may_use_the_crates_for_tests() {
    assert_eq!(
        check(
            "windlass-process -> ~windlass-outside, ~windlass-testing; windlass-cli -> ~windlass-testing"
        ),
        ""
    );
}

#[test]
fn tests_keep_to_the_arrows_otherwise() {
    assert_eq!(
        check("windlass-runtime -> ~windlass-executors"),
        "`runtime` must not use `executors` in its tests; it may use `digest`, `output`, `protocol`, `task`, and `outside`, `skip`, `testing` in its tests"
    );
}

#[test]
fn a_crate_for_tests_is_never_shipped() {
    assert_eq!(
        check("windlass-cli -> windlass-testing; windlass-runtime -> windlass-testing"),
        "`cli` must not use `testing`; it may use every library crate, and `outside`, `skip`, `testing` in its tests\n\
         `runtime` must not use `testing`; it may use `digest`, `output`, `protocol`, `task`, and `outside`, `skip`, `testing` in its tests"
    );
}

#[test]
fn the_tops_may_use_every_library() {
    assert_eq!(
        check(
            "windlass-cli -> windlass-process, windlass-serve-mcp, windlass, windlass-schema;
             windlass-benches -> windlass-process, windlass-testing, windlass"
        ),
        ""
    );
}

#[test]
fn tests_of_the_program_use_no_library() {
    assert_eq!(
        check(
            "windlass-command-tests -> ~windlass-outside; windlass-cli -> ~windlass-command-tests"
        ),
        ""
    );
    assert_eq!(
        check(
            "windlass-command-tests -> windlass-process, ~windlass-testing;
             windlass-runtime -> ~windlass-command-tests"
        ),
        "`command-tests` must not use `process`; it may use `outside`\n\
         `command-tests` must not use `testing` in its tests; it may use `outside`\n\
         `runtime` must not use `command-tests` in its tests; it may use `digest`, `output`, `protocol`, `task`, and `outside`, `skip`, `testing` in its tests"
    );
}

#[test]
fn nothing_uses_a_top() {
    assert_eq!(
        check("windlass-benches -> windlass-cli, xtask"),
        "`benches` must not use `cli`; it may use every library crate\n\
         `benches` must not use `xtask`; it may use every library crate"
    );
}

#[test]
fn a_crate_without_a_line_is_a_fault() {
    assert_eq!(
        check("windlass-utils -> "),
        "`utils` has no line in the table of arrows; say in `xtask/src/tidy/arrows.rs` what it may use"
    );
}

#[test]
fn every_name_in_the_table_is_a_crate_of_the_table() {
    for (from, may_use) in ARROWS {
        for to in *may_use {
            assert!(
                ARROWS.iter().any(|(name, _)| name == to),
                "`{from}` may use `{to}`, which has no line"
            );
        }
    }
}
