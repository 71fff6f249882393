//! Which crate may use which.
//!
//! [`ARROWS`] is the rule, [`check`] holds a graph against it. Crates of
//! other people are no concern of this.

use cargo_metadata::{DependencyKind, Metadata};

/// What each crate may use, by the names of their folders.
const ARROWS: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("output", &[]),
    ("digest", &[]),
    ("hold-wire", &[]),
    ("sandbox", &[]),
    ("process", &["hold-wire", "output", "sandbox"]),
    ("host", &["hold-wire", "process", "output", "sandbox"]),
    ("pool", &["hold-wire", "host", "process"]),
    ("kept", &["hold-wire", "process", "output", "protocol"]),
    ("schema", &["protocol"]),
    ("template", &["protocol"]),
    ("providers", &["schema"]),
    ("sdk", &["protocol", "schema"]),
    ("runtime", &["digest", "output", "protocol"]),
    (
        "executors",
        &[
            "runtime", "process", "output", "sandbox", "schema", "template", "protocol",
        ],
    ),
    (
        "mcp-client",
        &["runtime", "process", "output", "schema", "protocol"],
    ),
    ("store", &["runtime", "protocol"]),
    (
        "config",
        &["runtime", "providers", "sandbox", "template", "protocol"],
    ),
    ("assistant", &["runtime", "providers", "schema", "protocol"]),
    ("serve-mcp", &["runtime", "schema", "protocol"]),
    ("serve-http", &["runtime", "kept", "protocol"]),
    (
        "windlass",
        &[
            "runtime",
            "executors",
            "mcp-client",
            "store",
            "config",
            "assistant",
            "kept",
            "host",
            "pool",
            "process",
            "sandbox",
            "schema",
            "template",
        ],
    ),
    ("testing", &["runtime", "protocol"]),
    ("example-tools", &["sdk"]),
    ("embed-examples", &["windlass"]),
    ("xtask", &["protocol"]),
];

/// Programs, which nothing may use.
const TOPS: [&str; 5] = ["cli", "benches", "xtask", "example-tools", "embed-examples"];

/// The crate that is there for tests alone.
const TESTING: &str = "testing";

/// One crate of the workspace and those of its fellows that it uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// The package's name.
    pub(super) package: String,
    /// What it uses, by package name.
    pub(super) uses: Vec<(String, Use)>,
}

/// What a crate uses another for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// To work, or to be built.
    Work,
    /// To be tested.
    Test,
}

/// The workspace's own graph.
pub(super) fn read(metadata: &Metadata) -> Vec<Node> {
    let packages = metadata.workspace_packages();
    let ours = |name: &str| packages.iter().any(|package| package.name == name);
    packages
        .iter()
        .map(|package| Node {
            package: package.name.to_string(),
            uses: package
                .dependencies
                .iter()
                .filter(|dependency| ours(&dependency.name))
                .map(|dependency| (dependency.name.clone(), used_for(dependency.kind)))
                .collect(),
        })
        .collect()
}

fn used_for(kind: DependencyKind) -> Use {
    match kind {
        DependencyKind::Development => Use::Test,
        _ => Use::Work,
    }
}

/// Every arrow that should not be there, with what may be.
pub(super) fn check(graph: &[Node]) -> Vec<String> {
    graph.iter().flat_map(check_node).collect()
}

fn check_node(node: &Node) -> Vec<String> {
    let from = folder(&node.package);
    let Some(rule) = rule_for(from) else {
        return vec![format!(
            "`{from}` has no line in the table of arrows; say in `xtask/src/tidy/arrows.rs` what it may use"
        )];
    };
    node.uses
        .iter()
        .filter(|(to, used_for)| !rule.admits(folder(to), *used_for))
        .map(|(to, used_for)| {
            format!(
                "`{from}` must not use `{}`{}; it may use {rule}",
                folder(to),
                match used_for {
                    Use::Work => "",
                    Use::Test => " in its tests",
                },
            )
        })
        .collect()
}

/// What one crate may use.
enum Rule {
    /// Everything that is shipped.
    Shipped,
    /// Everything but what nothing may use.
    Everything,
    /// These.
    These(&'static [&'static str]),
}

fn rule_for(from: &str) -> Option<Rule> {
    match from {
        "cli" => Some(Rule::Shipped),
        "benches" => Some(Rule::Everything),
        _ => ARROWS
            .iter()
            .find(|(name, _)| *name == from)
            .map(|(_, may_use)| Rule::These(may_use)),
    }
}

impl Rule {
    fn admits(&self, to: &str, used_for: Use) -> bool {
        if TOPS.contains(&to) {
            return false;
        }
        if to == TESTING && used_for == Use::Test {
            return true;
        }
        match self {
            Self::Shipped => to != TESTING,
            Self::Everything => true,
            Self::These(may_use) => may_use.contains(&to),
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shipped => formatter.write_str("every library crate, and `testing` in its tests"),
            Self::Everything => formatter.write_str("every library crate"),
            Self::These([]) => formatter.write_str("no crate of ours, and `testing` in its tests"),
            Self::These(may_use) => {
                write!(formatter, "{}, and `testing` in its tests", quoted(may_use))
            }
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The folder of a package, which carries no prefix.
fn folder(package: &str) -> &str {
    package.strip_prefix("windlass-").unwrap_or(package)
}

#[cfg(test)]
#[path = "arrows_tests.rs"]
mod tests;
