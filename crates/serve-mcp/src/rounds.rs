//! Calls in several rounds: questions in the stateless protocol.
//!
//! If a call's tool asks a question, the reply contains the question, and the
//! call is parked. The client repeats the call with the answers and with the
//! sealed state that names it. The tool does not notice and keeps waiting. A
//! call that no client continues is ended.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, ClientCapabilities, InputRequests, InputRequiredResult, InputResponses,
    RequestStateCodec, SealOptions,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;

use crate::call::{ActiveCall, CallStep};
use crate::progress::Waiting;
use crate::seats::Put;
use crate::task::{self, Taker};

/// The longest time that a call waits for its next round.
const PATIENCE: Duration = Duration::from_mins(10);

/// The longest time that requests of one round wait for a missing one.
const TOGETHER: Duration = Duration::from_secs(5);

/// A call, with the requests sent to its client.
pub(crate) struct Round {
    call: ActiveCall,
    open: BTreeMap<String, Put>,
    /// Another request follows at once, in the same round.
    more: bool,
    /// Answers that came with the first request, in advance.
    given: InputResponses,
}

/// Calls that wait for their next round, by the name in their sealed state.
#[derive(Clone, Default)]
pub(crate) struct ParkedCalls(Arc<Mutex<HashMap<String, Round>>>);

impl ParkedCalls {
    fn park(&self, round: Round) -> String {
        let name = Ulid::generate().to_string();
        self.0.lock().insert(name.clone(), round);
        let rounds = Arc::downgrade(&self.0);
        let forgotten = name.clone();
        windlass_task::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(rounds) = rounds.upgrade() {
                let round = rounds.lock().remove(&forgotten);
                drop(round);
            }
        });
        name
    }

    /// Ends all of them.
    pub(crate) fn clear(&self) {
        let rounds = std::mem::take(&mut *self.0.lock());
        drop(rounds);
    }
}

/// The data to verify: the same client must continue the same call.
pub(crate) struct Sealing<'a> {
    pub(crate) codec: &'a RequestStateCodec,
    pub(crate) context: Vec<u8>,
    pub(crate) parked: &'a ParkedCalls,
}

impl Sealing<'_> {
    /// The call that a state names, with these answers applied.
    pub(crate) fn resume(
        &self,
        state: &str,
        mut answers: InputResponses,
    ) -> Result<Round, ErrorData> {
        let refused = |why: &str| ErrorData::invalid_params(why.to_owned(), None);
        let name = self
            .codec
            .open_with(state, &self.context)
            .map_err(|error| refused(&format!("requestState: {error}")))?;
        let name = String::from_utf8_lossy(&name);
        let round = self.parked.0.lock().remove(&*name);
        let mut round = round.ok_or_else(|| {
            refused("requestState: this call is no longer waiting; call the tool again")
        })?;
        let keys: Vec<String> = round.open.keys().cloned().collect();
        for key in keys {
            if let Some(answer) = answers.remove(&key)
                && let Some(put) = round.open.remove(&key)
            {
                let _ = put.reply.send(Ok(answer));
            }
        }
        Ok(round)
    }

    /// Runs a call until it has a result or a question. A call that takes
    /// longer becomes a task if the client supports tasks.
    pub(crate) async fn run(
        &self,
        mut round: Round,
        waiting: &Waiting,
        gone: &CancellationToken,
        tasks: Option<&Taker<'_>>,
    ) -> Result<CallToolResponse, ErrorData> {
        let keep = waiting.keep();
        tokio::pin!(keep);
        let long = async {
            match tasks {
                Some(tasks) => tokio::time::sleep_until(waiting.after(tasks.after)).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(long);
        loop {
            while let Some(step) = round.call.more() {
                round.take(step)?;
            }
            // What was answered elsewhere need not be asked any more.
            round.open.retain(|_, put| !put.reply.is_closed());
            if !round.open.is_empty() && !round.more {
                return Ok(self.ask(round));
            }
            tokio::select! {
                biased;
                step = round.call.next() => match step {
                    CallStep::Done(result) => {
                        // Earlier progress is sent before the request.
                        tokio::select! {
                            () = waiting.flush() => {}
                            () = &mut keep => {}
                        }
                        return Ok(result.into());
                    }
                    step => round.take(step)?,
                },
                () = gone.cancelled() => return Ok(round.call.cancel().await.into()),
                // What was to follow was answered elsewhere meanwhile.
                () = tokio::time::sleep(TOGETHER), if !round.open.is_empty() => round.more = false,
                () = &mut long, if tasks.is_some() => {
                    if let Some(tasks) = tasks {
                        return Ok(task::make(tasks, round.call));
                    }
                }
                () = &mut keep => {}
            }
        }
    }

    fn ask(&self, round: Round) -> CallToolResponse {
        let requests: InputRequests = round
            .open
            .iter()
            .map(|(key, put)| (key.clone(), put.request.clone().into_input_request()))
            .collect();
        let name = self.parked.park(round);
        let options = SealOptions::new()
            .associated_data(&self.context)
            .ttl(PATIENCE);
        let state = self.codec.seal_with(name.as_bytes(), &options);
        InputRequiredResult::new(Some(requests), Some(state)).into()
    }
}

#[expect(deprecated, reason = "servers of the years before still ask for it")]
fn lacks_sampling() -> ErrorData {
    let required = ClientCapabilities::builder().enable_sampling().build();
    ErrorData::missing_required_client_capability(required)
}

impl Round {
    /// The first round of a call, with answers given in advance.
    pub(crate) fn first(call: ActiveCall, given: InputResponses) -> Self {
        Self {
            call,
            open: BTreeMap::new(),
            more: false,
            given,
        }
    }

    /// Adds a request to the client. If the tool needs a model and the client
    /// does not lend one, the call ends with an error.
    fn take(&mut self, step: CallStep) -> Result<(), ErrorData> {
        match step {
            CallStep::Put(put) => {
                self.more = put.more;
                let given = self.given.remove(&put.key);
                if let Some(answer) = given.filter(Value::is_object) {
                    // It may not be wanted any more.
                    let _ = put.reply.send(Ok(answer));
                } else {
                    self.open.insert(put.key.clone(), put);
                }
                Ok(())
            }
            CallStep::LacksSampling => Err(lacks_sampling()),
            CallStep::Done(_) => unreachable!("it is answered"),
        }
    }

    pub(crate) fn call(&self) -> &ActiveCall {
        &self.call
    }
}
