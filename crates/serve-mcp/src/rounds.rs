//! Calls in several rounds: the stateless way of asking.
//!
//! A call whose tool asks something is answered with what it asks, and put
//! aside; the client sends it again with the answers and with the sealed state
//! that names it. The tool itself notices nothing and keeps waiting. A call
//! that nobody comes back for is ended.

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

use crate::call::{Call, Step};
use crate::progress::Waiting;
use crate::seats::Put;
use crate::task::{self, Taker};

/// How long a call waits for its next round.
const PATIENCE: Duration = Duration::from_mins(10);

/// How long requests that are put together wait for one that does not come.
const TOGETHER: Duration = Duration::from_secs(5);

/// A call, and what of it the client has been asked.
pub(crate) struct Round {
    call: Call,
    open: BTreeMap<String, Put>,
    /// Another request follows at once, which is put in the same round.
    more: bool,
    /// Answers that came with the first request, before anything was asked.
    given: InputResponses,
}

/// Calls that wait for their next round, by the name that their state seals.
#[derive(Clone, Default)]
pub(crate) struct Parked(Arc<Mutex<HashMap<String, Round>>>);

impl Parked {
    fn park(&self, round: Round) -> String {
        let name = Ulid::generate().to_string();
        self.0.lock().insert(name.clone(), round);
        let rounds = Arc::downgrade(&self.0);
        let forgotten = name.clone();
        tokio::spawn(async move {
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

/// Who comes back must be who was asked, about the same call.
pub(crate) struct Sealing<'a> {
    pub(crate) codec: &'a RequestStateCodec,
    pub(crate) context: Vec<u8>,
    pub(crate) parked: &'a Parked,
}

impl Sealing<'_> {
    /// The call that a state names, with these answers given to it.
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
            refused("requestState: this call is no longer waiting; call the tool anew")
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

    /// Runs a call until it is answered or has something to ask; where the
    /// client takes tasks, one that takes longer goes on as a task.
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
                    Step::Done(result) => {
                        // What was said before it is told before it.
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
    /// The first round of a call, with the answers that its client expects to
    /// be asked for.
    pub(crate) fn first(call: Call, given: InputResponses) -> Self {
        Self {
            call,
            open: BTreeMap::new(),
            more: false,
            given,
        }
    }

    /// Takes what is to be put to the client. A client that does not lend its
    /// model to a tool that needs it is told so, and the call ends.
    fn take(&mut self, step: Step) -> Result<(), ErrorData> {
        match step {
            Step::Put(put) => {
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
            Step::LacksSampling => Err(lacks_sampling()),
            Step::Done(_) => unreachable!("it is answered"),
        }
    }

    pub(crate) fn call(&self) -> &Call {
        &self.call
    }
}
