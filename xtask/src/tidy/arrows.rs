//! Checks the dependencies between crates.
//!
//! [`ARROWS`] is the rule, and [`check`] compares a graph with it. Third-party
//! crates are ignored.

use cargo_metadata::{DependencyKind, Metadata};

/// The allowed dependencies of each crate, by directory.
const ARROWS: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("output", &[]),
    ("digest", &[]),
    ("task", &[]),
    ("hold-wire", &[]),
    ("sandbox", &[]),
    ("process", &["hold-wire", "output", "sandbox", "task"]),
    (
        "host",
        &["hold-wire", "process", "output", "sandbox", "task"],
    ),
    ("pool", &["hold-wire", "host", "process", "task"]),
    ("kept", &["hold-wire", "process", "output", "protocol"]),
    ("schema", &["protocol"]),
    ("template", &["protocol"]),
    ("providers", &["schema"]),
    ("sdk", &["protocol", "schema"]),
    ("runtime", &["digest", "output", "protocol", "task"]),
    (
        "executors",
        &[
            "runtime", "process", "output", "sandbox", "schema", "template", "protocol", "task",
        ],
    ),
    (
        "mcp-client",
        &["runtime", "process", "output", "schema", "protocol", "task"],
    ),
    ("store", &["runtime", "protocol"]),
    (
        "config",
        &["runtime", "providers", "sandbox", "template", "protocol"],
    ),
    (
        "assistant",
        &["runtime", "providers", "schema", "protocol", "task"],
    ),
    ("serve-mcp", &["runtime", "schema", "protocol", "task"]),
    ("control", &["runtime", "kept", "protocol", "task"]),
    ("serve-http", &["control", "runtime", "protocol"]),
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
            "task",
        ],
    ),
    ("skip", &[]),
    ("outside", &["skip"]),
    ("testing", &["runtime", "protocol"]),
    ("as-written", &["sdk"]),
    ("example-tools", &["sdk"]),
    ("embed-examples", &["windlass"]),
    ("xtask", &["protocol"]),
];

/// Programs, on which nothing may depend.
const TOPS: [&str; 6] = [
    "cli",
    "benches",
    "xtask",
    "as-written",
    "example-tools",
    "embed-examples",
];

/// The crates that are only for tests of any crate.
const FOR_TESTS: [&str; 3] = ["outside", "skip", "testing"];

/// The tests that drive the program, which an edit of a library must not
/// compile again. Their support serves the tests of the command that need
/// libraries.
const COMMAND_TESTS: &str = "command-tests";

/// A crate of the workspace and its dependencies in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// The package's name.
    pub(super) package: String,
    /// Its dependencies, by package name.
    pub(super) uses: Vec<(String, Use)>,
}

/// The kind of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// A normal or build dependency.
    Work,
    /// A dev-dependency.
    Test,
}

/// The dependency graph of the workspace.
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

/// Every forbidden dependency, with the allowed ones.
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

/// The allowed dependencies of one crate.
enum Rule {
    /// All shipped crates, and in tests the support of [`COMMAND_TESTS`].
    Shipped,
    /// `outside` alone.
    Outside,
    /// All crates that others may depend on.
    Everything,
    /// These.
    These(&'static [&'static str]),
}

fn rule_for(from: &str) -> Option<Rule> {
    match from {
        "cli" => Some(Rule::Shipped),
        COMMAND_TESTS => Some(Rule::Outside),
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
        let is_for_tests = FOR_TESTS.contains(&to);
        let is_test = used_for == Use::Test;
        match self {
            Self::Outside => to == "outside",
            Self::Shipped if to == COMMAND_TESTS => is_test,
            _ if to == COMMAND_TESTS => false,
            _ if is_for_tests && is_test => true,
            Self::Shipped => !is_for_tests,
            Self::Everything => true,
            Self::These(may_use) => may_use.contains(&to),
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let allowed = match self {
            Self::Everything => return formatter.write_str("every library crate"),
            Self::Outside => return formatter.write_str("`outside`"),
            Self::Shipped => "every library crate".to_owned(),
            Self::These([]) => "no crate of ours".to_owned(),
            Self::These(may_use) => quoted(may_use),
        };
        write!(
            formatter,
            "{allowed}, and {} in its tests",
            quoted(&FOR_TESTS)
        )
    }
}

fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The directory of a package, which has no prefix.
fn folder(package: &str) -> &str {
    package.strip_prefix("windlass-").unwrap_or(package)
}

#[cfg(test)]
#[path = "arrows_tests.rs"]
mod tests;
