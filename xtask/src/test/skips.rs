//! The tests that may be skipped where every skip counts as a failure.

use anyhow::Context;
use serde::Deserialize;

use crate::workspace;

/// `xtask/skips.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllowedSkips {
    #[serde(default)]
    skip: Vec<AllowedSkip>,
}

/// A test that may be skipped.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedSkip {
    /// The end of its name.
    test: String,
    /// Why some machines that run all checks cannot run it.
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

    /// Whether this test is listed, by the end of its name.
    pub(crate) fn allow(&self, test: &str) -> bool {
        self.skip.iter().any(|allowed| {
            let before = test.strip_suffix(&allowed.test);
            before.is_some_and(|before| before.is_empty() || before.ends_with([' ', ':']))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_listed_by_the_end_of_its_name() {
        let list = "[[skip]]\ntest = \"network::a_slow_link\"\nreason = \"no netem\"\n";
        let list: AllowedSkips = toml::from_str(list).unwrap();
        assert!(list.allow("windlass it network::a_slow_link"));
        assert!(list.allow("network::a_slow_link"));
        assert!(!list.allow("windlass it other_network::a_slow_link"));
        assert!(!list.allow("windlass it network::a_slow_link_breaks"));
    }

    #[test]
    fn the_committed_list_is_valid() {
        AllowedSkips::read().unwrap();
    }

    #[test]
    fn a_skip_without_a_reason_is_refused() {
        assert!(toml::from_str::<AllowedSkips>("[[skip]]\ntest = \"a\"\n").is_err());
    }
}
