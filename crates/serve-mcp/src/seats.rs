//! Routes a session's open requests to calls that can put them to the user.
//!
//! Start at [`Seats::attend`]. A client can be asked only within one of its own
//! requests, so every call that can ask takes a [`Seat`]: a one-shot's
//! questions and every permission go to their own call's seat, a handle's
//! question to the call that waits for that handle, now or later. Where the
//! client takes no questions, the request is given up, and the assistant
//! answers with `apply`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rmcp::model::{ClientCapabilities, ElicitRequestParams, ElicitResult};
use tokio::sync::{mpsc, oneshot, watch};
use windlass_protocol::{Ask, PermissionAnswer, PermissionRequest};
use windlass_runtime::{Answered, OpenRequest, PersonRequest, ReplyError, RequestWatch};

use crate::form;
use crate::secret;

/// How a client can ask its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Means {
    /// It shows forms.
    pub(crate) form: bool,
    /// It opens pages.
    pub(crate) url: bool,
}

impl Means {
    /// As the client declares them. One that says nothing of modes has forms.
    pub(crate) fn of(capabilities: Option<&ClientCapabilities>) -> Self {
        let elicitation = capabilities.and_then(|declared| declared.elicitation.as_ref());
        elicitation.map_or_else(Self::default, |declared| Self {
            form: declared.form.is_some() || declared.url.is_none(),
            url: declared.url.is_some(),
        })
    }

    fn any(self) -> bool {
        self.form || self.url
    }
}

/// Something to put to the user.
#[derive(Debug)]
pub(crate) struct Put {
    /// Names it within its call.
    pub(crate) key: String,
    pub(crate) request: ElicitRequestParams,
    /// Takes the user's reply; `None` of a client that cannot ask after all.
    pub(crate) reply: oneshot::Sender<Option<ElicitResult>>,
}

/// How often a client whose answer does not fit is asked again.
const TRIES: usize = 3;

/// The calls of a session that can ask. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Seats(Arc<Inner>);

#[derive(Default)]
struct Inner {
    seats: watch::Sender<Vec<Taken>>,
    /// The client has shown that it can ask.
    can_ask: AtomicBool,
    secrets: Mutex<Option<Arc<secret::Page>>>,
}

#[derive(Clone)]
struct Taken {
    call: String,
    handles: Vec<String>,
    means: Means,
    puts: mpsc::UnboundedSender<Put>,
    /// What it has been asked already, by name.
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

impl Taken {
    /// A key that the call has not had before: the question's name, with a
    /// number from the second time on.
    fn key(&self, name: &str) -> String {
        let mut asked = self.asked.lock();
        let times = asked.entry(name.to_owned()).or_default();
        *times += 1;
        match *times {
            1 => name.to_owned(),
            times => format!("{name}-{times}"),
        }
    }
}

/// A call that can ask. Whatever is put to it and not answered when it is
/// dropped waits for another.
pub(crate) struct Seat {
    all: Seats,
    call: String,
    puts: mpsc::UnboundedReceiver<Put>,
}

impl Seats {
    /// Puts everything that is asked to a call that can ask, until the session
    /// ends.
    pub(crate) fn attend(&self, mut watch: RequestWatch) {
        let seats = self.clone();
        tokio::spawn(async move {
            while let Some(open) = watch.next().await {
                let seats = seats.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = open.closed() => {}
                        () = seats.route(&open) => {}
                    }
                });
            }
        });
    }

    async fn route(&self, open: &OpenRequest) {
        let answered = match open.request() {
            PersonRequest::Permission(request) => {
                let answer = self.permit(request).await;
                answer.is_some_and(|answer| open.reply(answer).is_ok())
            }
            PersonRequest::Question(ask) => self.ask(open, ask).await,
        };
        if !answered {
            open.give_up();
        }
    }

    /// Takes a seat for a call that waits for these handles.
    pub(crate) fn sit(&self, call: &str, handles: Vec<String>, means: Means) -> Seat {
        let (sender, puts) = mpsc::unbounded_channel();
        self.0.can_ask.store(means.any(), Ordering::Release);
        let taken = Taken {
            call: call.to_owned(),
            handles,
            means,
            puts: sender,
            asked: Arc::default(),
        };
        self.0.seats.send_modify(|seats| seats.push(taken));
        Seat {
            all: self.clone(),
            call: call.to_owned(),
            puts,
        }
    }

    fn seat_of(&self, call: &str) -> Option<Taken> {
        let seats = self.0.seats.borrow();
        seats.iter().find(|seat| seat.call == call).cloned()
    }

    /// The seat of a call that waits for the handle, once there is one; `None`
    /// when the client takes no questions.
    async fn seat_for(&self, handle: &str, fits: impl Fn(Means) -> bool) -> Option<Taken> {
        let waits =
            |seat: &&Taken| fits(seat.means) && seat.handles.iter().any(|waited| waited == handle);
        let mut seats = self.0.seats.subscribe();
        loop {
            let found = seats.borrow_and_update().iter().find(waits).cloned();
            if found.is_some() || !self.0.can_ask.load(Ordering::Acquire) {
                return found;
            }
            seats.changed().await.ok()?;
        }
    }

    /// Puts a request to a call; `None` when the call ends first. The reply is
    /// `None` when the call's client cannot ask after all.
    async fn put(
        &self,
        seat: &Taken,
        name: &str,
        request: ElicitRequestParams,
    ) -> Option<Option<ElicitResult>> {
        let (reply, answer) = oneshot::channel();
        let put = Put {
            key: seat.key(name),
            request,
            reply,
        };
        seat.puts.send(put).ok()?;
        answer.await.ok()
    }

    /// Puts a question to a call's user, as its kind wants; `None` when the
    /// call ends first. Nobody answers where it cannot be asked: the same call
    /// would be found again at once, and could not ask it then either.
    async fn question(&self, seat: &Taken, ask: &Ask) -> Option<Answered> {
        if !ask.question.secret {
            let request = form::of_question(ask);
            let result = self.put(seat, &ask.question.id, request).await?;
            return Some(result.map_or(Answered::Nobody, |result| form::answered(ask, &result)));
        }
        let Some(page) = secret::Page::shared(&self.0.secrets).await else {
            return Some(Answered::Nobody);
        };
        let opened = page.open(ask);
        let Some(result) = self.put(seat, &ask.question.id, opened.request()).await? else {
            return Some(Answered::Nobody);
        };
        Some(opened.answered(ask, &result).await)
    }

    async fn permit(&self, request: &PermissionRequest) -> Option<PermissionAnswer> {
        let call = &request.tool.as_ref()?.call_id;
        let seat = self.seat_of(call).filter(|seat| seat.means.form)?;
        let form = form::of_permission(request);
        let result = self.put(&seat, "permission", form).await??;
        Some(form::decided(&result))
    }

    /// Whether the question was closed.
    async fn ask(&self, open: &OpenRequest, ask: &Ask) -> bool {
        for _ in 0..TRIES {
            match self.answer(ask).await {
                Answered::With(value) => match open.answer(value) {
                    Err(ReplyError::Unfit(_) | ReplyError::UnfitSecret(_)) => {}
                    _ => return true,
                },
                Answered::Declined(why) => {
                    open.decline(why);
                    return true;
                }
                Answered::Nobody => return false,
            }
        }
        false
    }

    async fn answer(&self, ask: &Ask) -> Answered {
        let secret = ask.question.secret;
        let fits = move |means: Means| if secret { means.url } else { means.form };
        let Some(handle) = &ask.handle else {
            let call = ask.call.as_deref().unwrap_or_default();
            let Some(seat) = self.seat_of(call).filter(|seat| fits(seat.means)) else {
                return Answered::Nobody;
            };
            return self.question(&seat, ask).await.unwrap_or(Answered::Nobody);
        };
        loop {
            let Some(seat) = self.seat_for(handle.as_str(), fits).await else {
                return Answered::Nobody;
            };
            if let Some(answered) = self.question(&seat, ask).await {
                return answered;
            }
        }
    }
}

impl Seat {
    /// The next thing to put to the user.
    pub(crate) async fn next(&mut self) -> Put {
        match self.puts.recv().await {
            Some(put) => put,
            None => std::future::pending().await,
        }
    }

    /// What else there is to put, without waiting.
    pub(crate) fn more(&mut self) -> Option<Put> {
        self.puts.try_recv().ok()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let seats = &self.all.0.seats;
        seats.send_modify(|seats| seats.retain(|seat| seat.call != self.call));
    }
}
