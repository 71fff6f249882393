//! Permission checks before a call runs.
//!
//! Start at [`PermissionCheck::permit`]. `rules.rs` evaluates the rules; this module acts on the verdict and on a person's reply.
//! `pending.rs` has the open requests.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_protocol::{
    Arguments, Decider, DecisionRecord, HandleAction, HandleId, MessageId, Notice, NoticeKind,
    NoticeLevel, PermissionAnswer, PermissionId, PermissionReply, PermissionRequest,
    PermissionRule, PermissionToolContext, RuleAction, RunMode, Start,
};

use crate::arguments::{check_typed, conceal, reveal};
use crate::catalogue::{RegisteredTool, Runs};
use crate::job::TypedCommands;
use crate::journal::SessionEvent;
use crate::pattern::is_literal;
use crate::refusal::Refusal;
use crate::request_table::{EditCheck, PermissionOutcome, Terms};
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
        let subject = self.subject(&args);
        match (self.judge(&subject).await, mode) {
            (Some((RuleAction::Deny, rule)), _) => {
                let refusal = self.denied(&rule);
                self.decided(&subject, &args, rule);
                Err(refusal)
            }
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
        let verdict = self.judge(&subject).await;
        let asks = match verdict {
            Some((RuleAction::Deny, rule)) => {
                let refusal = self.denied(&rule);
                self.decided(&subject, args, rule);
                return Err(refusal);
            }
            Some((RuleAction::Ask, _)) => true,
            Some((RuleAction::Allow, _)) => false,
            None => {
                let mode = mode(&self.session, &self.tool, Some(HandleAction::Spawn));
                let asked_to_start = matches!(mode, RunMode::Ask | RunMode::Edit);
                started == GrantedBy::Rule
                    && asked_to_start
                    && !self.allows_reader(&commands.reader).await
            }
        };
        if asks {
            self.ask(subject, args.clone(), false).await?;
        }
        Ok(Granted(asks))
    }

    /// Whether a rule allows the program with any arguments, or without
    /// arguments.
    async fn allows_reader(&self, reader: &str) -> bool {
        let pattern = SubjectPattern {
            known: format!("{reader} {UNKNOWN}"),
            ..SubjectPattern::from(reader)
        };
        let subject = Subject::new(&self.tool.definition.name, [pattern]);
        matches!(self.judge(&subject).await, Some((RuleAction::Allow, _)))
    }

    async fn ask(
        &self,
        subject: Subject,
        args: Arguments,
        editable: bool,
    ) -> Result<Arguments, Refusal> {
        let mut request = self.request(&subject, &args, editable);
        let requests = &self.session.requests;
        if !requests.is_attended() {
            let decision = DecisionRecord::new(Decider::Nobody, None);
            self.tell_decided(request, decision);
            return Err(self.nobody());
        }
        if let Some(display) = self.formatted(&args).await {
            request.metadata.insert("display".into(), json!(display));
        }
        let terms = Terms {
            subject: subject.clone(),
            config: self.tool.definition.permissions.clone(),
            floor: self.tool.definition.permission_floor.clone(),
            editable,
            secret: self.secret,
            check: self.edit_check(&args),
        };
        match requests.open_permission(request, terms).outcome().await {
            PermissionOutcome::Replied(answer) => self.carry_out(subject, args, answer).await,
            PermissionOutcome::Settled(PermissionReply::Reject) => Err(self.rejected_too()),
            PermissionOutcome::Settled(PermissionReply::Once | PermissionReply::Always) => Ok(args),
            PermissionOutcome::Nobody => Err(self.nobody()),
        }
    }

    async fn carry_out(
        &self,
        subject: Subject,
        args: Arguments,
        answer: PermissionAnswer,
    ) -> Result<Arguments, Refusal> {
        if answer.reply == PermissionReply::Reject {
            return Err(self.rejected(answer.message.as_deref()));
        }
        let (subject, args) = match answer.arguments {
            Some(edited) => {
                let (subject, edited) = self.edited(&args, edited).await?;
                if edited != args {
                    self.tell_edited(&edited);
                }
                (subject, edited)
            }
            None => (subject, args),
        };
        if answer.reply == PermissionReply::Always {
            self.session.remember(&subject).await;
        }
        Ok(args)
    }

    /// Tells the assistant that its call runs with edited arguments.
    fn tell_edited(&self, args: &Arguments) {
        let tool = &self.tool.definition.name;
        let shown = self.shown(args.clone());
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
    }

    /// The check for a person's edited arguments, run at the reply: a mistake
    /// in them is reported to the person, not to the assistant.
    pub(crate) fn edit_check(&self, args: &Arguments) -> EditCheck {
        let tool = Arc::clone(&self.tool);
        let (action, secret) = (self.action, self.secret);
        // Only a secret has to be put back before it is checked.
        let original = secret.then(|| args.clone());
        Box::new(move |edited| {
            let mut edited = edited.clone();
            if let Some(original) = &original {
                reveal(&mut edited, original);
            }
            match action {
                None | Some(HandleAction::Spawn) => tool.validate(edited).map(drop),
                Some(HandleAction::Apply) => check_typed(&edited),
                Some(HandleAction::Fetch | HandleAction::Abort) => Ok(()),
            }
        })
    }

    /// A person's edited arguments, and their subject. The rules have not
    /// judged them, so denials are checked here.
    async fn edited(
        &self,
        args: &Arguments,
        mut edited: Arguments,
    ) -> Result<(Subject, Arguments), Refusal> {
        if self.secret {
            reveal(&mut edited, args);
        }
        let edited = match self.action {
            None | Some(HandleAction::Spawn) => self.tool.validate(edited)?,
            Some(_) => edited,
        };
        let subject = self.subject(&edited);
        match self.judge(&subject).await {
            Some((RuleAction::Deny, rule)) => {
                let refusal = self.denied(&rule);
                self.decided(&subject, &edited, rule);
                Err(refusal)
            }
            _ => Ok((subject, edited)),
        }
    }

    pub(crate) async fn judge(&self, subject: &Subject) -> Option<(RuleAction, PermissionRule)> {
        let remembered = self.session.remembered_rules().await;
        let rules = Rules {
            config: &self.tool.definition.permissions,
            floor: &self.tool.definition.permission_floor,
            remembered: &remembered,
        };
        rules.judge(subject)
    }

    pub(crate) fn subject(&self, args: &Arguments) -> Subject {
        if self.secret {
            let shown = self.shown(args.clone());
            let mut subject =
                subject_of(&self.tool, self.action, &shown, &self.session.options.root);
            subject.always.clear();
            return subject;
        }
        subject_of(&self.tool, self.action, args, &self.session.options.root)
    }

    /// The arguments as others may see them.
    fn shown(&self, mut args: Arguments) -> Arguments {
        if self.secret {
            conceal(&mut args);
        }
        args
    }

    /// The tool's own rendering of the call, if it has one.
    async fn formatted(&self, args: &Arguments) -> Option<String> {
        let Runs::Executor(executor) = &self.tool.runs else {
            return None;
        };
        if !matches!(self.action, None | Some(HandleAction::Spawn)) {
            return None;
        }
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
        executor.format_arguments(start).await
    }

    /// How long the handle that the call would start outlives its runtime, if it does.
    fn lease(&self) -> Option<Duration> {
        if self.action != Some(HandleAction::Spawn) {
            return None;
        }
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
        if let Some(lease) = self.lease() {
            metadata.insert("keep_secs".into(), json!(lease.as_secs()));
        }
        metadata.insert("arguments".into(), json!(self.shown(args.clone())));
        if let Some(sandbox) = &self.tool.definition.sandbox {
            metadata.insert("sandbox".into(), json!(sandbox));
        }
        if editable {
            metadata.insert("edit".into(), json!(true));
        }
        PermissionRequest {
            id: PermissionId::from_suffix(&new_ulid()),
            session_id: self.session.id.clone(),
            permission: subject.permission.clone(),
            patterns: subject.texts(),
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

    fn nobody(&self) -> Refusal {
        let tool = self.tool.definition.name.clone();
        Refusal::NobodyToAsk { tool }
    }

    fn denied(&self, rule: &PermissionRule) -> Refusal {
        Refusal::Denied {
            tool: self.tool.definition.name.clone(),
            pattern: rule.pattern.clone(),
        }
    }

    fn rejected(&self, message: Option<&str>) -> Refusal {
        Refusal::Rejected {
            tool: self.tool.definition.name.clone(),
            message: message.map(str::to_owned),
        }
    }

    fn rejected_too(&self) -> Refusal {
        let tool = self.tool.definition.name.clone();
        Refusal::RejectedWithAnother { tool }
    }
}

impl SessionInner {
    pub(crate) async fn remembered_rules(&self) -> Vec<PermissionRule> {
        let mut rules = match &self.options.rules {
            Some(book) => book.remembered().await,
            None => Vec::new(),
        };
        rules.extend(self.remembered.lock().iter().cloned());
        rules
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

/// The subject of a permission request: described by the executor for a start,
/// otherwise the text to be typed or the tool.
pub(crate) fn subject_of(
    tool: &RegisteredTool,
    action: Option<HandleAction>,
    args: &Arguments,
    root: &Path,
) -> Subject {
    let name = &tool.definition.name;
    match (&tool.runs, action) {
        (Runs::Executor(executor), None | Some(HandleAction::Spawn)) => {
            executor.subject(&tool.definition, args, root)
        }
        (_, Some(HandleAction::Apply)) => {
            let typed = typed_text(args);
            // A remembered `*` would stand for more than was typed.
            let always = Some(typed.clone()).filter(|typed| is_literal(typed));
            Subject::new(format!("{name}.apply"), [typed]).remembering(always)
        }
        (_, Some(action)) => {
            Subject::new(format!("{name}.{action}"), [name.as_str()]).remembering([name])
        }
        (_, None) => Subject::new(name, [name.as_str()]).remembering([name]),
    }
}

/// The text to be typed, followed by keys in angle brackets.
fn typed_text(args: &Arguments) -> String {
    let mut text = match args.get("input") {
        None => String::new(),
        Some(Value::String(text)) => text.trim_end_matches(['\r', '\n']).to_owned(),
        Some(other) => other.to_string(),
    };
    let keys = args.get("keys").and_then(Value::as_array);
    for key in keys.into_iter().flatten().filter_map(Value::as_str) {
        text.push('<');
        text.push_str(key);
        text.push('>');
    }
    text
}
