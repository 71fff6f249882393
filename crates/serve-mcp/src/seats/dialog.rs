//! Shows a request to the user of a client, in the call that has the seat.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::Instant;
use windlass_protocol::{Ask, PermissionRequest};
use windlass_runtime::{Answered, OpenRequest, ReplyError};

use super::{Arrival, Means, Put, Seats, Taken};
use crate::form;
use crate::relay::PutRequest;
use crate::secret;

impl Seats {
    /// Puts a request to a call; `None` if the call ends first. The reply is
    /// `None` if the call's client cannot ask after all.
    async fn put(
        &self,
        seat: &Taken,
        name: &str,
        request: ElicitRequestParams,
    ) -> Option<Option<ElicitResult>> {
        let (reply, answer) = oneshot::channel();
        let put = Put {
            key: seat.key(name),
            request: PutRequest::Elicit(Box::new(request)),
            more: false,
            reply,
        };
        seat.puts.send(Arrival::Put(put)).ok()?;
        let answer = answer.await.ok()?;
        Some(answer.ok().map(read_answer))
    }

    /// Shows a request for permission.
    pub(super) async fn permit(
        &self,
        open: &OpenRequest,
        request: &PermissionRequest,
        fits: impl Fn(Means) -> bool,
    ) -> DialogOutcome {
        let call = request.tool.as_ref().map(|tool| tool.call_id.as_str());
        let handle = open.request().handle();
        loop {
            let Some(seat) = self.seat(call, handle, &fits).await else {
                return DialogOutcome::Nowhere;
            };
            let asked = Instant::now();
            let form = form::of_permission(request);
            return match self.put(&seat, "permission", form).await {
                // The call ended first; another may wait for the handle.
                None if handle.is_some() => continue,
                None => DialogOutcome::Nowhere,
                Some(result) => {
                    match result.filter(|result| seat.means.is_of_person(result, asked)) {
                        Some(result) => decide(open, &result),
                        None => DialogOutcome::Dismissed,
                    }
                }
            };
        }
    }

    /// Shows a question according to its kind. A secret is typed into a page of
    /// Windlass, never into a form.
    pub(super) async fn ask(
        &self,
        open: &OpenRequest,
        ask: &Ask,
        fits: impl Fn(Means) -> bool,
    ) -> DialogOutcome {
        let handle = open.request().handle();
        loop {
            let seat = self.seat(ask.call.as_deref(), handle, &fits).await;
            let Some(seat) = seat else {
                return DialogOutcome::Nowhere;
            };
            let answered = if ask.question.secret {
                self.ask_secret(&seat, ask).await
            } else {
                self.ask_form(&seat, ask).await
            };
            return match answered {
                // The call ended first; another may wait for the handle.
                None if handle.is_some() => continue,
                None => DialogOutcome::Nowhere,
                Some(Answered::Nobody) => DialogOutcome::Dismissed,
                Some(Answered::Declined(why)) => {
                    open.decline(why);
                    DialogOutcome::Answered
                }
                Some(Answered::With(value)) => match open.answer(value) {
                    Err(ReplyError::Unfit(_) | ReplyError::UnfitSecret(_)) => DialogOutcome::Unfit,
                    _ => DialogOutcome::Answered,
                },
            };
        }
    }

    /// Asks whether the project is trusted, at any call that can ask.
    pub(super) async fn ask_trust(
        &self,
        open: &OpenRequest,
        ask: &Ask,
        fits: impl Fn(Means) -> bool,
    ) -> DialogOutcome {
        loop {
            let Some(seat) = self.any_seat(&fits).await else {
                return DialogOutcome::Nowhere;
            };
            return match self.ask_form(&seat, ask).await {
                // The call ended first; the next one is asked.
                None => continue,
                Some(Answered::With(value)) => match open.answer(value) {
                    Err(ReplyError::Unfit(_)) => DialogOutcome::Unfit,
                    _ => DialogOutcome::Answered,
                },
                Some(_) => DialogOutcome::Dismissed,
            };
        }
    }

    /// `None` when the call ends first.
    async fn ask_form(&self, seat: &Taken, ask: &Ask) -> Option<Answered> {
        let asked = Instant::now();
        let request = form::of_question(ask);
        let result = self.put(seat, &ask.question.id, request).await?;
        let result = result.filter(|result| seat.means.is_of_person(result, asked));
        Some(result.map_or(Answered::Nobody, |result| form::answered(ask, &result)))
    }

    /// `None` when the call ends first.
    async fn ask_secret(&self, seat: &Taken, ask: &Ask) -> Option<Answered> {
        let Some(page) = secret::SecretPage::shared(&self.0.secrets).await else {
            return Some(Answered::Nobody);
        };
        let asked = Instant::now();
        let opened = page.open(ask);
        let result = self.put(seat, &ask.question.id, opened.request()).await?;
        let Some(result) = result.filter(|result| seat.means.is_of_person(result, asked)) else {
            return Some(Answered::Nobody);
        };
        Some(opened.answered(ask, &result).await)
    }
}

/// The outcome of showing a request.
pub(super) enum DialogOutcome {
    /// It is closed.
    Answered,
    /// The answer does not fit.
    Unfit,
    /// No answer was given.
    Dismissed,
    /// No call can show it.
    Nowhere,
}

/// Replies with the decision in a form.
fn decide(open: &OpenRequest, result: &ElicitResult) -> DialogOutcome {
    match form::decided(result) {
        Some(answer) => {
            // Another front end may have answered first.
            let _ = open.reply(answer);
            DialogOutcome::Answered
        }
        None => DialogOutcome::Unfit,
    }
}

/// The user's reply to a form. An unreadable one counts as no reply.
fn read_answer(value: Value) -> ElicitResult {
    serde_json::from_value(value).unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))
}
