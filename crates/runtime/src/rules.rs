//! Rules of the configuration and remembered ones, and what they say together.
//!
//! Start at [`Rules::judge`]. The last rule that matches decides; what a
//! person has said "always" to counts as said last, but lifts no `deny` of the
//! configuration. Of several patterns the strictest verdict holds. A rule that
//! may match, depending on what is not known before the call runs, has a
//! person asked. Where no rule speaks, the tool's run mode does.

use std::path::Path;

use async_trait::async_trait;
use windlass_protocol::{Arguments, HandleAction, PermissionRule, RuleAction, RunMode};

use crate::catalogue::RegisteredTool;
use crate::pattern::{covers, is_everything, may_cover};
use crate::permission::subject_of;
use crate::subject::{Subject, SubjectPattern};

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
    /// It does more than its text says, so that only a rule of exactly its
    /// text allows it.
    pub exact: bool,
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
}

impl RegisteredTool {
    /// What becomes of a call of this tool in the project at `root` with these
    /// remembered rules, and why, without running anything.
    pub fn explain(
        &self,
        action: Option<HandleAction>,
        args: &Arguments,
        root: &Path,
        remembered: &[PermissionRule],
    ) -> Explanation {
        let subject = subject_of(self, action, args, root);
        let mode = self.definition.run.mode(action);
        let rules = if speak(action, mode) {
            Rules {
                config: &self.definition.permissions,
                floor: &self.definition.permission_floor,
                remembered,
            }
        } else {
            Rules {
                config: &[],
                floor: &[],
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
        }
    }
}

/// Rules speak of whatever starts something, of what is typed, and of the rest
/// where a person is asked about it.
pub(crate) fn speak(action: Option<HandleAction>, mode: RunMode) -> bool {
    match action {
        None | Some(HandleAction::Spawn | HandleAction::Apply) => true,
        Some(HandleAction::Fetch | HandleAction::Abort) => mode != RunMode::Unattended,
    }
}

/// The rules that hold for a call.
pub(crate) struct Rules<'a> {
    pub(crate) config: &'a [PermissionRule],
    /// Rules of the user alone. Where they deny or ask, the configuration as a
    /// whole cannot allow.
    pub(crate) floor: &'a [PermissionRule],
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
                pattern: pattern.text.clone(),
                rule: self.deciding(&subject.permission, pattern),
                exact: pattern.exact,
            })
            .collect()
    }

    fn deciding(
        &self,
        permission: &str,
        pattern: &SubjectPattern,
    ) -> Option<(PermissionRule, RuleSource)> {
        let configured = configured(self.config, permission, pattern);
        let floor = configured_floor(self.floor, permission, pattern);
        let configured = match (configured, floor) {
            (Some((rule, _)), Some((floor, firm))) if rank(&floor) > rank(&rule) => {
                Some((floor, firm))
            }
            (None, floor) => floor,
            (configured, _) => configured,
        };
        if let Some((rule, Firm(true))) = configured {
            return Some((rule, RuleSource::Config));
        }
        let mut remembered = self.remembered.iter().rev();
        let remembered = remembered
            .find(|rule| speaks_of(rule, permission, pattern) == Speaks::Yes)
            .map(|rule| (rule.clone(), RuleSource::Remembered));
        remembered.or(configured.map(|(rule, _)| (rule, RuleSource::Config)))
    }
}

/// The last rule that matches. One after it that could match, depending on
/// what is not known yet, has a person asked.
fn configured(
    rules: &[PermissionRule],
    permission: &str,
    pattern: &SubjectPattern,
) -> Option<(PermissionRule, Firm)> {
    let mut doubtful: Option<&PermissionRule> = None;
    let mut decides = None;
    for rule in rules.iter().rev() {
        match speaks_of(rule, permission, pattern) {
            Speaks::Yes => {
                decides = Some(rule);
                break;
            }
            // Of several, one that would deny counts.
            Speaks::Perhaps => match doubtful {
                Some(doubt) if doubt.action == RuleAction::Deny => {}
                _ => doubtful = Some(rule),
            },
            Speaks::No => {}
        }
    }
    let denies = |rule: &PermissionRule| rule.action == RuleAction::Deny;
    match (decides, doubtful) {
        (Some(rule), _) if denies(rule) => Some((rule.clone(), Firm(true))),
        (_, Some(doubt)) => {
            let asks = PermissionRule {
                action: RuleAction::Ask,
                ..doubt.clone()
            };
            Some((asks, Firm(denies(doubt))))
        }
        (decides, None) => decides.map(|rule| (rule.clone(), Firm(false))),
    }
}

/// The rule of the user alone, where it forbids something.
fn configured_floor(
    floor: &[PermissionRule],
    permission: &str,
    pattern: &SubjectPattern,
) -> Option<(PermissionRule, Firm)> {
    configured(floor, permission, pattern).filter(|(rule, _)| rule.action != RuleAction::Allow)
}

fn rank(rule: &PermissionRule) -> u8 {
    match rule.action {
        RuleAction::Allow => 0,
        RuleAction::Ask => 1,
        RuleAction::Deny => 2,
    }
}

/// No "always" lifts what the rule says.
#[derive(Clone, Copy)]
struct Firm(bool);

/// Whether a rule is about a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Yes,
    /// That depends on what is not known yet.
    Perhaps,
    No,
}

/// To allow a thing a rule must cover all that is known of it and whatever the
/// rest may be. To deny it or to ask about it, it is enough that it covers one
/// of its forms.
fn speaks_of(rule: &PermissionRule, permission: &str, pattern: &SubjectPattern) -> Speaks {
    if !covers(&rule.permission, permission) {
        return Speaks::No;
    }
    let wanted = rule.pattern.as_str();
    if wanted == pattern.text || is_everything(wanted) {
        return Speaks::Yes;
    }
    if rule.action == RuleAction::Allow {
        return if !pattern.exact && covers(wanted, &pattern.known) {
            Speaks::Yes
        } else {
            Speaks::No
        };
    }
    if pattern.all_forms().any(|form| covers(wanted, form)) {
        Speaks::Yes
    } else if pattern.all_forms().any(|form| may_cover(wanted, form)) {
        Speaks::Perhaps
    } else {
        Speaks::No
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
