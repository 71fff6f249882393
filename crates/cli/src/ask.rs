//! The models that `windlass serve` lets people ask on its page.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use windlass::{Assistants, ChooseModelError, Resume, Windlass};
use windlass_assistant::{Assistant, Audience, Heard, Interjection, KnownProvider, ModelEvent};
use windlass_control::{AskBackend, AskEvent, AskInterjection, AskListener, AskRefusal, AskTalk};
use windlass_protocol::{AskModels, AskProvider};
use windlass_runtime::{Attendance, Session, SessionOptions};

/// Asks the providers of a project.
pub(crate) struct ProjectModels(Arc<ModelTable>);

struct ModelTable {
    windlass: Arc<Windlass>,
    /// By model name.
    assistants: Mutex<HashMap<String, Arc<Assistants>>>,
    /// By session id.
    talks: Mutex<HashMap<String, Arc<Talk>>>,
}

/// A conversation and its assistant.
struct Talk {
    assistant: Assistant,
    model: String,
    /// Keeps the assistants alive: without them its assistant could not start
    /// agents.
    _assistants: Arc<Assistants>,
}

impl ProjectModels {
    pub(crate) fn new(windlass: &Arc<Windlass>) -> Self {
        Self(Arc::new(ModelTable {
            windlass: Arc::clone(windlass),
            assistants: Mutex::default(),
            talks: Mutex::default(),
        }))
    }
}

impl AskBackend for ProjectModels {
    fn models(&self) -> BoxFuture<'static, AskModels> {
        let inner = Arc::clone(&self.0);
        async move { inner.models().await }.boxed()
    }

    fn open(
        &self,
        session: Option<String>,
        model: Option<String>,
    ) -> BoxFuture<'static, Result<Arc<dyn AskTalk>, AskRefusal>> {
        let inner = Arc::clone(&self.0);
        async move {
            let talk = inner.open(session, model).await?;
            Ok(talk as Arc<dyn AskTalk>)
        }
        .boxed()
    }
}

impl ModelTable {
    async fn models(&self) -> AskModels {
        let providers = self.windlass.providers();
        let mut listed = Vec::new();
        for name in providers.names() {
            let needs = KnownProvider::named(&name).and_then(|known| known.key_variables.first());
            let (ready, note) = match (providers.endpoint(&name).await, needs) {
                (Ok(endpoint), _) if endpoint.key.is_none() => (true, "needs no key".to_owned()),
                (Ok(endpoint), _) => (true, format!("key from {}", endpoint.key_source)),
                (Err(_), Some(variable)) => (false, format!("set {variable}")),
                (Err(error), None) => (false, error.to_string()),
            };
            listed.push(AskProvider { name, ready, note });
        }
        AskModels {
            model: self.windlass.config().assistant.model.clone(),
            providers: listed,
        }
    }

    async fn open(
        &self,
        session: Option<String>,
        model: Option<String>,
    ) -> Result<Arc<Talk>, AskRefusal> {
        let live = session.as_ref().and_then(|id| self.live(id));
        if let Some(talk) = &live
            && model.as_ref().is_none_or(|model| *model == talk.model)
        {
            return Ok(Arc::clone(talk));
        }
        let (name, assistants) = self.assistants(model).await?;
        let assistant = if let Some(talk) = live {
            // Continue the same conversation with another model.
            assistants.take_over(&talk.assistant)
        } else {
            let resume = session.map_or(Resume::New, Resume::Session);
            let opened = assistants.conversation(resume).await;
            let (id, conversation) = opened.map_err(|error| AskRefusal(error.to_string()))?;
            let options = SessionOptions {
                id: Some(id),
                front_end: Some("ask".to_owned()),
                attendance: Attendance::Attended,
                ..SessionOptions::default()
            };
            assistants.begin(conversation, options)
        };
        let talk = Arc::new(Talk {
            assistant,
            model: name,
            _assistants: assistants,
        });
        let mut talks = lock(&self.talks);
        talks.retain(|_, talk| !talk.assistant.session.is_closing());
        talks.insert(talk.session().id().to_string(), Arc::clone(&talk));
        Ok(talk)
    }

    fn live(&self, id: &str) -> Option<Arc<Talk>> {
        let talks = lock(&self.talks);
        let talk = talks.get(id)?;
        (!talk.assistant.session.is_closing()).then(|| Arc::clone(talk))
    }

    /// The name of the chosen model, and the factory of its assistants.
    async fn assistants(
        &self,
        model: Option<String>,
    ) -> Result<(String, Arc<Assistants>), AskRefusal> {
        let name = model.or_else(|| self.windlass.config().assistant.model.clone());
        let name = name.ok_or_else(|| {
            let unnamed = ChooseModelError::NotNamed.to_string();
            AskRefusal(format!("{unnamed}; `windlass models` lists the providers"))
        })?;
        if let Some(known) = lock(&self.assistants).get(&name) {
            return Ok((name, Arc::clone(known)));
        }
        let opened = Assistants::open(&self.windlass, Some(&name)).await;
        let opened = Arc::new(opened.map_err(|error| AskRefusal(error.to_string()))?);
        lock(&self.assistants).insert(name.clone(), Arc::clone(&opened));
        Ok((name, opened))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AskTalk for Talk {
    fn session(&self) -> &Session {
        &self.assistant.session
    }

    fn model(&self) -> String {
        self.model.clone()
    }

    fn turn(
        self: Arc<Self>,
        message: String,
        listener: AskListener,
        interjections: mpsc::Receiver<AskInterjection>,
    ) -> BoxFuture<'static, Result<(), AskRefusal>> {
        async move { self.run(message, listener, interjections).await }.boxed()
    }
}

impl Talk {
    async fn run(
        &self,
        mut message: String,
        listener: AskListener,
        mut words: mpsc::Receiver<AskInterjection>,
    ) -> Result<(), AskRefusal> {
        let audience = TurnListener(listener);
        let (interject, mut interjections) = mpsc::channel(8);
        loop {
            let ended = {
                let assistant = &self.assistant;
                let turn = assistant.turn(&message, &audience, &mut interjections);
                tokio::pin!(turn);
                loop {
                    tokio::select! {
                        ended = &mut turn => break ended,
                        Some(word) = words.recv() => {
                            let _ = interject.send(to_interjection(word)).await;
                        }
                    }
                }
            };
            if let Err(error) = self.assistant.keep_notices().await {
                tracing::warn!(%error, "what the assistant was not told is lost");
            }
            let outcome = ended.map_err(|error| AskRefusal(causes(&error)))?;
            // A message that arrived after the end of the turn starts another.
            match interjections.try_recv() {
                Ok(Interjection::Say(text)) if !outcome.aborted => message = text,
                _ => return Ok(()),
            }
        }
    }
}

fn to_interjection(word: AskInterjection) -> Interjection {
    match word {
        AskInterjection::Say(text) => Interjection::Say(text),
        AskInterjection::StopTools => Interjection::StopTools,
        AskInterjection::Abort => Interjection::Abort,
    }
}

/// An error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

struct TurnListener(AskListener);

impl Audience for TurnListener {
    fn hear(&self, heard: Heard<'_>) {
        match heard {
            Heard::Model(ModelEvent::Text(text)) => (self.0)(AskEvent::Text(text.clone())),
            Heard::Model(ModelEvent::Again { .. }) => (self.0)(AskEvent::Again),
            Heard::Said(_) => (self.0)(AskEvent::Said),
            _ => {}
        }
    }
}
