//! Requests and interruptions during a turn: lends the terminal to a prompt.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use windlass_runtime::{OpenRequest, PersonRequest};

use super::{PASTES, TurnView};
use crate::prompt::{self, Askable, Choice, Interruption};
use crate::query::show::Urgent;

/// A request is shown to a person who is typing only after a pause of this
/// length, so that no key of the message answers it.
const PAUSE: Duration = Duration::from_millis(600);
/// The outcome of a prompt.
enum Came<T> {
    Answered(Option<T>),
    /// No answer is needed any more.
    Elsewhere,
    Interrupted(oneshot::Sender<Choice>),
    Over,
}

impl TurnView {
    /// Asks until the request is answered, here or elsewhere, or the turn ends.
    pub(super) async fn ask(&mut self, open: OpenRequest) {
        // Show earlier events first.
        while let Some(show) = self.shows.ready() {
            Box::pin(self.take(show)).await;
        }
        self.pause(&open).await;
        // Another client may have replied first.
        while open.is_open() {
            let began = Instant::now();
            let came = self.put(open.request(), open.closed()).await;
            if let Some(call) = call_of(open.request()) {
                self.calls.asked(call, began.elapsed());
            }
            match came {
                Came::Answered(typed) => {
                    prompt::deliver(&open, typed);
                    // An invalid edit is edited again.
                    if !open.is_open() {
                        return self.paint(&[]);
                    }
                }
                Came::Over => {
                    open.give_up();
                    return self.paint(&[]);
                }
                Came::Elsewhere => {
                    let line = self.dim("answered elsewhere, or withdrawn");
                    return self.paint(&[line]);
                }
                Came::Interrupted(choice) => self.interrupted(choice).await,
            }
        }
    }

    /// Waits until the user pauses typing. Keys until then go to their message.
    async fn pause(&mut self, open: &OpenRequest) {
        if self.seat.writing.is_none() {
            return;
        }
        let line = self.styled(
            "a request is waiting; it is shown when you stop typing",
            "33",
        );
        let mut was_told = false;
        while open.is_open() {
            tokio::select! {
                key = self.seat.next() => {
                    if !was_told {
                        was_told = true;
                        self.paint(std::slice::from_ref(&line));
                    }
                    Box::pin(self.key(key)).await;
                }
                () = tokio::time::sleep(PAUSE) => return,
            }
        }
    }

    /// Asks how to continue after Ctrl-C.
    pub(super) async fn interrupted(&mut self, mut reply: oneshot::Sender<Choice>) {
        if reply.is_closed() {
            return;
        }
        if let Came::Answered(Some(choice)) = self.put(&Interruption, reply.closed()).await {
            let _ = reply.send(choice);
        }
        self.paint(&[]);
    }

    /// Lends the terminal to a prompt.
    async fn put<A: Askable>(
        &mut self,
        asking: &A,
        closed: impl Future<Output = ()>,
    ) -> Came<A::Answer> {
        self.screen.clear();
        let came = tokio::select! {
            biased;
            () = closed => Came::Elsewhere,
            urgent = self.shows.urgent() => match urgent {
                Urgent::Interrupted(choice) => Came::Interrupted(choice),
                Urgent::Over => Came::Over,
            },
            answer = self.seat.ask(asking) => Came::Answered(answer),
        };
        if self.seat.writing.is_some() {
            self.screen.write(PASTES);
        }
        came
    }
}

/// The call that a request belongs to.
fn call_of(request: &PersonRequest) -> Option<&str> {
    match request {
        PersonRequest::Permission(request) => Some(request.tool.as_ref()?.call_id.as_str()),
        PersonRequest::Question(ask) | PersonRequest::Trust(ask) => ask.call.as_deref(),
    }
}
