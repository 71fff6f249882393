//! Asks a person about a call whose sandbox has denied something.
//!
//! Start at [`PermissionCheck::permit_again`]. "Once" runs the call once
//! outside of the sandbox. "Always" adds the rules shown in the request to the
//! tool's sandbox in this project, and runs the call again inside. A one-shot
//! is rerun automatically; for a stopped handle, the assistant is told that it
//! can start it again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_protocol::{
    Arguments, Ending, HandleId, Notice, NoticeKind, NoticeLevel, PermissionReply, PermissionRule,
    RuleAction,
};

use crate::catalogue::RegisteredTool;
use crate::event::Status;
use crate::handle::Handle;
use crate::permission::PermissionCheck;
use crate::request_table::{PermissionOutcome, Terms};
use crate::rules::Rules;
use crate::session::SessionInner;
use crate::subject::Subject;

/// Whether and where a call runs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunsAgain {
    /// Not at all.
    No,
    /// Once, outside of its sandbox.
    Outside,
    /// In its sandbox, which has been widened.
    Widened,
}

/// Calls that a person has allowed once outside of the sandbox, and that the
/// assistant has not repeated yet.
#[derive(Default)]
pub(crate) struct OutsideOnce(Vec<(String, Arguments)>);

impl OutsideOnce {
    /// The maximum number of such calls.
    const MOST: usize = 64;

    fn add(&mut self, tool: &str, args: Arguments) {
        self.0.push((tool.to_owned(), args));
        if self.0.len() > Self::MOST {
            self.0.remove(0);
        }
    }

    /// Whether this call runs outside of the sandbox. Consumes the permission.
    pub(crate) fn take(&mut self, tool: &str, args: &Arguments) -> bool {
        let mut calls = self.0.iter();
        let place = calls.position(|(known, call)| known == tool && call == args);
        place.is_some_and(|place| {
            self.0.remove(place);
            true
        })
    }
}

/// A short-lived cache of the remembered rules, so that a start does not wait
/// for the store.
#[derive(Default)]
pub(crate) struct RecentRules(Option<(Instant, Arc<Vec<PermissionRule>>)>);

impl RecentRules {
    /// The lifetime of the cache: rules of other processes apply after this
    /// time.
    const FRESH: Duration = Duration::from_secs(1);

    fn fresh(&self) -> Option<Arc<Vec<PermissionRule>>> {
        let (read, rules) = self.0.as_ref()?;
        (read.elapsed() < Self::FRESH).then(|| Arc::clone(rules))
    }

    fn keep(&mut self, rules: &Arc<Vec<PermissionRule>>) {
        self.0 = Some((Instant::now(), Arc::clone(rules)));
    }

    /// Invalidates the cache after a new rule.
    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }
}

impl PermissionCheck {
    /// Asks whether a call whose program ended like this runs again. Without a
    /// person the answer is no.
    pub(crate) async fn permit_again(&self, args: &Arguments, ending: &Ending) -> RunsAgain {
        let root = &self.session.options.root;
        let mut subject = self.tool.subject(self.action, args, root, self.secret);
        subject.permission.push_str(".outside");
        let verdict = self.session.rules_of(&self.tool).await.judge(&subject);
        match verdict {
            Some((RuleAction::Deny, rule)) => {
                self.decided(&subject, args, rule);
                return RunsAgain::No;
            }
            Some((RuleAction::Allow, rule)) => {
                self.decided(&subject, args, rule);
                return RunsAgain::Outside;
            }
            Some((RuleAction::Ask, _)) | None => {}
        }
        let requests = &self.session.requests;
        if !requests.is_attended() {
            return RunsAgain::No;
        }
        let widened = self.widened(ending);
        if let Some(widened) = &widened {
            subject.always.clone_from(&widened.always);
        }
        let mut request = self.request(&subject, args, false);
        let denied = format!("no; the sandbox denied {}", ending.denied.join(", "));
        request.metadata.insert("outside".into(), json!(true));
        request.metadata.insert("sandbox".into(), json!(denied));
        if widened.is_some() {
            request.metadata.insert("widens".into(), json!(true));
        }
        let terms = Terms {
            subject: subject.clone(),
            tool: Arc::clone(&self.tool),
            action: self.action,
            editable: false,
            secret: self.secret.then(|| args.clone()),
        };
        let reply = match requests.open_permission(request, terms).outcome().await {
            PermissionOutcome::Replied(answer) => answer.reply,
            PermissionOutcome::Settled(PermissionReply::Reject) | PermissionOutcome::Nobody => {
                PermissionReply::Reject
            }
            PermissionOutcome::Settled(_) => PermissionReply::Once,
        };
        match (reply, widened) {
            (PermissionReply::Reject, _) => RunsAgain::No,
            (PermissionReply::Once, _) => RunsAgain::Outside,
            (PermissionReply::Always, Some(widened)) => {
                self.session.remember(&widened).await;
                RunsAgain::Widened
            }
            (PermissionReply::Always, None) => {
                self.session.remember(&subject).await;
                RunsAgain::Outside
            }
        }
    }

    /// The rules that "always" would add; `None` if the sandbox cannot be
    /// widened by all denials.
    fn widened(&self, ending: &Ending) -> Option<Subject> {
        let texts = &ending.widenings;
        let is_whole = !texts.is_empty() && texts.len() == ending.denied.len();
        let permission = widening_permission(&self.tool);
        is_whole.then(|| Subject::new(permission, texts.iter().cloned()).remembering(texts.clone()))
    }
}

/// Waits for the end of a handle. If its sandbox has denied something, asks a
/// person, and tells the assistant about a permission.
pub(crate) fn offer_again(
    handle: &Arc<Handle>,
    id: &HandleId,
    asking: PermissionCheck,
    args: Arguments,
) {
    let session = Arc::clone(&asking.session);
    let (handle, id) = (Arc::clone(handle), id.clone());
    windlass_task::spawn_tracked(&session.tasks.clone(), async move {
        let asked = async {
            let is_stopped = |status: &Status| matches!(status, Status::Stopped(_));
            let Status::Stopped(ending) = handle.wait_until(is_stopped).await else {
                return None;
            };
            if ending.denied.is_empty() || ending.aborted.is_some() {
                return None;
            }
            Some((asking.permit_again(&args, &ending).await, ending))
        };
        let Some(Some((runs_again, ending))) = session.closing.run_until_cancelled(asked).await
        else {
            return;
        };
        let tool = &asking.tool.definition.name;
        let text = match runs_again {
            RunsAgain::No => return,
            RunsAgain::Outside => {
                session.outside_once.lock().add(tool, args);
                "the user allowed this call to run once outside its sandbox: spawn it again with \
                 the same arguments"
                    .to_owned()
            }
            RunsAgain::Widened => format!(
                "the user has widened the sandbox of `{tool}` ({}): spawn it again if it is still needed",
                ending.widenings.join(", ")
            ),
        };
        let notice = Notice {
            level: NoticeLevel::Info,
            kind: NoticeKind::Sandbox,
            handle: Some(id),
            tool: Some(tool.clone()),
            text,
        };
        session.push_notice(0, notice);
    });
}

impl SessionInner {
    /// The additional rules of a tool's sandbox that a person has allowed and
    /// no rule denies.
    pub(crate) async fn widenings(&self, tool: &RegisteredTool) -> Vec<String> {
        if tool.definition.sandbox.is_none() {
            return Vec::new();
        }
        let permission = widening_permission(tool);
        let recent = self.recent_rules.lock().fresh();
        let remembered = if let Some(rules) = recent {
            rules
        } else {
            let rules = Arc::new(self.rules_of(tool).await.remembered.into_owned());
            self.recent_rules.lock().keep(&rules);
            rules
        };
        let rules = Rules {
            config: &tool.definition.permissions,
            floor: &tool.definition.permission_floor,
            remembered: remembered.as_slice().into(),
        };
        let made = remembered
            .iter()
            .filter(|rule| rule.permission == permission && rule.action == RuleAction::Allow);
        let mut texts: Vec<String> = Vec::new();
        for rule in made {
            let subject = Subject::new(&*permission, [rule.pattern.as_str()]);
            let is_allowed = matches!(rules.judge(&subject), Some((RuleAction::Allow, _)));
            if is_allowed && !texts.contains(&rule.pattern) {
                texts.push(rule.pattern.clone());
            }
        }
        texts
    }
}

fn widening_permission(tool: &RegisteredTool) -> String {
    format!("{}.sandbox", tool.definition.name)
}
