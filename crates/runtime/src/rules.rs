//! Evaluates configured and remembered rules.
//!
//! Start at [`Rules::judge`]. The last matching rule decides. A remembered
//! "always" counts as last, but does not override a `deny` of the
//! configuration. Among several patterns the strictest verdict applies. A rule
//! that may match, depending on text that is unknown before the call runs,
//! leads to a question to the person. If no rule applies, the tool's run mode
//! does.

use std::borrow::Cow;
use std::path::Path;

use async_trait::async_trait;
use windlass_protocol::{Arguments, HandleAction, PermissionRule, RuleAction, RunMode};

use crate::catalogue::RegisteredTool;
use crate::pattern::{covers, is_everything, may_cover};
use crate::subject::{Subject, SubjectPattern};

/// Stores the rules that "always" has created in a project.
#[async_trait]
pub trait RuleBook: Send + Sync + 'static {
    /// The remembered rules, including those of other sessions and processes,
    /// oldest first.
    async fn remembered(&self) -> Vec<PermissionRule>;

    /// Stores these rules. They survive a crash once this resolves.
    async fn remember(&self, rules: Vec<PermissionRule>);
}

/// The origin of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSource {
    /// The configuration.
    Config,
    /// An "always".
    Remembered,
}

/// The decision on one pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The pattern.
    pub pattern: String,
    /// The deciding rule, if any.
    pub rule: Option<(PermissionRule, RuleSource)>,
    /// Its text does not cover everything it does, so that only a rule with
    /// exactly this text allows it.
    pub exact: bool,
}

/// The evaluation of a call by the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The required permission.
    pub permission: String,
    /// The decisions on its patterns.
    pub findings: Vec<Finding>,
    /// The combined verdict; `None` if the run mode decides.
    pub verdict: Option<RuleAction>,
    /// The tool's run mode for the action.
    pub mode: RunMode,
    /// The patterns that "always" would remember.
    pub always: Vec<String>,
}

impl RegisteredTool {
    /// Evaluates a call of this tool in the project at `root` with these
    /// remembered rules, without running anything.
    pub fn explain(
        &self,
        action: Option<HandleAction>,
        args: &Arguments,
        root: &Path,
        remembered: &[PermissionRule],
    ) -> Explanation {
        let subject = self.subject(action, args, root, false);
        let mode = self.definition.run.mode(action);
        let rules = if speak(action, mode) {
            Rules {
                config: &self.definition.permissions,
                floor: &self.definition.permission_floor,
                remembered: remembered.into(),
            }
        } else {
            Rules {
                config: &[],
                floor: &[],
                remembered: Cow::default(),
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

/// Whether rules apply: to starts, to typed text, and to other actions only if
/// the run mode asks a person.
pub(crate) fn speak(action: Option<HandleAction>, mode: RunMode) -> bool {
    match action {
        None | Some(HandleAction::Spawn | HandleAction::Apply) => true,
        Some(HandleAction::Fetch | HandleAction::Abort) => mode != RunMode::Unattended,
    }
}

/// The rules that apply to a call.
pub(crate) struct Rules<'a> {
    pub(crate) config: &'a [PermissionRule],
    /// The user's own rules. If they deny or ask, the configuration cannot
    /// allow.
    pub(crate) floor: &'a [PermissionRule],
    pub(crate) remembered: Cow<'a, [PermissionRule]>,
}

impl Rules<'_> {
    /// The combined verdict, and the deciding rule. `None` if no rule applies
    /// to one of the patterns and none is denied.
    pub(crate) fn judge(&self, subject: &Subject) -> Option<(RuleAction, PermissionRule)> {
        strictest(&self.findings(subject))
    }

    /// The deciding rule of each pattern.
    fn findings(&self, subject: &Subject) -> Vec<Finding> {
        let permission = &subject.permission;
        let mut findings = Vec::with_capacity(subject.patterns.len());
        for pattern in &subject.patterns {
            let configured = last_matching(self.config, permission, pattern);
            let floor = last_matching(self.floor, permission, pattern);
            let floor = floor.filter(|(rule, _)| rule.action != RuleAction::Allow);
            let configured = match (configured, floor) {
                (Some((rule, _)), Some((floor, firm))) if rank(&floor) > rank(&rule) => {
                    Some((floor, firm))
                }
                (None, floor) => floor,
                (configured, _) => configured,
            };
            let mut remembered = self.remembered.iter().rev();
            let rule = match configured {
                Some((rule, Firm(true))) => Some((rule, RuleSource::Config)),
                configured => remembered
                    .find(|rule| speaks_of(rule, permission, pattern) == Speaks::Yes)
                    .map(|rule| (rule.clone(), RuleSource::Remembered))
                    .or(configured.map(|(rule, _)| (rule, RuleSource::Config))),
            };
            findings.push(Finding {
                pattern: pattern.text.clone(),
                rule,
                exact: pattern.exact,
            });
        }
        findings
    }
}

/// The last matching rule. A later rule that may match, depending on unknown
/// text, leads to a question.
fn last_matching(
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

fn rank(rule: &PermissionRule) -> u8 {
    match rule.action {
        RuleAction::Allow => 0,
        RuleAction::Ask => 1,
        RuleAction::Deny => 2,
    }
}

/// Whether "always" cannot override the rule.
#[derive(Clone, Copy)]
struct Firm(bool);

/// Whether a rule applies to a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Yes,
    /// It depends on unknown text.
    Perhaps,
    No,
}

/// Whether a rule applies. To allow, a rule must match the known text for every
/// value of the unknown parts. To deny or ask, it is enough to match one form.
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

/// Denies if anything is denied, asks if anything asks, and allows only if
/// everything is allowed.
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
