//! The tests and checks that may be skipped where every other skip counts as a failure.

use anyhow::Context;
use serde::Deserialize;

use crate::workspace;

/// `xtask/skips.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllowedSkips {
    #[serde(default, rename = "skip")]
    tests: Vec<AllowedTest>,
    #[serde(default, rename = "check")]
    checks: Vec<AllowedCheck>,
}

/// A test that may be skipped for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedTest {
    /// The end of its name.
    test: String,
    /// The reason that it gives.
    reason: String,
}

/// A check of packages that may be skipped.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedCheck {
    name: String,
    #[expect(dead_code, reason = "required by the reader, for people")]
    reason: String,
}

impl AllowedSkips {
    /// Reads the committed list.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let file = workspace::root().join("xtask/skips.toml");
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read `{}`", file.display()))?;
        toml::from_str(&text).with_context(|| format!("`{}` is not valid", file.display()))
    }

    /// Whether this test may be skipped for this reason. It is listed by the end of its name.
    pub(crate) fn allow_test(&self, test: &str, reason: &str) -> bool {
        self.tests.iter().any(|allowed| {
            let before = test.strip_suffix(&allowed.test);
            before.is_some_and(|before| before.is_empty() || before.ends_with([' ', ':']))
                && reason.ends_with(&allowed.reason)
        })
    }

    /// Whether this check of packages may be skipped.
    pub(crate) fn allow_check(&self, name: &str) -> bool {
        self.checks.iter().any(|allowed| allowed.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_listed_by_the_end_of_its_name_and_its_reason() {
        let list = "[[skip]]\ntest = \"network::a_slow_link\"\nreason = \"no netem\"\n";
        let list: AllowedSkips = toml::from_str(list).unwrap();
        let allow = |test| list.allow_test(test, "a_slow_link: no netem");
        assert!(allow("windlass it network::a_slow_link"));
        assert!(allow("network::a_slow_link"));
        assert!(!allow("windlass it other_network::a_slow_link"));
        assert!(!allow("windlass it network::a_slow_link_breaks"));
        assert!(!list.allow_test("network::a_slow_link", "a_slow_link: no ssh"));
        assert!(!list.allow_check("network::a_slow_link"));
    }

    #[test]
    fn the_committed_list_is_valid() {
        assert!(AllowedSkips::read().unwrap().allow_check("container image"));
    }

    #[test]
    fn a_skip_without_a_reason_is_refused() {
        assert!(toml::from_str::<AllowedSkips>("[[skip]]\ntest = \"a\"\n").is_err());
        assert!(toml::from_str::<AllowedSkips>("[[check]]\nname = \"a\"\n").is_err());
    }
}
