//! Routes a session's open requests to calls that can put them to the user.
//!
//! Start at [`Seats::attend`]. A client can be asked only within one of its own
//! requests, so every call that can ask takes a [`Seat`]. A call's question
//! goes to its own seat; a handle's question goes to a call that waits for that
//! handle, now or later. A request does not depend on its client: if the client
//! cannot show it, or its dialog was dismissed, it stays open, and the other
//! front ends show it until it is answered or withdrawn. A dismissed dialog is
//! not shown again. `seats/dialog.rs` shows requests.

mod dialog;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, ElicitResult, ElicitationAction};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use windlass_runtime::{ClientRequest, OpenRequest, PendingRequests, PersonRequest, RequestWatch};

use self::dialog::DialogOutcome;
use crate::clients::ClientTraits;
use crate::relay::{Aside, Asides, PutRequest};
use crate::secret;

/// A client's ways to ask its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Means {
    /// It shows forms.
    pub(crate) form: bool,
    /// It opens pages.
    pub(crate) url: bool,
    pub(crate) lends: Lends,
    /// Each of its requests is independent.
    pub(crate) stateless: bool,
    /// The longest time that its call may block while its user cannot see the
    /// question.
    pub(crate) patience: Duration,
    /// The minimum time in which a person can decline.
    pub(crate) reading: Duration,
}

/// Capabilities that a client lends to tools of other servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lends {
    /// Its model.
    sampling: bool,
    /// Its folders.
    roots: bool,
}

impl Means {
    /// The capabilities that the client declares. A client that declares no
    /// modes supports forms.
    pub(crate) fn of(
        capabilities: Option<&ClientCapabilities>,
        traits: &ClientTraits,
        stateless: bool,
        patience: Duration,
    ) -> Self {
        let elicitation = capabilities.and_then(|declared| declared.elicitation.as_ref());
        Self {
            form: elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none()),
            url: elicitation.is_some_and(|it| it.url.is_some()),
            lends: Lends {
                sampling: capabilities.is_some_and(|declared| declared.sampling.is_some()),
                roots: capabilities.is_some_and(|declared| declared.roots.is_some()),
            },
            stateless,
            patience,
            reading: traits.reading,
        }
    }

    /// Whether a person gave this result. `cancel` is no answer. Some agents
    /// decline everything themselves, faster than a person can read.
    fn is_of_person(self, result: &ElicitResult, asked: Instant) -> bool {
        match result.action {
            ElicitationAction::Accept => true,
            ElicitationAction::Decline => asked.elapsed() >= self.reading,
            // A word that this version of the protocol does not have is none.
            _ => false,
        }
    }

    /// The client answers such a request of a tool.
    pub(crate) fn offers(self, request: &ClientRequest) -> bool {
        match request {
            ClientRequest::Sample(_) => self.lends.sampling,
            ClientRequest::ListRoots => self.lends.roots,
        }
    }

    /// Whether the client can show the request. A secret is never typed into a
    /// form.
    fn fits(self, request: &PersonRequest) -> bool {
        match request {
            PersonRequest::Question(ask) if ask.question.secret => self.url,
            _ => self.form,
        }
    }
}

/// A request to the client, usually to its user.
#[derive(Debug)]
pub(crate) struct Put {
    /// Names it within its call.
    pub(crate) key: String,
    pub(crate) request: PutRequest,
    /// Another one follows at once, and belongs to it.
    pub(crate) more: bool,
    /// Takes the client's answer.
    pub(crate) reply: oneshot::Sender<Result<Value, ErrorData>>,
}

/// Something that reaches a call's seat.
#[derive(Debug)]
pub(crate) enum Arrival {
    Put(Put),
    /// Its tool needs the client's model, which the client does not lend.
    LacksSampling,
}

/// Something that a call must see to.
pub(crate) enum SeatEvent {
    Put(Put),
    LacksSampling,
    /// The call has reached its time limit, and waits for a question that the
    /// client does not show.
    Unseen,
}

impl From<Arrival> for SeatEvent {
    fn from(arrival: Arrival) -> Self {
        match arrival {
            Arrival::Put(put) => Self::Put(put),
            Arrival::LacksSampling => Self::LacksSampling,
        }
    }
}

/// The number of times that an invalid answer is asked for again.
const TRIES: usize = 3;

/// The calls of a session that can ask. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Seats(Arc<SeatTable>);

#[derive(Default)]
struct SeatTable {
    seats: watch::Sender<Vec<Taken>>,
    /// The open requests whose dialogs were dismissed.
    dismissed: Mutex<HashSet<String>>,
    /// Changes when a request was opened, or was dismissed.
    news: watch::Sender<()>,
    secrets: Mutex<Option<Arc<secret::SecretPage>>>,
}

#[derive(Clone)]
pub(crate) struct Taken {
    call: String,
    handles: Vec<String>,
    pub(crate) means: Means,
    pub(crate) puts: mpsc::UnboundedSender<Arrival>,
    pub(crate) asides: mpsc::UnboundedSender<Aside>,
    /// The number of earlier requests, by name.
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

impl Taken {
    /// A key that the call has not used before: the question's name, with a
    /// number from the second time.
    pub(crate) fn key(&self, name: &str) -> String {
        let mut asked = self.asked.lock();
        let times = asked.entry(name.to_owned()).or_default();
        *times += 1;
        match *times {
            1 => name.to_owned(),
            times => format!("{name}-{times}"),
        }
    }
}

/// A call that can ask. Unanswered requests wait for another seat when it is
/// dropped.
pub(crate) struct Seat {
    place: SeatPlace,
    puts: mpsc::UnboundedReceiver<Arrival>,
    asides: Asides,
}

/// Whose seat it is.
struct SeatPlace {
    all: Seats,
    call: String,
    handles: Vec<String>,
    means: Means,
    /// The end of its time limit.
    due: Instant,
}

impl Seats {
    /// Routes all requests to calls that can ask, until the session ends.
    pub(crate) fn attend(&self, mut watch: RequestWatch) {
        let seats = self.clone();
        windlass_task::spawn(async move {
            while let Some(open) = watch.next().await {
                seats.0.news.send_replace(());
                let seats = seats.clone();
                windlass_task::spawn(async move {
                    tokio::select! {
                        biased;
                        () = open.closed() => {}
                        () = seats.route(&open) => open.closed().await,
                    }
                    seats.0.dismissed.lock().remove(open.request().id());
                });
            }
        });
    }

    /// Puts a request to the client's user, as soon as a call can. Without an
    /// answer the request stays open.
    async fn route(&self, open: &OpenRequest) {
        let id = open.request().id();
        if self.0.dismissed.lock().contains(id) {
            return;
        }
        let fits = |means: Means| means.fits(open.request());
        for _ in 0..TRIES {
            let shown = match open.request() {
                PersonRequest::Permission(request) => self.permit(open, request, fits).await,
                PersonRequest::Question(ask) => self.ask(open, ask, fits).await,
                PersonRequest::Trust(ask) => self.ask_trust(open, ask, fits).await,
            };
            match shown {
                DialogOutcome::Answered | DialogOutcome::Nowhere => return,
                DialogOutcome::Unfit => {}
                DialogOutcome::Dismissed => break,
            }
        }
        // Only what is open is remembered.
        if open.is_open() {
            self.0.dismissed.lock().insert(id.to_owned());
            self.0.news.send_replace(());
        }
    }

    /// Takes a seat for a call that waits for these handles.
    pub(crate) fn sit(&self, call: &str, handles: Vec<String>, means: Means) -> Seat {
        let (sender, puts) = mpsc::unbounded_channel();
        let (aside, asides) = Asides::new();
        let due = Instant::now() + means.patience;
        let taken = Taken {
            call: call.to_owned(),
            handles: handles.clone(),
            means,
            puts: sender,
            asides: aside,
            asked: Arc::default(),
        };
        self.0.seats.send_modify(|seats| seats.push(taken));
        let place = SeatPlace {
            all: self.clone(),
            call: call.to_owned(),
            handles,
            means,
            due,
        };
        Seat {
            place,
            puts,
            asides,
        }
    }

    pub(crate) fn seat_of(&self, call: &str) -> Option<Taken> {
        let seats = self.0.seats.borrow();
        seats.iter().find(|seat| seat.call == call).cloned()
    }

    /// The seat of a call that waits for the handle now.
    pub(crate) fn waiting_for(&self, handle: &str) -> Option<Taken> {
        let waits = |seat: &&Taken| seat.handles.iter().any(|waited| waited == handle);
        self.0.seats.borrow().iter().find(waits).cloned()
    }

    /// Waits for the seat of a call that waits for the handle and can ask.
    pub(crate) async fn seat_for(
        &self,
        handle: &str,
        fits: impl Fn(Means) -> bool,
    ) -> Option<Taken> {
        let waits =
            |seat: &&Taken| fits(seat.means) && seat.handles.iter().any(|waited| waited == handle);
        let mut seats = self.0.seats.subscribe();
        loop {
            let found = seats.borrow_and_update().iter().find(waits).cloned();
            if found.is_some() {
                return found;
            }
            seats.changed().await.ok()?;
        }
    }

    /// The seat at which a request can be shown: that of its own call, else
    /// that of a call that waits for its handle. `None` if there will be no
    /// such call.
    async fn seat(
        &self,
        call: Option<&str>,
        handle: Option<&str>,
        fits: impl Fn(Means) -> bool,
    ) -> Option<Taken> {
        if let Some(seat) = call.and_then(|call| self.seat_of(call)) {
            return Some(seat).filter(|seat| fits(seat.means));
        }
        self.seat_for(handle?, fits).await
    }

    /// Waits for the seat of any call that can ask.
    async fn any_seat(&self, fits: impl Fn(Means) -> bool) -> Option<Taken> {
        let mut seats = self.0.seats.subscribe();
        loop {
            let able = |seat: &&Taken| fits(seat.means);
            let found = seats.borrow_and_update().iter().find(able).cloned();
            if found.is_some() {
                return found;
            }
            seats.changed().await.ok()?;
        }
    }
}

impl Seat {
    /// The next request or event. With the session's requests given, also
    /// reports questions that the client does not show.
    pub(crate) async fn next(&mut self, requests: Option<&PendingRequests>) -> SeatEvent {
        let Self { place, puts, .. } = self;
        let unseen = async {
            let Some(requests) = requests else {
                return std::future::pending().await;
            };
            let mut news = place.all.0.news.subscribe();
            tokio::time::sleep_until(place.due).await;
            loop {
                news.borrow_and_update();
                if requests.list().iter().any(|request| place.hides(request)) {
                    return;
                }
                if news.changed().await.is_err() {
                    return std::future::pending().await;
                }
            }
        };
        tokio::select! {
            biased;
            Some(arrival) = puts.recv() => arrival.into(),
            () = unseen => SeatEvent::Unseen,
        }
    }

    /// The next thing to see to, without waiting.
    pub(crate) fn more(&mut self) -> Option<SeatEvent> {
        self.puts.try_recv().ok().map(SeatEvent::from)
    }

    /// Progress and log lines of its tool.
    pub(crate) fn asides(&self) -> Asides {
        self.asides.clone()
    }
}

impl SeatPlace {
    /// Whether the request belongs to this call, or to a handle that it waits
    /// for, and the client does not show it.
    fn hides(&self, request: &PersonRequest) -> bool {
        let call = match request {
            PersonRequest::Permission(request) => {
                let tool = request.tool.as_ref();
                tool.map(|tool| tool.call_id.as_str())
            }
            PersonRequest::Question(ask) | PersonRequest::Trust(ask) => ask.call.as_deref(),
        };
        let handle = request.handle();
        let is_waited = handle.is_some_and(|handle| self.handles.iter().any(|it| it == handle));
        let dismissed = &self.all.0.dismissed;
        (call == Some(&*self.call) || is_waited)
            && (!self.means.fits(request) || dismissed.lock().contains(request.id()))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let SeatPlace { all, call, .. } = &self.place;
        let seats = &all.0.seats;
        seats.send_modify(|seats| seats.retain(|seat| seat.call != *call));
    }
}
