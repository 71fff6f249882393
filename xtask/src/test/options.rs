//! The arguments of `cargo xtask test`.

use anyhow::{Context, bail};

use crate::sandboxed::ToolSandbox;
use crate::test::binaries::Test;
use crate::test::pool;

pub(super) const USAGE: &str = "\
`test` takes

  FILTER…              tests whose name contains one of these; a name is `PACKAGE TARGET PATH`
  --package NAME, -p   tests of this package; may be repeated
  --test NAME          tests of this target, such as `it`
  --lib                tests in libraries
  --doc                examples in documentation
  --jobs N             run N tests at once; default: three for each core
  --sandbox workspace  run the tools of the command's tests in this sandbox
  --strict             a skipped test that `xtask/skips.toml` does not list is a failure";

/// Which tests run, and how.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestOptions {
    packages: Vec<String>,
    /// Parts of the names of tests; empty: all.
    filters: Vec<String>,
    /// The only target to test.
    target: Option<String>,
    /// Only examples in documentation.
    doc: bool,
    pub(super) jobs: usize,
    pub(super) sandbox: ToolSandbox,
    /// Whether a skip must be listed.
    pub(super) strict: bool,
}

impl TestOptions {
    /// Reads the arguments of the chore.
    pub(crate) fn read(arguments: &[String]) -> anyhow::Result<Self> {
        let (sandbox, arguments) = ToolSandbox::read(arguments)?;
        let mut options = Self {
            packages: Vec::new(),
            filters: Vec::new(),
            target: None,
            doc: false,
            jobs: pool::default_jobs(),
            sandbox,
            strict: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || {
                let value = rest.next().cloned();
                value.with_context(|| format!("`{argument}` needs a value\n\n{USAGE}"))
            };
            match argument.as_str() {
                "--package" | "-p" => options.packages.push(value()?),
                "--test" => options.target = Some(value()?),
                "--lib" => options.target = Some("lib".to_owned()),
                "--doc" => options.doc = true,
                "--strict" => options.strict = true,
                "--jobs" => {
                    let jobs = value()?;
                    let number = jobs.parse().ok().filter(|number| *number > 0);
                    options.jobs = number
                        .with_context(|| format!("`{jobs}` is not a number of jobs\n\n{USAGE}"))?;
                }
                option if option.starts_with('-') => {
                    bail!("`{option}` is not an option\n\n{USAGE}")
                }
                filter => options.filters.push(filter.to_owned()),
            }
        }
        Ok(options)
    }

    /// The packages to build and to test; empty: all.
    pub(crate) fn packages(&self) -> &[String] {
        &self.packages
    }

    /// Whether this test was selected.
    pub(super) fn select(&self, test: &Test) -> bool {
        let target = test.name.split(' ').nth(1);
        let is_target = self.target.is_none() || self.target.as_deref() == target;
        let passes =
            self.filters.is_empty() || self.filters.iter().any(|filter| test.name.contains(filter));
        is_target && passes && !self.doc
    }

    /// Whether the examples in documentation run too.
    pub(super) fn include_doctests(&self) -> bool {
        self.doc || (self.filters.is_empty() && self.target.is_none())
    }

    /// Whether everything runs, so also the tests of the packages for other languages.
    pub(super) fn include_packages(&self) -> bool {
        self.include_doctests() && !self.doc && self.packages.is_empty()
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
