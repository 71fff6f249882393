//! Asking before something runs.
//!
//! Start at [`Asking::permit`]. What the rules say is in `rules.rs`; here is
//! what becomes of it, who is asked, and how one reply settles others.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::Poll;

use futures_util::poll;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use windlass_protocol::{
    Arguments, Decider, DecisionRecord, HandleAction, PermissionId, PermissionReply,
    PermissionRequest, PermissionRule, PermissionToolContext, RuleAction, RunMode, Start,
};

use crate::arguments::conceal;
use crate::catalogue::{RegisteredTool, Runs};
use crate::executor::Subject;
use crate::journal::SessionEvent;
use crate::part::CallPart;
use crate::pattern::is_literal;
use crate::person::PermissionDecision;
use crate::refusal::Refusal;
use crate::rules::{Rules, speak};
use crate::session::{SessionInner, new_ulid};

/// What is allowed.
pub(crate) enum Permit {
    /// It runs, with these arguments.
    Run(Arguments),
    /// It does not run, and that is no error.
    Skip,
}

/// What a session knows of permissions.
#[derive(Default)]
pub(crate) struct Permissions {
    /// What an "always" of this session has allowed.
    remembered: Mutex<Vec<PermissionRule>>,
    /// Requests that nobody has replied to.
    pending: Mutex<HashMap<PermissionId, Pending>>,
}

struct Pending {
    subject: Subject,
    config: Vec<PermissionRule>,
    editable: bool,
    settle: oneshot::Sender<PermissionReply>,
}

/// One call that may need permission.
pub(crate) struct Asking<'a> {
    pub(crate) session: &'a SessionInner,
    pub(crate) tool: &'a RegisteredTool,
    pub(crate) call: &'a CallPart<'a>,
    pub(crate) action: Option<HandleAction>,
}

impl Asking<'_> {
    /// Asks by the rules and by the tool's policy for the action. Dropping the
    /// future withdraws the request.
    pub(crate) async fn permit(&self, args: Arguments) -> Result<Permit, Refusal> {
        let definition = &self.tool.definition;
        let for_client = definition.run_for_client;
        let for_client = for_client.filter(|_| self.session.options.client_asks);
        let mode = for_client.unwrap_or(definition.run).mode(self.action);
        if mode == RunMode::Skip {
            return Ok(Permit::Skip);
        }
        let unasked = mode == RunMode::Unattended && definition.permissions.is_empty();
        if self.session.options.trusted || unasked || !speak(self.action, mode) {
            return Ok(Permit::Run(args));
        }
        let subject = self.subject(&args);
        let remembered = self.session.remembered_rules().await;
        let rules = Rules {
            config: &definition.permissions,
            remembered: &remembered,
        };
        match (rules.judge(&subject), mode) {
            (Some((RuleAction::Deny, rule)), _) => {
                let refusal = self.denied(&rule);
                self.decided(&subject, &args, rule);
                Err(refusal)
            }
            (Some((RuleAction::Allow, rule)), RunMode::Ask | RunMode::Unattended) => {
                self.decided(&subject, &args, rule);
                Ok(Permit::Run(args))
            }
            (None, RunMode::Unattended) => Ok(Permit::Run(args)),
            (_, mode) => self.ask(subject, args, mode == RunMode::Edit).await,
        }
    }

    async fn ask(
        &self,
        subject: Subject,
        args: Arguments,
        editable: bool,
    ) -> Result<Permit, Refusal> {
        let mut request = self.request(&subject, &args, editable);
        let Some(person) = &self.session.options.person else {
            let decision = DecisionRecord::new(Decider::Nobody, None);
            self.tell_decided(request, decision);
            return Err(self.nobody());
        };
        if let Some(display) = self.formatted(&args).await {
            request.metadata.insert("display".into(), json!(display));
        }
        let request = Arc::new(request);
        let (settle, settled) = oneshot::channel();
        let pending = Pending {
            subject: subject.clone(),
            config: self.tool.definition.permissions.clone(),
            editable,
            settle,
        };
        let permissions = &self.session.permissions;
        permissions
            .pending
            .lock()
            .insert(request.id.clone(), pending);
        let open = Open(self.session, &request.id);
        // It is asked before it is told: whoever hears of it may answer at once.
        let mut asking = person.permit(&request);
        let at_once = poll!(&mut asking);
        self.session
            .tell(SessionEvent::PermissionAsked(Arc::clone(&request)));
        let answered = async {
            match at_once {
                Poll::Ready(decision) => decision,
                Poll::Pending => asking.await,
            }
        };
        let decision = tokio::select! {
            biased;
            Ok(reply) = settled => {
                open.close(DecisionRecord::new(Decider::Another, Some(reply)));
                return match reply {
                    PermissionReply::Reject => Err(self.rejected_too()),
                    PermissionReply::Once | PermissionReply::Always => Ok(Permit::Run(args)),
                };
            }
            decision = answered => decision,
        };
        let Some(decision) = decision else {
            open.close(DecisionRecord::new(Decider::Nobody, None));
            return Err(self.nobody());
        };
        open.close(DecisionRecord {
            message: decision.message.clone(),
            arguments: decision.arguments.clone().map(|args| self.shown(args)),
            ..DecisionRecord::new(Decider::Person, Some(decision.reply))
        });
        self.carry_out(&subject, args, decision).await
    }

    async fn carry_out(
        &self,
        subject: &Subject,
        args: Arguments,
        decision: PermissionDecision,
    ) -> Result<Permit, Refusal> {
        match decision.reply {
            PermissionReply::Reject => {
                self.session.reject_pending();
                return Err(self.rejected(decision.message.as_deref()));
            }
            PermissionReply::Always => self.session.remember(subject).await,
            PermissionReply::Once => {}
        }
        self.accepted(args, decision.arguments)
    }

    fn accepted(&self, args: Arguments, edited: Option<Arguments>) -> Result<Permit, Refusal> {
        let Some(edited) = edited else {
            return Ok(Permit::Run(args));
        };
        let edited = match self.action {
            None | Some(HandleAction::Spawn) => self.tool.validate(edited)?,
            Some(_) => edited,
        };
        Ok(Permit::Run(edited))
    }

    fn subject(&self, args: &Arguments) -> Subject {
        if self.call.is_secret() {
            let shown = self.shown(args.clone());
            let mut subject = subject_of(self.tool, self.action, &shown);
            subject.always.clear();
            return subject;
        }
        subject_of(self.tool, self.action, args)
    }

    /// The arguments as others may see them.
    fn shown(&self, mut args: Arguments) -> Arguments {
        if self.call.is_secret() {
            conceal(&mut args);
        }
        args
    }

    /// What would be started, in the tool's own words, where it has any.
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
            tool: Arc::clone(&self.tool.definition),
            args: args.clone(),
        };
        executor.format_arguments(start).await
    }

    fn request(&self, subject: &Subject, args: &Arguments, editable: bool) -> PermissionRequest {
        let mut metadata = Arguments::new();
        metadata.insert("tool".into(), json!(self.tool.definition.name));
        if let Some(action) = self.action {
            metadata.insert("action".into(), json!(action));
        }
        metadata.insert("arguments".into(), json!(self.shown(args.clone())));
        if editable {
            metadata.insert("edit".into(), json!(true));
        }
        PermissionRequest {
            id: PermissionId::from_suffix(&new_ulid()),
            session_id: self.session.id.clone(),
            permission: subject.permission.clone(),
            patterns: subject.patterns.clone(),
            metadata,
            always: subject.always.clone(),
            tool: Some(PermissionToolContext {
                message_id: self.call.message.clone(),
                call_id: self.call.id.to_string(),
            }),
        }
    }

    /// A rule has decided, and the record says which.
    fn decided(&self, subject: &Subject, args: &Arguments, rule: PermissionRule) {
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
        self.session.tell(SessionEvent::PermissionDecided {
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
    async fn remembered_rules(&self) -> Vec<PermissionRule> {
        let mut rules = match &self.options.rules {
            Some(book) => book.remembered().await,
            None => Vec::new(),
        };
        rules.extend(self.permissions.remembered.lock().iter().cloned());
        rules
    }

    /// Remembers what an "always" allows, and lets what waits for just that
    /// go on.
    async fn remember(&self, subject: &Subject) {
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
            None => self.permissions.remembered.lock().extend(rules.clone()),
        }
        let covered = |pending: &Pending| {
            let rules = Rules {
                config: &pending.config,
                remembered: &rules,
            };
            let verdict = rules.judge(&pending.subject);
            !pending.editable && matches!(verdict, Some((RuleAction::Allow, _)))
        };
        self.settle(PermissionReply::Always, covered);
    }

    /// A rejection stands for everything that is being asked.
    fn reject_pending(&self) {
        self.settle(PermissionReply::Reject, |_| true);
    }

    fn settle(&self, reply: PermissionReply, wanted: impl Fn(&Pending) -> bool) {
        let mut pending = self.permissions.pending.lock();
        for (_, pending) in pending.extract_if(|_, pending| wanted(pending)) {
            // One that was withdrawn in this moment needs no answer.
            let _ = pending.settle.send(reply);
        }
    }
}

/// What a person is asked to permit. Starting something is the executor's to
/// describe; of the rest it is what would be typed, or which tool.
pub(crate) fn subject_of(
    tool: &RegisteredTool,
    action: Option<HandleAction>,
    args: &Arguments,
) -> Subject {
    let name = &tool.definition.name;
    match (&tool.runs, action) {
        (Runs::Executor(executor), None | Some(HandleAction::Spawn)) => {
            executor.subject(&tool.definition, args)
        }
        (_, Some(HandleAction::Apply)) => {
            let typed = typed_text(args);
            Subject {
                permission: format!("{name}.apply"),
                // A remembered `*` would stand for more than was typed.
                always: vec![typed.clone()]
                    .into_iter()
                    .filter(|typed| is_literal(typed))
                    .collect(),
                patterns: vec![typed],
                exact: false,
            }
        }
        (_, action) => {
            let permission = match action {
                Some(action) => format!("{name}.{action}"),
                None => name.clone(),
            };
            Subject {
                permission,
                patterns: vec![name.clone()],
                always: vec![name.clone()],
                exact: false,
            }
        }
    }
}

/// What would be typed, keys after the text in angle brackets.
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

/// A request that is being asked. Dropping it withdraws it.
struct Open<'a>(&'a SessionInner, &'a PermissionId);

impl Open<'_> {
    fn close(self, decision: DecisionRecord) {
        self.tell(decision);
        std::mem::forget(self);
    }

    fn tell(&self, decision: DecisionRecord) {
        self.0.permissions.pending.lock().remove(self.1);
        self.0.tell(SessionEvent::PermissionReplied {
            id: self.1.clone(),
            decision: Arc::new(decision),
        });
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.tell(DecisionRecord::new(Decider::Withdrawn, None));
    }
}
