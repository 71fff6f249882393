//! Asking before something runs.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use windlass_protocol::{
    Arguments, Decider, DecisionRecord, HandleAction, PermissionId, PermissionReply,
    PermissionRequest, PermissionToolContext,
};

use crate::arguments::conceal;

use crate::catalogue::{RegisteredTool, Runs};
use crate::executor::{Start, Subject};
use crate::journal::SessionEvent;
use crate::part::CallPart;
use crate::person::PermissionDecision;
use crate::refusal::Refusal;
use crate::session::{SessionInner, new_ulid};
use crate::tool::RunMode;

/// What is allowed.
pub(crate) enum Permit {
    /// It runs, with these arguments.
    Run(Arguments),
    /// It does not run, and that is no error.
    Skip,
}

/// What an "always" has allowed, as permission and pattern.
#[derive(Debug, Default)]
pub(crate) struct Remembered(HashSet<(String, String)>);

impl Remembered {
    fn covers(&self, subject: &Subject) -> bool {
        let allowed = |pattern: &String| {
            self.0.iter().any(|(permission, rule)| {
                *permission == subject.permission
                    && (rule == pattern || !subject.exact && matches_rule(rule, pattern))
            })
        };
        !subject.patterns.is_empty() && subject.patterns.iter().all(allowed)
    }

    fn remember(&mut self, subject: &Subject) {
        for pattern in &subject.always {
            self.0.insert((subject.permission.clone(), pattern.clone()));
        }
    }
}

/// A rule is a pattern; ` *` at its end stands for any further words, and `*`
/// alone for anything.
fn matches_rule(rule: &str, pattern: &str) -> bool {
    if rule == "*" {
        return true;
    }
    match rule.strip_suffix(" *") {
        Some(prefix) => pattern
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
        None => rule == pattern,
    }
}

/// One call that may need permission.
pub(crate) struct Asking<'a> {
    pub(crate) session: &'a SessionInner,
    pub(crate) tool: &'a RegisteredTool,
    pub(crate) call: &'a CallPart<'a>,
    pub(crate) action: Option<HandleAction>,
}

impl Asking<'_> {
    /// Asks by the tool's policy for the action. Dropping the future withdraws
    /// the request.
    pub(crate) async fn permit(&self, args: Arguments) -> Result<Permit, Refusal> {
        let editable = match self.tool.definition.run.mode(self.action) {
            RunMode::Unattended => return Ok(Permit::Run(args)),
            RunMode::Skip => return Ok(Permit::Skip),
            RunMode::Ask => false,
            RunMode::Edit => true,
        };
        let options = &self.session.options;
        if options.trusted {
            return Ok(Permit::Run(args));
        }
        let subject = self.subject(&args);
        if !editable && self.session.remembered.lock().covers(&subject) {
            return Ok(Permit::Run(args));
        }
        let Some(person) = &options.person else {
            return Err(self.nobody());
        };
        let mut request = self.request(&subject, &args, editable);
        if let Some(display) = self.formatted(&args).await {
            request.metadata.insert("display".into(), json!(display));
        }
        let request = Arc::new(request);
        let withdraw = Withdraw(self.session, Some(&request.id));
        self.session
            .tell(SessionEvent::PermissionAsked(Arc::clone(&request)));
        let decision = person.permit(&request).await;
        withdraw.replied(decision.as_ref());
        let Some(decision) = decision else {
            return Err(self.nobody());
        };
        match decision.reply {
            PermissionReply::Reject => Err(self.rejected(decision.message.as_deref())),
            PermissionReply::Once => self.accepted(args, decision.arguments),
            PermissionReply::Always => {
                self.session.remembered.lock().remember(&subject);
                self.accepted(args, decision.arguments)
            }
        }
    }

    fn accepted(&self, args: Arguments, edited: Option<Arguments>) -> Result<Permit, Refusal> {
        let Some(edited) = edited else {
            return Ok(Permit::Run(args));
        };
        if matches!(self.action, None | Some(HandleAction::Spawn)) {
            self.tool.validate(&edited).map_err(Refusal::Invalid)?;
        }
        Ok(Permit::Run(edited))
    }

    fn subject(&self, args: &Arguments) -> Subject {
        match &self.tool.runs {
            Runs::Executor(executor) => executor.subject(&self.tool.definition, args),
            Runs::Builtin(_) => {
                let name = self.tool.definition.name.clone();
                Subject {
                    permission: name.clone(),
                    patterns: vec![name.clone()],
                    always: vec![name],
                    exact: false,
                }
            }
        }
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
            root: self.session.options.root.clone(),
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
        let mut args = args.clone();
        if self.call.is_secret() {
            conceal(&mut args);
        }
        metadata.insert("arguments".into(), json!(args));
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

    fn nobody(&self) -> Refusal {
        let name = &self.tool.definition.name;
        Refusal::Rejected(format!(
            "`{name}` needs permission and nobody can be asked; \
             set `run = \"unattended\"` under [conversation.tools.{name}] to allow it"
        ))
    }

    fn rejected(&self, message: Option<&str>) -> Refusal {
        let name = &self.tool.definition.name;
        Refusal::Rejected(match message {
            Some(message) => format!("the user rejected `{name}`: {message}"),
            None => format!("the user rejected `{name}`; nothing has run"),
        })
    }
}

/// Tells that a request is closed, also when its asking is dropped.
struct Withdraw<'a>(&'a SessionInner, Option<&'a PermissionId>);

impl Withdraw<'_> {
    fn replied(mut self, decision: Option<&PermissionDecision>) {
        self.close(match decision {
            None => DecisionRecord::new(Decider::Nobody, None),
            Some(decision) => DecisionRecord {
                message: decision.message.clone(),
                arguments: decision.arguments.clone(),
                ..DecisionRecord::new(Decider::Person, Some(decision.reply))
            },
        });
    }

    fn close(&mut self, decision: DecisionRecord) {
        if let Some(id) = self.1.take() {
            self.0.tell(SessionEvent::PermissionReplied {
                id: id.clone(),
                decision: Arc::new(decision),
            });
        }
    }
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.close(DecisionRecord::new(Decider::Withdrawn, None));
    }
}
