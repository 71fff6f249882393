//! Permission checks before a call runs.
//!
//! Start at [`PermissionCheck::permit`]. `rules.rs` evaluates the rules; this module acts on the verdict and on a person's reply.
//! `pending.rs` has the open requests.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_protocol::{
    Arguments, Decider, DecisionRecord, HandleAction, HandleId, MessageId, Notice, NoticeKind,
    NoticeLevel, PermissionId, PermissionReply, PermissionRequest, PermissionRule,
    PermissionToolContext, RuleAction, RunMode, Start,
};

use crate::arguments::conceal;
use crate::catalogue::{RegisteredTool, Runs};
use crate::job::TypedCommands;
use crate::journal::SessionEvent;
use crate::refusal::Refusal;
use crate::request_table::{PermissionOutcome, Terms};
use crate::rules::Rules;
use crate::session::{SessionInner, new_ulid};
use crate::subject::{Subject, SubjectPattern, UNKNOWN};

/// The source of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrantedBy {
    /// The tool's run mode, or the session's driver.
    Policy,
    /// A rule, which was matched against the call's text only.
    Rule,
    /// A person, who was shown the call.
    Person,
}

/// The tool's run mode for the action.
pub(crate) fn mode(
    session: &SessionInner,
    tool: &RegisteredTool,
    action: Option<HandleAction>,
) -> RunMode {
    let definition = &tool.definition;
    let for_client = definition.run_for_client;
    let for_client = for_client.filter(|_| session.options.client_asks);
    for_client.unwrap_or(definition.run).mode(action)
}

/// Whether permission was granted.
pub(crate) struct Granted(pub(crate) bool);

/// The permission check of one call. It borrows nothing, so that it can outlive
/// its caller.
pub(crate) struct PermissionCheck {
    pub(crate) session: Arc<SessionInner>,
    pub(crate) tool: Arc<RegisteredTool>,
    pub(crate) call: Arc<str>,
    /// The message that holds the call.
    pub(crate) message: MessageId,
    /// The call's arguments must not be recorded.
    pub(crate) secret: bool,
    /// The handle that the call is about.
    pub(crate) handle: Option<HandleId>,
    pub(crate) action: Option<HandleAction>,
}

impl PermissionCheck {
    /// Checks the rules and the tool's policy for the action, asks a person if
    /// necessary, and returns the arguments to run with. Dropping the future
    /// withdraws the request.
    pub(crate) async fn permit(self, args: Arguments) -> Result<(Arguments, GrantedBy), Refusal> {
        let mode = mode(&self.session, &self.tool, self.action);
        let root = &self.session.options.root;
        let subject = self.tool.subject(self.action, &args, root, self.secret);
        let verdict = self.session.rules_of(&self.tool).await.judge(&subject);
        match (verdict, mode) {
            (Some((RuleAction::Deny, rule)), _) => Err(self.denied(&subject, &args, rule)),
            (Some((RuleAction::Allow, rule)), RunMode::Ask | RunMode::Unattended) => {
                self.decided(&subject, &args, rule);
                Ok((args, GrantedBy::Rule))
            }
            (None, RunMode::Unattended) => Ok((args, GrantedBy::Policy)),
            (_, mode) => {
                let asked = self.ask(subject, args, mode == RunMode::Edit).await;
                asked.map(|args| (args, GrantedBy::Person))
            }
        }
    }

    /// Checks commands that would be typed against the rules for starting the
    /// tool. `Granted` is false if no rule applies, and the tool's policy for
    /// typing decides.
    ///
    /// A rule that allowed the start was matched only against the started line.
    /// So if these commands would have required a person, a person is asked,
    /// unless a rule allows the program that reads them.
    pub(crate) async fn permit_typed(
        &self,
        args: &Arguments,
        commands: TypedCommands,
        started: GrantedBy,
    ) -> Result<Granted, Refusal> {
        let tool = &self.tool.definition.name;
        let subject = Subject::new(tool, commands.patterns).remembering(commands.always);
        let rules = self.session.rules_of(&self.tool).await;
        let asks = match rules.judge(&subject) {
            Some((RuleAction::Deny, rule)) => return Err(self.denied(&subject, args, rule)),
            Some((RuleAction::Ask, _)) => true,
            Some((RuleAction::Allow, _)) => false,
            None => {
                let mode = mode(&self.session, &self.tool, Some(HandleAction::Spawn));
                let asked_to_start = matches!(mode, RunMode::Ask | RunMode::Edit);
                // With any arguments, or without arguments.
                let reader = SubjectPattern {
                    known: format!("{} {UNKNOWN}", commands.reader),
                    ..SubjectPattern::from(commands.reader)
                };
                let reader = Subject::new(tool, [reader]);
                started == GrantedBy::Rule
                    && asked_to_start
                    && !matches!(rules.judge(&reader), Some((RuleAction::Allow, _)))
            }
        };
        if asks {
            self.ask(subject, args.clone(), false).await?;
        }
        Ok(Granted(asks))
    }

    /// Asks a person, and returns the arguments to run with.
    async fn ask(
        &self,
        subject: Subject,
        args: Arguments,
        editable: bool,
    ) -> Result<Arguments, Refusal> {
        let tool = self.tool.definition.name.clone();
        let mut request = self.request(&subject, &args, editable);
        let requests = &self.session.requests;
        if !requests.is_attended() {
            self.tell_decided(request, DecisionRecord::new(Decider::Nobody, None));
            return Err(Refusal::NobodyToAsk { tool });
        }
        if let Runs::Executor(executor) = &self.tool.runs
            && matches!(self.action, None | Some(HandleAction::Spawn))
        {
            let start = Start {
                session: self.session.id.clone(),
                root: self.session.options.root.clone().into(),
                log: None,
                handle: None,
                keep: None,
                outside: false,
                widenings: Vec::new(),
                tool: Arc::clone(&self.tool.definition),
                args: args.clone(),
            };
            if let Some(display) = executor.format_arguments(start).await {
                request.metadata.insert("display".into(), json!(display));
            }
        }
        let terms = Terms {
            subject: subject.clone(),
            tool: Arc::clone(&self.tool),
            action: self.action,
            editable,
            secret: self.secret.then(|| args.clone()),
        };
        let answer = match requests.open_permission(request, terms).outcome().await {
            PermissionOutcome::Replied(answer) => answer,
            PermissionOutcome::Settled(PermissionReply::Reject) => {
                return Err(Refusal::RejectedWithAnother { tool });
            }
            PermissionOutcome::Settled(PermissionReply::Once | PermissionReply::Always) => {
                return Ok(args);
            }
            PermissionOutcome::Nobody => return Err(Refusal::NobodyToAsk { tool }),
        };
        if answer.reply == PermissionReply::Reject {
            let message = answer.message;
            return Err(Refusal::Rejected { tool, message });
        }
        let (subject, args) = match answer.arguments {
            Some(edited) => (self.take_edited(&args, &edited).await?, edited),
            None => (subject, args),
        };
        if answer.reply == PermissionReply::Always {
            self.session.remember(&subject).await;
        }
        Ok(args)
    }

    /// Returns the subject of a person's edited arguments, and tells the
    /// assistant that its call runs with them. The rules have not judged them,
    /// so denials are checked here.
    async fn take_edited(&self, args: &Arguments, edited: &Arguments) -> Result<Subject, Refusal> {
        let root = &self.session.options.root;
        let subject = self.tool.subject(self.action, edited, root, self.secret);
        let verdict = self.session.rules_of(&self.tool).await.judge(&subject);
        if let Some((RuleAction::Deny, rule)) = verdict {
            return Err(self.denied(&subject, edited, rule));
        }
        if edited == args {
            return Ok(subject);
        }
        let tool = &self.tool.definition.name;
        let mut shown = edited.clone();
        if self.secret {
            conceal(&mut shown);
        }
        let command = shown.get("command").and_then(Value::as_str);
        let ran = match command {
            Some(command) => command.to_owned(),
            None => json!(shown).to_string(),
        };
        let notice = Notice {
            level: NoticeLevel::Warning,
            kind: NoticeKind::Edited,
            handle: self.handle.clone(),
            tool: Some(tool.clone()),
            text: format!("the user changed your call of `{tool}` before it ran; it ran as: {ran}"),
        };
        self.session.push_notice(0, notice);
        Ok(subject)
    }

    /// How long the handle that a spawn would start outlives its runtime, if it
    /// does.
    fn lease(&self) -> Option<Duration> {
        self.session.options.keeper.as_ref()?;
        let id = self.handle.as_ref()?;
        let handle = self.session.registry.lock().get(id.as_str())?;
        let lifecycle = &self.tool.definition.lifecycle;
        lifecycle.lease(handle.wants_keeping())
    }

    pub(crate) fn request(
        &self,
        subject: &Subject,
        args: &Arguments,
        editable: bool,
    ) -> PermissionRequest {
        let mut metadata = Arguments::new();
        metadata.insert("tool".into(), json!(self.tool.definition.name));
        if let Some(action) = self.action {
            metadata.insert("action".into(), json!(action));
        }
        if let Some(handle) = &self.handle {
            metadata.insert("handle".into(), json!(handle));
        }
        if self.action == Some(HandleAction::Spawn)
            && let Some(lease) = self.lease()
        {
            metadata.insert("keep_secs".into(), json!(lease.as_secs()));
        }
        let mut shown = args.clone();
        if self.secret {
            conceal(&mut shown);
        }
        metadata.insert("arguments".into(), Value::Object(shown));
        if let Some(sandbox) = &self.tool.definition.sandbox {
            metadata.insert("sandbox".into(), json!(sandbox));
        }
        if editable {
            metadata.insert("edit".into(), json!(true));
        }
        let patterns = subject.patterns.iter();
        PermissionRequest {
            id: PermissionId::from_suffix(&new_ulid()),
            session_id: self.session.id.clone(),
            permission: subject.permission.clone(),
            patterns: patterns.map(|pattern| pattern.text.clone()).collect(),
            metadata,
            always: subject.always.clone(),
            tool: Some(PermissionToolContext {
                message_id: self.message.clone(),
                call_id: self.call.to_string(),
            }),
        }
    }

    /// Records the rule that decided.
    pub(crate) fn decided(&self, subject: &Subject, args: &Arguments, rule: PermissionRule) {
        let reply = match rule.action {
            RuleAction::Deny => PermissionReply::Reject,
            RuleAction::Allow | RuleAction::Ask => PermissionReply::Once,
        };
        let decision = DecisionRecord {
            rule: Some(rule),
            ..DecisionRecord::new(Decider::Rule, Some(reply))
        };
        self.tell_decided(self.request(subject, args, false), decision);
    }

    fn tell_decided(&self, request: PermissionRequest, decision: DecisionRecord) {
        self.session
            .journal
            .append(SessionEvent::PermissionDecided {
                request: Arc::new(request),
                decision: Arc::new(decision),
            });
    }

    /// Records the rule that denied the call, and refuses it.
    fn denied(&self, subject: &Subject, args: &Arguments, rule: PermissionRule) -> Refusal {
        let refusal = Refusal::Denied {
            tool: self.tool.definition.name.clone(),
            pattern: rule.pattern.clone(),
        };
        self.decided(subject, args, rule);
        refusal
    }
}

impl SessionInner {
    /// The rules that apply to calls of a tool now.
    pub(crate) async fn rules_of<'a>(&self, tool: &'a RegisteredTool) -> Rules<'a> {
        let mut remembered = match &self.options.rules {
            Some(book) => book.remembered().await,
            None => Vec::new(),
        };
        remembered.extend(self.remembered.lock().iter().cloned());
        Rules {
            config: &tool.definition.permissions,
            floor: &tool.definition.permission_floor,
            remembered: remembered.into(),
        }
    }

    /// Remembers the rules of "always", and permits waiting requests that they
    /// cover.
    pub(crate) async fn remember(&self, subject: &Subject) {
        let rules: Vec<PermissionRule> = subject
            .always
            .iter()
            .map(|pattern| PermissionRule {
                permission: subject.permission.clone(),
                pattern: pattern.clone(),
                action: RuleAction::Allow,
            })
            .collect();
        match &self.options.rules {
            Some(book) => book.remember(rules.clone()).await,
            None => self.remembered.lock().extend(rules.clone()),
        }
        self.recent_rules.lock().clear();
        self.requests.settle_covered(&rules);
    }
}
