//! Messages of other MCP servers' tools to the client: requests, progress and
//! log lines.
//!
//! Start at [`Relay`]. Everything is sent to the call that the tool runs for,
//! or else to a call that waits for its handle. Requests take the same path as
//! questions (`seats.rs`); progress and log lines are sent by `progress.rs`.

#![expect(
    deprecated,
    reason = "the newest version of the protocol keeps sampling and roots for older servers"
)]

use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, InputRequest, ListRootsRequest, ServerRequest,
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use windlass_protocol::HandleId;
use windlass_runtime::{
    CallOrigin, ClientRefusal, ClientRequest, SessionClient, ToolLogLine, ToolProgress,
};

use crate::seats::{Arrival, Means, Put, Seats, Taken};

/// A request to the client, independent of how it is sent.
#[derive(Debug, Clone)]
pub(crate) enum PutRequest {
    /// To its user.
    Elicit(Box<ElicitRequestParams>),
    /// To its model.
    Sample(Box<Sampling>),
    /// For its folders.
    ListRoots,
}

pub(crate) type Sampling = rmcp::model::CreateMessageRequestParams;

impl PutRequest {
    /// The request as sent from within a call.
    pub(crate) fn into_server_request(self) -> ServerRequest {
        match self {
            Self::Elicit(params) => ServerRequest::ElicitRequest(ElicitRequest::new(*params)),
            Self::Sample(params) => {
                ServerRequest::CreateMessageRequest(rmcp::model::CreateMessageRequest::new(*params))
            }
            Self::ListRoots => ServerRequest::ListRootsRequest(ListRootsRequest::default()),
        }
    }

    /// The request as the required input of a call or a task.
    pub(crate) fn into_input_request(self) -> InputRequest {
        match self {
            Self::Elicit(params) => InputRequest::Elicitation(ElicitRequest::new(*params)),
            Self::Sample(params) => {
                InputRequest::CreateMessage(rmcp::model::CreateMessageRequest::new(*params))
            }
            Self::ListRoots => InputRequest::ListRoots(ListRootsRequest::default()),
        }
    }

    /// A short description for people.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Elicit(params) => match &**params {
                ElicitRequestParams::FormElicitationParams { message, .. }
                | ElicitRequestParams::UrlElicitationParams { message, .. } => message.clone(),
                _ => "it asks something".to_owned(),
            },
            Self::Sample(_) => "it asks the client's model".to_owned(),
            Self::ListRoots => "it asks for the client's folders".to_owned(),
        }
    }
}

/// A message of a tool while its call runs.
#[derive(Debug)]
pub(crate) enum Aside {
    Progress(ToolProgress),
    Log(ToolLogLine),
}

/// The asides of one call, in order. Clones share them.
#[derive(Clone)]
pub(crate) struct Asides(Arc<Mutex<mpsc::UnboundedReceiver<Aside>>>);

impl Asides {
    pub(crate) fn new() -> (mpsc::UnboundedSender<Aside>, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (sender, Self(Arc::new(Mutex::new(receiver))))
    }

    /// Waits for the next aside; never resolves if there will be none.
    pub(crate) async fn next(&self) -> Aside {
        let poll = |context: &mut Context<'_>| match self.0.lock().poll_recv(context) {
            Poll::Ready(Some(aside)) => Poll::Ready(aside),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        };
        std::future::poll_fn(poll).await
    }

    pub(crate) fn try_next(&self) -> Option<Aside> {
        self.0.lock().try_recv().ok()
    }
}

/// The client of a session, for its tools.
pub(crate) struct Relay(pub(crate) Seats);

#[async_trait]
impl SessionClient for Relay {
    async fn ask(
        &self,
        origin: &CallOrigin,
        requests: Vec<ClientRequest>,
        beside_question: bool,
    ) -> Vec<Result<Value, ClientRefusal>> {
        let handle = origin.handle.as_ref().map(HandleId::as_str);
        let fits = |means: Means| requests.iter().all(|request| means.offers(request));
        let seat = match self.0.seat_of(&origin.call) {
            Some(seat) => Some(seat),
            None => match handle {
                Some(handle) => self.0.seat_for(handle, fits).await,
                None => None,
            },
        };
        let Some(seat) = seat else {
            let refused = |request: &ClientRequest| Err(undeclared(request));
            return requests.iter().map(refused).collect();
        };
        let last = requests
            .iter()
            .rposition(|request| seat.means.offers(request));
        let question_follows = beside_question && seat.means.form;
        // All of them are put before any is waited for.
        let put: Vec<_> = requests
            .into_iter()
            .enumerate()
            .map(|(number, request)| put(&seat, request, Some(number) != last || question_follows))
            .collect();
        let mut answers = Vec::with_capacity(put.len());
        for answer in put {
            answers.push(match answer {
                Ok(answer) => answered(answer.await),
                Err(refusal) => Err(refusal),
            });
        }
        answers
    }

    fn progressed(&self, origin: &CallOrigin, progress: ToolProgress) {
        if let Some(seat) = self.0.seat_of(&origin.call) {
            // Its call may end in this moment.
            let _ = seat.asides.send(Aside::Progress(progress));
        }
    }

    fn logged(&self, origin: &CallOrigin, line: ToolLogLine) {
        let handle = origin.handle.as_ref().map(HandleId::as_str);
        let own = self.0.seat_of(&origin.call);
        let seat = own.or_else(|| self.0.waiting_for(handle?));
        if let Some(seat) = seat {
            let _ = seat.asides.send(Aside::Log(line));
        }
    }
}

type Answer = oneshot::Receiver<Result<Value, ErrorData>>;

/// Sends a request to a call's client. `more` means that another one follows.
fn put(seat: &Taken, request: ClientRequest, more: bool) -> Result<Answer, ClientRefusal> {
    if !seat.means.offers(&request) {
        if seat.means.stateless && matches!(request, ClientRequest::Sample(_)) {
            // Its call may end in this moment.
            let _ = seat.puts.send(Arrival::LacksSampling);
        }
        return Err(undeclared(&request));
    }
    let (name, request) = match request {
        ClientRequest::ListRoots => ("roots", PutRequest::ListRoots),
        ClientRequest::Sample(params) => {
            let params = serde_json::from_value(params).map_err(|error| {
                let error = ErrorData::invalid_params(error.to_string(), None);
                refused(&error)
            })?;
            ("sampling", PutRequest::Sample(params))
        }
    };
    let (reply, answer) = oneshot::channel();
    let put = Put {
        key: seat.key(name),
        request,
        more,
        reply,
    };
    match seat.puts.send(Arrival::Put(put)) {
        Ok(()) => Ok(answer),
        Err(_) => Err(gone()),
    }
}

fn answered(
    answer: Result<Result<Value, ErrorData>, oneshot::error::RecvError>,
) -> Result<Value, ClientRefusal> {
    match answer {
        Ok(answer) => answer.map_err(|error| refused(&error)),
        Err(_) => Err(gone()),
    }
}

fn undeclared(request: &ClientRequest) -> ClientRefusal {
    ClientRefusal::Undeclared(match request {
        ClientRequest::Sample(_) => "sampling",
        ClientRequest::ListRoots => "roots",
    })
}

fn refused(error: &ErrorData) -> ClientRefusal {
    ClientRefusal::Refused {
        code: error.code.0,
        message: error.message.to_string(),
    }
}

fn gone() -> ClientRefusal {
    refused(&ErrorData::internal_error(
        "the client no longer waits for the call",
        None,
    ))
}
