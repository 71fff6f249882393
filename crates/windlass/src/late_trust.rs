//! Trust that is given while sessions are running.
//!
//! Start at [`Windlass::await_trust`], for front ends that an agent has started
//! and that nobody watches. Every session then asks its person, among its other
//! requests. The first answer on any front end applies to all. `windlass trust`
//! in a terminal answers too.

use std::sync::{Arc, OnceLock};

use futures_util::future::{Either, select};
use tokio::sync::{Notify, mpsc};
use windlass_config::{LoadOptions, ProjectState, TrustQuestion};
use windlass_runtime::Session;
use windlass_runtime::protocol::{AnswerType, Notice, NoticeKind, NoticeLevel, Question};

use crate::build::Windlass;
use crate::builder::LateReport;
use crate::trust::TrustStore;

/// A project that waits for its user's trust.
pub(crate) struct LateTrust {
    options: LoadOptions,
    store: TrustStore,
    report: LateReport,
    /// The open question; `None` once decided.
    question: parking_lot::Mutex<Option<TrustQuestion>>,
    answers: mpsc::UnboundedSender<bool>,
    /// The user may have decided in another process.
    look: Arc<Notify>,
    /// The set-up that came of the trust.
    pub(crate) taken: OnceLock<Box<Windlass>>,
}

impl Windlass {
    /// Asks in every session whether the project is trusted, unless it is. Once
    /// it is, its tools are offered in all sessions, including running ones.
    /// `options` are those with which the configuration was loaded, and `store`
    /// keeps the answer. Problems of the project's tools are passed to
    /// `report`.
    pub fn await_trust(
        self: &Arc<Self>,
        options: LoadOptions,
        store: TrustStore,
        report: impl Fn(&str) + Send + Sync + 'static,
    ) {
        let ProjectState::Untrusted(question) = &self.config().project else {
            return;
        };
        // A person who has said no to it, or cannot be served by a yes, is
        // not asked; `windlass trust` still reaches it.
        let is_asked = question.broken.is_none() && !store.is_declined(&question.content);
        let (answers, mut answered) = mpsc::unbounded_channel();
        let look = Arc::new(Notify::new());
        let late = LateTrust {
            options,
            store,
            report: Arc::new(report),
            question: parking_lot::Mutex::new(is_asked.then(|| (**question).clone())),
            answers,
            look: Arc::clone(&look),
            taken: OnceLock::new(),
        };
        if self.late_trust.set(late).is_err() {
            return;
        }
        let windlass = Arc::downgrade(self);
        windlass_task::spawn(async move {
            loop {
                let answer = {
                    let looked = std::pin::pin!(look.notified());
                    let answer = std::pin::pin!(answered.recv());
                    match select(answer, looked).await {
                        // The runtime has ended.
                        Either::Left((None, _)) => return,
                        Either::Left((answer, _)) => answer,
                        Either::Right(_) => None,
                    }
                };
                let Some(windlass) = windlass.upgrade() else {
                    return;
                };
                if windlass.take_trust(answer).await {
                    return;
                }
            }
        });
    }

    /// Looks whether the project has been trusted meanwhile.
    pub fn look_again(&self) {
        if let Some(late) = self.late_trust.get() {
            late.look.notify_one();
        }
    }

    /// Notifies a new session of the state of the project's files.
    pub(crate) fn tell_of_trust(&self, session: &Session) {
        let why = match &self.config().project {
            ProjectState::Empty | ProjectState::Trusted(_) => return,
            ProjectState::Untrusted(_) => "the user has not trusted them",
            ProjectState::Refused(_) => "they are refused",
        };
        let late = self.late_trust.get();
        if late.is_some_and(|late| late.taken.get().is_some()) {
            return;
        }
        session.notify(notice(format!(
            "The project has its own tools and settings, which have no effect: {why}. \
             Only built-in tools and the user's own configuration are available. The user decides \
             about this; continue with the available tools."
        )));
        if let Some(late) = late {
            late.ask(session);
        }
    }

    /// Applies an answer, or looks for one. Returns whether the project's tools
    /// are offered now.
    async fn take_trust(&self, answer: Option<bool>) -> bool {
        let Some(late) = self.late_trust.get() else {
            return false;
        };
        let question = late.question.lock().clone();
        let kept = match (answer, &question) {
            (Some(true), Some(question)) => late.store.trust(&question.content),
            (Some(false), Some(question)) => late.store.decline(&question.content),
            _ => Ok(()),
        };
        if let Err(error) = kept {
            (late.report)(&format!("the decision cannot be recorded: {error}"));
        }
        if answer == Some(false) {
            *late.question.lock() = None;
            self.ask_everywhere(late);
            return false;
        }
        let config = match windlass_config::load(&late.options) {
            Ok(config) => config,
            Err(error) => {
                (late.report)(&format!("the configuration is invalid\n{error}"));
                return false;
            }
        };
        match &config.project {
            ProjectState::Trusted(_) => {}
            // It has changed since it was asked about.
            ProjectState::Untrusted(changed) if answer.is_some() || question.is_some() => {
                if question.as_ref() != Some(changed) || answer.is_some() {
                    *late.question.lock() = Some((**changed).clone());
                    self.ask_everywhere(late);
                }
                return false;
            }
            _ => return false,
        }
        let mut catalogue = self.runtime().tools().successor();
        for name in &self.embedded {
            if let Some(tool) = self.runtime().tools().get(name) {
                catalogue.share(tool);
            }
        }
        let mut builder = Self::builder(config);
        builder.late_servers = Some(Arc::clone(&late.report));
        builder.agents.clone_from(&self.agents);
        builder.onto = Some((self.launcher().clone(), catalogue));
        let built = match Box::pin(builder.build()).await {
            Ok(built) => built,
            Err(error) => {
                (late.report)(&format!("the project's tools cannot be offered: {error}"));
                return false;
            }
        };
        for warning in built.warnings() {
            (late.report)(warning);
        }
        self.runtime().replace_tools(built.runtime());
        let _ = late.taken.set(Box::new(built));
        *late.question.lock() = None;
        self.ask_everywhere(late);
        let told = "The user has trusted the project: its own tools and settings are in effect from now \
             on.";
        let announcer = self.runtime().tools().announcer();
        announcer.announce(&notice(told.to_owned()));
        true
    }

    /// Replaces the open question in every session by the current one.
    fn ask_everywhere(&self, late: &LateTrust) {
        for (session, _) in self.runtime().sessions().list() {
            session.requests().withdraw_trust();
            if !session.works_for_another() {
                late.ask(&session);
            }
        }
    }
}

impl LateTrust {
    fn ask(&self, session: &Session) {
        if let Some(question) = &*self.question.lock() {
            let asked = asked(question, &self.store);
            session.requests().open_trust(asked, self.answers.clone());
        }
    }
}

fn notice(text: String) -> Notice {
    Notice {
        level: NoticeLevel::Info,
        kind: NoticeKind::Trust,
        handle: None,
        tool: None,
        text,
    }
}

/// The question for a person.
fn asked(question: &TrustQuestion, store: &TrustStore) -> Question {
    let root = question.content.root.display();
    let lists = [
        ("Started without a call:", &question.starts),
        ("It wants to:", &question.wants),
        ("It offers tools:", &question.offers),
    ];
    let mut details = Vec::new();
    for (title, lines) in lists {
        if !lines.is_empty() {
            details.push(title.to_owned());
            details.extend(lines.iter().map(|line| format!("  {line}")));
        }
    }
    let record = store.find(&question.content.root);
    let record = record.filter(|record| record.is_trusted);
    let text = match &record {
        Some(_) => {
            format!(
                "The project {root} has changed since you trusted it. Trust its present \
                     content?"
            )
        }
        None => format!(
            "Trust the project {root}, so that its own configuration and tools take \
                         effect?"
        ),
    };
    if let Some(record) = record {
        details.push("Changed since you trusted it:".to_owned());
        details.push(record.difference(&question.content));
    }
    Question {
        id: "trust".to_owned(),
        text,
        pre_amble: Some(details.join("\n")),
        answer_type: AnswerType::Boolean,
        default: None,
        secret: false,
    }
}
