use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;
use crate::config::LoadOptions;
use crate::keys;
use crate::load::load;

/// The configuration of these assignments and nothing else.
fn with(overrides: Vec<String>) -> Config {
    let options = LoadOptions {
        cwd: PathBuf::from("/"),
        overrides,
        ..LoadOptions::default()
    };
    load(&options).unwrap()
}

/// A tool that no table mentions, as it comes of a configuration, without what
/// was said of it word for word.
fn resolved(config: &Config) -> ToolConfig {
    let mut tool = config.mcp_tool("server", "tool");
    tool.settings = ToolSettings::default();
    tool
}

#[test]
fn setting_a_default_changes_nothing() {
    let silent = with(Vec::new());
    for default in silent.default_values() {
        let AbsentValue::Fixed(value) = &default.value else {
            continue;
        };
        let value = match value {
            Json::Object(_) => "{}".to_owned(),
            value => value.to_string(),
        };
        let told = with(vec![format!("{}={value}", default.key)]);
        let is_same = (told.record, told.record_failure, told.kept_max)
            == (silent.record, silent.record_failure, silent.kept_max)
            && resolved(&told) == resolved(&silent);
        assert!(is_same, "{}", default.key);
    }
}

#[test]
fn every_key_has_a_default_or_says_that_it_has_none() {
    let keys: BTreeSet<String> = with(Vec::new())
        .default_values()
        .into_iter()
        .map(|default| default.key)
        .collect();
    let has = |key: String| {
        let below = format!("{key}.");
        let is_there = keys.contains(&key) || keys.iter().any(|it| it.starts_with(&below));
        assert!(is_there, "{key}");
    };
    let tables = [
        ("", keys::SETTINGS),
        ("run.", keys::RUN),
        ("limits.", keys::LIMITS),
        ("spawn.", keys::SPAWN),
        ("spawn.notifications.", keys::NOTIFICATIONS),
        ("spawn.lifecycle.", keys::LIFECYCLE),
    ];
    for (table, names) in tables {
        for name in names {
            has(every(&format!("{table}{name}")));
        }
    }
    for name in keys::CONVERSATION.iter().filter(|name| **name != "inquiry") {
        has(format!("conversation.{name}"));
    }
    for name in keys::SESSION_LIMITS {
        has(format!("conversation.limits.{name}"));
    }
    has("kept.max".to_owned());
}

#[test]
fn a_key_that_is_set_has_no_default() {
    let shown = |overrides: &[&str], key: &str| {
        let config = with(overrides.iter().map(|it| (*it).to_owned()).collect());
        let mut defaults = config.default_values().into_iter();
        defaults.any(|default| default.key == every(key))
    };
    assert!(shown(&[], "timeout_secs"));
    assert!(!shown(
        &["conversation.tools.*.timeout_secs=9"],
        "timeout_secs"
    ));
    // One mode for all actions, and a table where there may be a word.
    assert!(!shown(&["conversation.tools.*.run=ask"], "run.fetch"));
    let table = ["conversation.tools.*.sandbox.write=['out']"];
    assert!(!shown(&table, "sandbox"));
    assert!(shown(&["conversation.tools.*.run.spawn=ask"], "run.fetch"));
}

#[test]
fn servers_and_hosts_have_their_own() {
    let config = with(vec![
        "providers.mcp.docs.url='http://localhost:1/'".to_owned(),
        "hosts.far.via=['ssh', 'far']".to_owned(),
        "hosts.far.lease_secs=5".to_owned(),
    ]);
    let defaults = config.default_values();
    let value = |key: &str| {
        let default = defaults.iter().find(|default| default.key == key);
        default.map(|default| default.value.clone())
    };
    let timeout = value("providers.mcp.docs.startup_timeout_secs");
    assert_eq!(timeout, Some(AbsentValue::Fixed(json!(60))));
    assert_eq!(value("hosts.far.lease_secs"), None);
    assert_eq!(
        value("hosts.far.root"),
        Some(AbsentValue::Elsewhere("the folder here"))
    );
}
