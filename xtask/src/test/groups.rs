//! Tests that share something which the machine has once, or that may take longer than others.
//!
//! A test belongs to the first group of [`GROUPS`] that names it. All others run side by side, each within [`LIMIT`].

use std::time::Duration;

/// The time of a test without a group, after which it is killed.
pub(super) const LIMIT: Duration = Duration::from_mins(1);

/// Tests with a limit of their own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: &'static str,
    /// The number of them that run at the same time.
    pub(super) at_once: usize,
    /// The time after which one of them is killed.
    pub(super) limit: Duration,
    /// Why it differs from other tests.
    pub(super) reason: &'static str,
    /// The beginnings of the names of its tests, each with the package before it.
    tests: &'static [&'static str],
}

/// All groups.
pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "browser",
        at_once: 1,
        limit: Duration::from_mins(2),
        reason: "a browser needs a core for itself, and its page is tried in steps",
        tests: &["windlass-command-tests it page"],
    },
    Group {
        name: "temporary folder",
        at_once: 1,
        limit: Duration::from_mins(1),
        reason: "a sandbox of `/tmp` makes `/tmp` look like a project, in which others would begin theirs",
        tests: &[
            "windlass-process it sandbox::as_this_user::tmp_itself",
            "windlass-process it sandbox::as_ordinary_user::tmp_itself",
            "windlass-command-tests it trust::",
            "windlass-command-tests it new_tools::",
            "windlass-command-tests it outputs::",
        ],
    },
    Group {
        name: "broker",
        at_once: 3,
        limit: Duration::from_mins(3),
        reason: "each test starts brokers and workers, and ends some of them one after another",
        tests: &["windlass-command-tests it pool", "windlass-cli it pool"],
    },
    Group {
        name: "kept",
        at_once: 2,
        limit: Duration::from_mins(3),
        reason: "a holder that does not reply is waited for, and twenty programs count through fifty deaths",
        tests: &["windlass-command-tests it kept"],
    },
    Group {
        name: "connection",
        at_once: 3,
        limit: Duration::from_mins(2),
        reason: "a lost connection is noticed after missed heartbeats",
        tests: &[
            "windlass-command-tests it hosts",
            "windlass-command-tests it network",
            "windlass-cli it hosts",
        ],
    },
];

/// The index of the test's group in [`GROUPS`]. `name` is the test's whole name.
pub(super) fn of(name: &str) -> Option<usize> {
    GROUPS
        .iter()
        .position(|group| group.tests.iter().any(|tests| name.starts_with(tests)))
}

/// The time after which a test of this group is killed.
pub(super) fn limit(group: Option<usize>) -> Duration {
    group.map_or(LIMIT, |group| GROUPS[group].limit)
}
