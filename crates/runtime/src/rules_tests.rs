use super::*;

/// Rules in config order, as `action pattern`, then remembered patterns.
#[track_caller]
fn check(config: &[&str], remembered: &[&str], patterns: &[&str], expected: Option<RuleAction>) {
    judge(config, remembered, patterns, false, expected);
}

#[track_caller]
fn judge(
    config: &[&str],
    remembered: &[&str],
    patterns: &[&str],
    exact: bool,
    expected: Option<RuleAction>,
) {
    let rule = |pattern: &str, action| PermissionRule {
        permission: "shell".into(),
        pattern: pattern.into(),
        action,
    };
    let config: Vec<_> = config
        .iter()
        .map(|line| match line.split_once(' ').unwrap() {
            ("allow", pattern) => rule(pattern, RuleAction::Allow),
            ("ask", pattern) => rule(pattern, RuleAction::Ask),
            ("deny", pattern) => rule(pattern, RuleAction::Deny),
            other => panic!("{other:?}"),
        })
        .collect();
    let remembered: Vec<_> = remembered
        .iter()
        .map(|pattern| rule(pattern, RuleAction::Allow))
        .collect();
    let mut subject = Subject::new("shell", patterns.iter().copied());
    for pattern in &mut subject.patterns {
        pattern.exact = exact;
    }
    let rules = Rules {
        floor: &[],
        config: &config,
        remembered: (&remembered).into(),
    };
    assert_eq!(rules.judge(&subject).map(|(action, _)| action), expected);
}

#[test]
fn the_users_own_rules_are_never_lifted() {
    use RuleAction::{Allow, Ask, Deny};
    let check = |floor: &[(&str, RuleAction)], config: &[(&str, RuleAction)], expected| {
        let rules = |rules: &[(&str, RuleAction)]| -> Vec<PermissionRule> {
            let rules = rules.iter();
            rules
                .map(|(pattern, action)| PermissionRule {
                    permission: "shell".into(),
                    pattern: (*pattern).into(),
                    action: *action,
                })
                .collect()
        };
        let (floor, config) = (rules(floor), rules(config));
        let rules = Rules {
            floor: &floor,
            config: &config,
            remembered: Cow::default(),
        };
        let subject = Subject::new("shell", ["rm x"]);
        let verdict = rules.judge(&subject).map(|(action, _)| action);
        assert_eq!(verdict, expected, "{floor:?} {config:?}");
    };
    let denied = [("rm *", Deny)];
    check(&denied, &[("rm *", Allow)], DENY);
    check(&denied, &[("rm *", Deny), ("r*", Allow)], DENY);
    check(&denied, &[("*", Allow)], DENY);
    check(&denied, &[], DENY);
    check(&[("rm *", Ask)], &[("*", Allow)], ASK);
    check(&[("rm *", Ask)], &[("*", Deny)], DENY);
    check(&[("rm *", Allow)], &[("rm *", Deny)], DENY);
    check(&[("rm *", Allow)], &[("rm *", Allow)], ALLOW);
    check(&[("rm *", Allow)], &[], None);
    // An exception of the user's own stays one.
    let excepted = [("rm *", Deny), ("rm x", Allow)];
    check(&excepted, &excepted, ALLOW);
}

const ALLOW: Option<RuleAction> = Some(RuleAction::Allow);
const ASK: Option<RuleAction> = Some(RuleAction::Ask);
const DENY: Option<RuleAction> = Some(RuleAction::Deny);

#[test]
fn the_last_rule_that_matches_decides() {
    check(&["deny *", "allow git *"], &[], &["git status"], ALLOW);
    check(&["allow git *", "deny *"], &[], &["git status"], DENY);
    check(&["allow *", "ask git push *"], &[], &["git push"], ASK);
    check(&["allow git *"], &[], &["ls"], None);
}

#[test]
fn each_command_of_a_line_counts_and_the_strictest_holds() {
    let rules = ["allow git *", "deny rm *"];
    check(&rules, &[], &["git status", "rm -rf x"], DENY);
    check(&rules, &[], &["git status", "ls"], None);
    check(&rules, &[], &["git status", "git log"], ALLOW);
    check(&["allow git *", "ask ls"], &[], &["git log", "ls"], ASK);
}

#[test]
fn always_counts_as_said_last_but_lifts_no_denial() {
    check(&["ask *"], &["git status *"], &["git status"], ALLOW);
    check(
        &["deny git push --force *"],
        &["git push *"],
        &["git push --force"],
        DENY,
    );
}

#[test]
fn what_hides_more_than_it_shows_is_allowed_by_its_own_text_alone() {
    let line = ["git log $(rm x)"];
    judge(&["allow git *"], &["git *"], &line, true, None);
    judge(&[], &line, &line, true, ALLOW);
    judge(&["allow *"], &[], &line, true, ALLOW);
    judge(&["allow *", "deny git *"], &[], &line, true, DENY);
}

#[test]
fn nothing_to_judge_is_not_allowed() {
    check(&["allow *"], &[], &[], None);
}

/// A command of which these forms are known, `…` standing for anything.
fn command(text: &str, known: &str, forms: &[&str]) -> SubjectPattern {
    let unknown = |text: &str| text.replace('…', &crate::subject::UNKNOWN.to_string());
    SubjectPattern {
        text: text.to_owned(),
        known: unknown(known),
        forms: forms.iter().map(|form| unknown(form)).collect(),
        exact: false,
    }
}

#[track_caller]
fn check_command(
    config: &[(&str, RuleAction)],
    command: SubjectPattern,
    expected: Option<RuleAction>,
) {
    let rules: Vec<_> = config
        .iter()
        .map(|(pattern, action)| PermissionRule {
            permission: "shell".into(),
            pattern: (*pattern).into(),
            action: *action,
        })
        .collect();
    let rules = Rules {
        floor: &[],
        config: &rules,
        remembered: Cow::default(),
    };
    let subject = Subject::new("shell", [command]);
    assert_eq!(rules.judge(&subject).map(|(action, _)| action), expected);
}

#[test]
fn a_rule_that_denies_knows_every_form_of_a_command() {
    let sudo = || command("sudo rm x", "sudo rm x", &["sudo rm x", "rm x"]);
    check_command(&[("rm *", RuleAction::Deny)], sudo(), DENY);
    check_command(&[("rm *", RuleAction::Allow)], sudo(), None);
    check_command(&[("sudo *", RuleAction::Allow)], sudo(), ALLOW);
    check_command(
        &[("sudo *", RuleAction::Allow), ("rm *", RuleAction::Deny)],
        sudo(),
        DENY,
    );
}

#[test]
fn what_could_be_denied_is_asked_about() {
    let program = || command("$x y", "… y", &["…"]);
    let argument = || command("git $x", "git …", &["git …"]);
    let deny = [("rm *", RuleAction::Deny)];
    check_command(&deny, program(), ASK);
    check_command(&deny, argument(), None);
    check_command(&[("git push *", RuleAction::Deny)], argument(), ASK);
    let all = [("*", RuleAction::Allow), ("git push *", RuleAction::Deny)];
    check_command(&all, argument(), ASK);
    check_command(&all, command("git status", "git status", &[]), ALLOW);
}

#[test]
fn what_is_not_known_is_allowed_only_by_a_rule_for_anything_in_its_place() {
    let argument = || command("rm $x", "rm …", &["rm …"]);
    check_command(&[("rm *", RuleAction::Allow)], argument(), ALLOW);
    check_command(&[("rm build/*", RuleAction::Allow)], argument(), None);
    check_command(&[("rm ?", RuleAction::Allow)], argument(), None);
    check_command(&[("rm $x", RuleAction::Allow)], argument(), ALLOW);
}
