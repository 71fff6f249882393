use std::collections::BTreeSet;

use super::*;

const PAGE: &str = include_str!("../../../docs/reference/config.md");

const ALL: [&[&str]; 26] = [
    TOP,
    KEPT,
    MCP_SERVING,
    CONVERSATION,
    PROVIDERS,
    ASSISTANT,
    AGENTS,
    MODEL,
    INQUIRY,
    INQUIRY_ASSISTANT,
    LLM,
    SETTINGS,
    IDENTITY,
    UNUSED,
    ENABLE,
    SOURCE,
    COMMAND,
    RUN,
    QUESTION,
    SPAWN,
    NOTIFICATIONS,
    LIFECYCLE,
    MCP,
    MCP_UNUSED,
    PARAMETER,
    PARAMETER_PASSED,
];

/// The keys in the first column of the page's tables, by table.
fn documented() -> Vec<BTreeSet<&'static str>> {
    let mut tables = Vec::new();
    let mut current: Option<BTreeSet<_>> = None;
    for line in PAGE.lines() {
        if line.starts_with("| key |") || line.starts_with("| table |") {
            current = Some(BTreeSet::new());
        } else if let Some(rest) = line.strip_prefix("| `") {
            if let (Some(keys), Some((key, _))) = (&mut current, rest.split_once('`')) {
                keys.insert(key.trim_matches(['[', ']']));
            }
        } else if !line.starts_with('|') {
            tables.extend(current.take());
        }
    }
    tables
}

#[test]
fn every_key_is_documented() {
    for key in ALL.concat() {
        let named = [format!("`{key}`"), format!("`[{key}]`")];
        assert!(
            named.iter().any(|name| PAGE.contains(name)),
            "`{key}` is missing"
        );
    }
}

#[test]
fn each_table_of_the_page_has_exactly_the_keys_that_are_read() {
    let known = |lists: &[&[&'static str]]| -> BTreeSet<_> { lists.concat().into_iter().collect() };
    let expected = vec![
        known(&[TOP]),
        known(&[CONVERSATION]),
        known(&[IDENTITY]),
        known(&[SOURCE]),
        known(&[COMMAND]),
        known(&[SETTINGS]),
        known(&[RUN]),
        known(&[ENABLE]),
        known(&[QUESTION]),
        known(&[SPAWN]),
        known(&[NOTIFICATIONS]),
        known(&[LIFECYCLE]),
        known(&[PARAMETER]),
        known(&[MCP]),
        known(&[HOST]),
        known(&[KEPT]),
        known(&[MCP_SERVING]),
        known(&[ASSISTANT]),
        known(&[AGENTS]),
        known(&[LLM]),
    ];
    assert_eq!(documented(), expected);
}

#[test]
fn a_slip_finds_its_key() {
    for (slip, key) in [
        ("comand", "command"),
        ("Summary", "summary"),
        ("parameter", "parameters"),
        ("sorce", "source"),
    ] {
        assert_eq!(nearest(slip, IDENTITY.iter().copied()), Some(key));
    }
    assert_eq!(
        nearest("timeout", SETTINGS.iter().copied()),
        Some("timeout_secs")
    );
    assert_eq!(nearest("zebra", SETTINGS.iter().copied()), None);
}
