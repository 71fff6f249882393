//! Conversations with models in the server's project.
//!
//! Start at [`ask`]. The front end supplies the models ([`AskBackend`]); this
//! module tracks the turns in progress. A turn continues without readers: the
//! record has its messages.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use futures_util::stream;
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use windlass_protocol::{AskBegun, AskBody, AskModels, AskProgress, AskStop};
use windlass_runtime::Session;

use crate::api::Api;
use crate::error::ApiError;
use crate::events::{heartbeat, respond};
use crate::extract::JsonBody;
use crate::metrics::Watched;
use crate::{proxy, sessions};

/// The longest message.
const LONGEST: usize = 1 << 20;

/// Models that can be asked in the server's project.
pub trait AskBackend: Send + Sync {
    /// The models that there are.
    fn models(&self) -> BoxFuture<'static, AskModels>;

    /// A conversation: a new one, or that of a session, with this model or the
    /// configured one.
    fn open(
        &self,
        session: Option<String>,
        model: Option<String>,
    ) -> BoxFuture<'static, Result<Arc<dyn AskTalk>, AskRefusal>>;
}

/// A conversation with a model.
pub trait AskTalk: Send + Sync {
    /// The session in which its tools run.
    fn session(&self) -> &Session;

    /// The name of its model.
    fn model(&self) -> String;

    /// Runs a turn to its end.
    fn turn(
        self: Arc<Self>,
        message: String,
        listener: AskListener,
        interjections: mpsc::Receiver<AskInterjection>,
    ) -> BoxFuture<'static, Result<(), AskRefusal>>;
}

/// Hears of a turn. It does not block.
pub type AskListener = Arc<dyn Fn(AskEvent) + Send + Sync>;

/// Something that happens in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskEvent {
    /// The model says more.
    Text(String),
    /// The reply broke off and is asked for again.
    Again,
    /// The reply is whole.
    Said,
}

/// The person's word during a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskInterjection {
    /// Another message.
    Say(String),
    /// The tools are to end.
    StopTools,
    /// The turn is to end.
    Abort,
}

/// There is no such conversation or model, or the turn could not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskRefusal(pub String);

/// The turns of each session.
pub(crate) type AskTable = Mutex<HashMap<String, Arc<AskTurns>>>;

/// The turns of one session, of which one may be under way.
pub(crate) struct AskTurns {
    session: Session,
    state: watch::Sender<TurnState>,
    under_way: Mutex<Option<mpsc::Sender<AskInterjection>>>,
}

#[derive(Debug, Default)]
struct TurnState {
    working: bool,
    reply: u64,
    text: String,
    /// How often the text began anew.
    anew: u64,
    model: String,
    error: Option<String>,
}

/// The models that can be asked.
pub(crate) async fn models(State(api): State<Api>) -> Result<Json<AskModels>, ApiError> {
    Ok(Json(backend(&api)?.models().await))
}

/// Gives a model a message: in a new conversation, in one that goes on, or in
/// a turn that is under way.
pub(crate) async fn ask(
    State(api): State<Api>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<AskBody>,
) -> Result<Response, ApiError> {
    let backend = backend(&api)?;
    if body.message.trim().is_empty() || body.message.len() > LONGEST {
        return Err(ApiError::unfit(
            "`message` must hold some text, at most 1 MiB of it",
        ));
    }
    if let Some(id) = &body.session {
        if let Some(turns) = find(&api, id)
            && let Some(begun) = turns.interject(AskInterjection::Say(body.message.clone()))
        {
            return Ok((StatusCode::ACCEPTED, Json(begun)).into_response());
        }
        let is_elsewhere = api.sessions().get(id).is_none();
        if is_elsewhere && let Some((peer, info)) = proxy::owner(&api, &headers, id).await {
            let (front_end, pid) = (info.front_end, peer.pid);
            return Err(ApiError::new(
                StatusCode::CONFLICT,
                format!(
                    "the session belongs to `windlass {front_end}`, process {pid}; it can go on here when that has ended"
                ),
            ));
        }
    }
    let talk = backend.open(body.session, body.model).await;
    let talk = talk.map_err(|AskRefusal(why)| ApiError::new(StatusCode::CONFLICT, why))?;
    let turns = turns_of(&api, talk.session());
    let begun = turns.begin(&api, talk, body.message);
    Ok((StatusCode::CREATED, Json(begun)).into_response())
}

/// Interrupts the turn that is under way.
pub(crate) async fn stop(
    State(api): State<Api>,
    Path(id): Path<String>,
    JsonBody(stop): JsonBody<AskStop>,
) -> Result<StatusCode, ApiError> {
    let word = if stop.tools {
        AskInterjection::StopTools
    } else {
        AskInterjection::Abort
    };
    let turns = find(&api, &id);
    match turns.and_then(|turns| turns.interject(word)) {
        Some(_) => Ok(StatusCode::ACCEPTED),
        None => Err(ApiError::new(
            StatusCode::CONFLICT,
            "no turn of this session is under way here",
        )),
    }
}

/// The progress of a session's turns, as it comes.
pub(crate) async fn progress(
    State(api): State<Api>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let turns = find(&api, &id)
        .ok_or_else(|| ApiError::not_found("nothing has been asked in this session here"))?;
    let reader = ProgressReader {
        _watched: Watched::new(&api, Some(&id)),
        state: turns.state.subscribe(),
        reply: 0,
        anew: 0,
        told: 0,
        is_first: true,
    };
    let events = stream::unfold(reader, |mut reader| async move {
        let progress = reader.next().await?;
        let event = Event::default().event("progress").json_data(&progress);
        Some((Ok::<_, Infallible>(event.ok()?), reader))
    });
    Ok(respond(Sse::new(events).keep_alive(heartbeat())))
}

fn backend(api: &Api) -> Result<Arc<dyn AskBackend>, ApiError> {
    api.0.ask.clone().ok_or_else(|| {
        ApiError::new(
            StatusCode::FORBIDDEN,
            "models are asked with `windlass serve`, `chat` and `query`",
        )
    })
}

fn find(api: &Api, id: &str) -> Option<Arc<AskTurns>> {
    api.0.asked.lock().get(id).cloned()
}

/// The turns of a session, which this interface keeps alive from now on.
fn turns_of(api: &Api, session: &Session) -> Arc<AskTurns> {
    let id = session.id().to_string();
    sessions::keep(api, session);
    let mut all = api.0.asked.lock();
    all.retain(|_, turns| !turns.session.is_closing());
    let turns = all.entry(id).or_insert_with(|| {
        Arc::new(AskTurns {
            session: session.clone(),
            state: watch::Sender::default(),
            under_way: Mutex::default(),
        })
    });
    Arc::clone(turns)
}

impl AskTurns {
    /// Tells the turn under way; `None` without one.
    fn interject(&self, word: AskInterjection) -> Option<AskBegun> {
        let under_way = self.under_way.lock();
        under_way.as_ref()?.try_send(word).ok()?;
        Some(self.begun(true))
    }

    fn begun(&self, interjected: bool) -> AskBegun {
        AskBegun {
            session: self.session.id().clone(),
            model: self.state.borrow().model.clone(),
            interjected,
        }
    }

    /// Begins a turn, unless another request was quicker: then the message
    /// reaches that one's turn.
    fn begin(self: &Arc<Self>, api: &Api, talk: Arc<dyn AskTalk>, message: String) -> AskBegun {
        let (sender, interjections) = mpsc::channel(8);
        {
            let mut under_way = self.under_way.lock();
            if let Some(turn) = &*under_way
                && turn.try_send(AskInterjection::Say(message.clone())).is_ok()
            {
                drop(under_way);
                return self.begun(true);
            }
            *under_way = Some(sender);
        }
        self.state.send_modify(|state| {
            state.working = true;
            state.error = None;
            state.model = talk.model();
            state.start_reply();
        });
        let turns = Arc::clone(self);
        let listening = Arc::clone(self);
        let listener: AskListener = Arc::new(move |event| listening.hear(event));
        let watched = Watched::new(api, Some(self.session.id().as_str()));
        windlass_task::spawn(async move {
            let ended = talk.turn(message, listener, interjections).await;
            *turns.under_way.lock() = None;
            turns.state.send_modify(|state| {
                state.working = false;
                state.error = ended.err().map(|AskRefusal(why)| why);
            });
            drop(watched);
        });
        self.begun(false)
    }

    fn hear(&self, event: AskEvent) {
        self.state.send_modify(|state| match event {
            AskEvent::Text(text) => state.text.push_str(&text),
            AskEvent::Again => {
                state.text.clear();
                state.anew += 1;
            }
            AskEvent::Said => state.start_reply(),
        });
    }
}

impl TurnState {
    fn start_reply(&mut self) {
        self.reply += 1;
        self.anew = 0;
        self.text.clear();
    }
}

/// One reader of a session's turns. A slow one gets larger pieces.
struct ProgressReader {
    state: watch::Receiver<TurnState>,
    reply: u64,
    anew: u64,
    /// The number of bytes of the reply that it has received.
    told: usize,
    is_first: bool,
    _watched: Watched,
}

impl ProgressReader {
    async fn next(&mut self) -> Option<AskProgress> {
        if self.is_first {
            self.state.mark_unchanged();
        } else {
            self.state.changed().await.ok()?;
        }
        let state = self.state.borrow_and_update();
        let is_new = self.is_first || (self.reply, self.anew) != (state.reply, state.anew);
        if is_new {
            (self.reply, self.anew, self.told) = (state.reply, state.anew, 0);
        }
        self.is_first = false;
        let progress = AskProgress {
            working: state.working,
            reply: state.reply,
            anew: is_new,
            text: state.text[self.told..].to_owned(),
            model: state.model.clone(),
            error: state.error.clone(),
        };
        self.told = state.text.len();
        Some(progress)
    }
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
