//! Parses the command line.

use anyhow::{Context, bail};

/// One benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Benchmark {
    Many,
    Handles,
    Terminals,
    OneShot,
    Sandbox,
    Wake,
    Apply,
    Fetch,
    Argument,
    Record,
    Mcp,
    Assistant,
    Keystroke,
    Load,
    Startup,
    Flood,
    Digest,
    TerminalFlood,
    Page,
    Hosts,
    Pool,
}

/// How thoroughly to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    Thorough,
    /// About a tenth of the samples: a smoke test.
    Quick,
}

/// The selected benchmarks and their pace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) benchmarks: Vec<Benchmark>,
    pub(super) pace: Pace,
    /// Whether they were selected by name: one that cannot run is then an
    /// error.
    pub(super) is_chosen: bool,
}

impl Benchmark {
    const ALL: [Self; 21] = [
        Self::Many,
        Self::Handles,
        Self::Terminals,
        Self::OneShot,
        Self::Sandbox,
        Self::Wake,
        Self::Apply,
        Self::Fetch,
        Self::Argument,
        Self::Record,
        Self::Mcp,
        Self::Assistant,
        Self::Keystroke,
        Self::Load,
        Self::Startup,
        Self::Flood,
        Self::Digest,
        Self::TerminalFlood,
        Self::Page,
        Self::Hosts,
        Self::Pool,
    ];

    /// Its name for `--only`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Many => "many",
            Self::Handles => "handles",
            Self::Terminals => "terminals",
            Self::OneShot => "one-shot",
            Self::Sandbox => "sandbox",
            Self::Wake => "wake",
            Self::Apply => "apply",
            Self::Fetch => "fetch",
            Self::Argument => "argument",
            Self::Record => "record",
            Self::Mcp => "mcp",
            Self::Assistant => "assistant",
            Self::Keystroke => "keystroke",
            Self::Load => "load",
            Self::Startup => "startup",
            Self::Flood => "flood",
            Self::Digest => "digest",
            Self::TerminalFlood => "terminal-flood",
            Self::Page => "page",
            Self::Hosts => "hosts",
            Self::Pool => "pool",
        }
    }
}

impl Pace {
    /// Picks one of two numbers.
    pub(super) fn pick(self, thorough: usize, quick: usize) -> usize {
        match self {
            Self::Thorough => thorough,
            Self::Quick => quick,
        }
    }
}

impl Plan {
    /// Parses the arguments; the error lists the valid ones.
    pub(super) fn read(arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = arguments;
        let mut only = Vec::new();
        let mut pace = Pace::Thorough;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => pace = Pace::Quick,
                "--only" => only.push(named(arguments.next().as_deref())?),
                other => {
                    bail!("unknown option `{other}`; use --quick or --only NAME");
                }
            }
        }
        let benchmarks = Benchmark::ALL
            .into_iter()
            .filter(|benchmark| only.is_empty() || only.contains(benchmark))
            .collect();
        Ok(Self {
            benchmarks,
            pace,
            is_chosen: !only.is_empty(),
        })
    }
}

fn named(name: Option<&str>) -> anyhow::Result<Benchmark> {
    let known = Benchmark::ALL.map(Benchmark::name).join(", ");
    let Some(name) = name else {
        bail!("`--only` needs a name; the names are {known}");
    };
    Benchmark::ALL
        .into_iter()
        .find(|benchmark| benchmark.name() == name)
        .with_context(|| format!("`{name}` is not a benchmark; the benchmarks are {known}"))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
