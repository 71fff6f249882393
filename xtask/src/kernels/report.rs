//! The checks of one machine, read from its serial console.

use std::fmt;

/// The results of one machine.
pub(super) struct MachineReport {
    checks: Vec<MachineCheck>,
}

struct MachineCheck {
    user: String,
    name: String,
    result: String,
    text: String,
}

impl MachineReport {
    /// Reads the lines with checks: `@@`, user, name, result and text, separated by tabs.
    pub(super) fn read(console: &str) -> Self {
        let checks = console.lines().filter_map(|line| {
            let line = line.trim_end_matches('\r');
            let mut fields = line.strip_prefix("@@\t")?.splitn(4, '\t');
            let mut field = || fields.next().map(str::to_owned);
            Some(MachineCheck {
                user: field()?,
                name: field()?,
                result: field()?,
                text: field().unwrap_or_default(),
            })
        });
        Self {
            checks: checks.collect(),
        }
    }

    /// The number of failed checks. A machine that stopped early counts as one more.
    pub(super) fn failures(&self) -> usize {
        let failed = self.checks.iter().filter(|it| it.result == "FAILED");
        let has_ended = self.checks.iter().any(|it| it.name == "end");
        failed.count() + usize::from(!has_ended)
    }
}

impl fmt::Display for MachineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            let MachineCheck {
                user,
                name,
                result,
                text,
            } = check;
            writeln!(f, "{result:7} {user}: {name}: {text}")?;
        }
        let passed = self.checks.iter().filter(|it| it.result == "ok").count();
        let open = self.checks.iter().filter(|it| it.result == "open").count();
        let failures = self.failures();
        writeln!(f, "{passed} passed, {failures} failed, {open} open")
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
