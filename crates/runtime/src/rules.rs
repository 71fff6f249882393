//! Rules of the configuration and remembered ones, and what they say together.
//!
//! Start at [`Rules::judge`]. The last rule that matches decides; what a
//! person has said "always" to counts as said last, but lifts no `deny` of the
//! configuration. Of several patterns the strictest verdict holds. Where no
//! rule speaks, the tool's run mode does.

use async_trait::async_trait;
use windlass_protocol::{Arguments, HandleAction, PermissionRule, RuleAction, RunMode};

use crate::catalogue::RegisteredTool;
use crate::executor::Subject;
use crate::pattern::{covers, is_everything};
use crate::permission::subject_of;

/// Keeps what an "always" has allowed in a project.
#[async_trait]
pub trait RuleBook: Send + Sync + 'static {
    /// What has been remembered, by other sessions and processes too, the
    /// oldest first.
    async fn remembered(&self) -> Vec<PermissionRule>;

    /// Remembers these rules. They survive a crash by the time this resolves.
    async fn remember(&self, rules: Vec<PermissionRule>);
}

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSource {
    /// The configuration.
    Config,
    /// An "always".
    Remembered,
}

/// What decides on one pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What would be done.
    pub pattern: String,
    /// The rule that decides, if one does.
    pub rule: Option<(PermissionRule, RuleSource)>,
}

/// What the rules say of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The permission that it needs.
    pub permission: String,
    /// What decides on each of its patterns.
    pub findings: Vec<Finding>,
    /// What the rules say together; `None` where the run mode decides.
    pub verdict: Option<RuleAction>,
    /// The tool's run mode for the action.
    pub mode: RunMode,
    /// What a person would be asked to remember.
    pub always: Vec<String>,
    /// A line that was not taken apart, so that only a rule of exactly the
    /// same text allows it.
    pub exact: bool,
}

impl RegisteredTool {
    /// What becomes of a call of this tool with these remembered rules, and
    /// why, without running anything.
    pub fn explain(
        &self,
        action: Option<HandleAction>,
        args: &Arguments,
        remembered: &[PermissionRule],
    ) -> Explanation {
        let subject = subject_of(self, action, args);
        let mode = self.definition.run.mode(action);
        let rules = if speak(action, mode) {
            Rules {
                config: &self.definition.permissions,
                remembered,
            }
        } else {
            Rules {
                config: &[],
                remembered: &[],
            }
        };
        let findings = rules.findings(&subject);
        Explanation {
            verdict: strictest(&findings).map(|(action, _)| action),
            permission: subject.permission,
            findings,
            mode,
            always: subject.always,
            exact: subject.exact,
        }
    }
}

/// Rules speak of whatever starts something, and of the rest where a person
/// is asked about it.
pub(crate) fn speak(action: Option<HandleAction>, mode: RunMode) -> bool {
    matches!(action, None | Some(HandleAction::Spawn)) || mode != RunMode::Unattended
}

/// The rules that hold for a call.
pub(crate) struct Rules<'a> {
    pub(crate) config: &'a [PermissionRule],
    pub(crate) remembered: &'a [PermissionRule],
}

impl Rules<'_> {
    /// What they say together, and the rule that says so. `None` where one of
    /// the patterns is spoken of by no rule and none is denied.
    pub(crate) fn judge(&self, subject: &Subject) -> Option<(RuleAction, PermissionRule)> {
        strictest(&self.findings(subject))
    }

    fn findings(&self, subject: &Subject) -> Vec<Finding> {
        let patterns = subject.patterns.iter();
        patterns
            .map(|pattern| Finding {
                pattern: pattern.clone(),
                rule: self.deciding(subject, pattern),
            })
            .collect()
    }

    fn deciding(&self, subject: &Subject, pattern: &str) -> Option<(PermissionRule, RuleSource)> {
        let last = |rules: &[PermissionRule], source| {
            let matching = |rule: &&PermissionRule| self.speaks_of(rule, subject, pattern);
            let rule = rules.iter().rev().find(matching)?;
            Some((rule.clone(), source))
        };
        let configured = last(self.config, RuleSource::Config);
        if let Some((rule, _)) = &configured
            && rule.action == RuleAction::Deny
        {
            return configured;
        }
        last(self.remembered, RuleSource::Remembered).or(configured)
    }

    /// What hides more than it shows is allowed only by its own text, or where
    /// anything is: a rule for its beginning has not seen the rest.
    fn speaks_of(&self, rule: &PermissionRule, subject: &Subject, pattern: &str) -> bool {
        if !covers(&rule.permission, &subject.permission) {
            return false;
        }
        if subject.exact && rule.action == RuleAction::Allow {
            return rule.pattern == pattern
                || is_everything(&rule.pattern) && !self.restricts(&subject.permission);
        }
        covers(&rule.pattern, pattern)
    }

    /// Some rule denies or asks about things of this permission.
    fn restricts(&self, permission: &str) -> bool {
        self.config
            .iter()
            .any(|rule| rule.action != RuleAction::Allow && covers(&rule.permission, permission))
    }
}

/// Denied if anything is, asked about if anything is, and allowed only if
/// everything is.
fn strictest(findings: &[Finding]) -> Option<(RuleAction, PermissionRule)> {
    let of = |action| {
        let mut rules = findings.iter().filter_map(|finding| finding.rule.as_ref());
        let found = rules.find(|(rule, _)| rule.action == action);
        found.map(|(rule, _)| (action, rule.clone()))
    };
    of(RuleAction::Deny)
        .or_else(|| of(RuleAction::Ask))
        .or_else(|| {
            let all = findings.iter().all(|finding| finding.rule.is_some());
            of(RuleAction::Allow).filter(|_| all)
        })
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
