//! A load generator: many clients that follow a server's events while others
//! call.
//!
//! Start at [`Load::put_on`]. Everything goes over the wire as with any client,
//! and every reader counts its events: a [`LoadReport`] has the figures,
//! without judging them.

mod caller;
mod connection;
mod reader;

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::caller::Caller;
use self::connection::LoadConnection;
use self::reader::{EventCounts, LoadReader};

pub use self::reader::Stalled;

/// A running server.
#[derive(Debug, Clone)]
pub struct LoadTarget {
    /// Its address, such as `127.0.0.1:8413`.
    pub address: String,
    /// The access token.
    pub token: String,
}

/// The amount of load.
#[derive(Debug, Clone)]
pub struct Load {
    /// The number of readers: every other one follows all sessions, the rest
    /// one session each.
    pub readers: usize,
    /// The number of callers, each in a session of its own.
    pub callers: usize,
    /// The total number of calls.
    pub calls: usize,
    /// Calls per second; default: as fast as they are answered.
    pub rate: Option<f64>,
}

/// The figures of a run.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// From the first call to the last answer.
    pub took: Duration,
    /// The latency of each call.
    pub latencies: Vec<Duration>,
    /// Events that all readers saw together.
    pub events: u64,
    /// Answers that all readers saw together.
    pub answers: u64,
    /// Answers that they should have seen.
    pub answers_given: u64,
    /// Events that some reader never got.
    pub lost: u64,
    /// Events that reached a reader after a later one.
    pub out_of_order: u64,
}

/// An error that stopped the run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A connection broke.
    #[error("a connection broke")]
    Broken(#[from] io::Error),
    /// An unexpected response.
    #[error("`{0}` was not expected")]
    Strange(String),
    /// A reader waits for events that do not arrive.
    #[error("a reader is stuck")]
    Stuck,
}

/// For each session, the number of its last event.
type Totals = HashMap<String, u64>;

impl Load {
    /// Calls and reads until every reader has received every event, or a report
    /// that it missed some.
    pub async fn put_on(&self, target: &LoadTarget) -> Result<LoadReport, LoadError> {
        let (tell, totals) = watch::channel(None::<Totals>);
        let mut readers = JoinSet::new();
        for _ in (0..self.readers).step_by(2) {
            let reader = LoadReader::of_all(target).await?;
            readers.spawn(reader.read(totals.clone()));
        }
        let sessions = self.sessions(target).await?;
        for reader in 0..self.readers / 2 {
            let reader = LoadReader::of(target, &sessions[reader % sessions.len()]).await?;
            readers.spawn(reader.read(totals.clone()));
        }
        let mut outcome = self.call(target, &sessions).await?;
        let last = last_events(target, &sessions).await?;
        tell.send_replace(Some(last));
        while let Some(seen) = readers.join_next().await {
            outcome.add(&seen.expect("no reader panics")?);
        }
        outcome.answers_given = self.answers_given();
        Ok(outcome)
    }

    async fn sessions(&self, target: &LoadTarget) -> Result<Vec<String>, LoadError> {
        let mut connection = LoadConnection::open(target).await?;
        let mut sessions = Vec::new();
        for _ in 0..self.callers {
            let body = json!({ "trusted": true });
            let begun = connection.post("/api/v1/sessions", &body).await?;
            let id = begun["id"].as_str();
            sessions.push(id.ok_or_else(|| strange(&begun))?.to_owned());
        }
        Ok(sessions)
    }

    async fn call(
        &self,
        target: &LoadTarget,
        sessions: &[String],
    ) -> Result<LoadReport, LoadError> {
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for (place, session) in sessions.iter().enumerate() {
            let caller = Caller {
                connection: LoadConnection::open(target).await?,
                session: session.clone(),
                due: self.due(place),
            };
            callers.spawn(caller.call(start));
        }
        let mut outcome = LoadReport::default();
        while let Some(latencies) = callers.join_next().await {
            outcome
                .latencies
                .extend(latencies.expect("no caller panics")?);
        }
        outcome.took = start.elapsed();
        Ok(outcome)
    }

    /// The due times of one caller's calls.
    fn due(&self, caller: usize) -> Vec<Duration> {
        let calls = (caller..self.calls).step_by(self.callers);
        let due = |call: usize| match self.rate {
            None => Duration::ZERO,
            #[expect(clippy::cast_precision_loss, reason = "there are not that many")]
            Some(rate) => Duration::from_secs_f64(call as f64 / rate),
        };
        calls.map(due).collect()
    }

    fn answers_given(&self) -> u64 {
        let of_all = self.readers.div_ceil(2) * self.calls;
        let of_one = (0..self.readers / 2).map(|reader| self.due(reader % self.callers).len());
        (of_all + of_one.sum::<usize>()) as u64
    }
}

impl LoadReport {
    fn add(&mut self, seen: &EventCounts) {
        self.events += seen.events;
        self.answers += seen.answers;
        self.lost += seen.lost;
        self.out_of_order += seen.out_of_order;
    }
}

async fn last_events(target: &LoadTarget, sessions: &[String]) -> Result<Totals, LoadError> {
    let mut connection = LoadConnection::open(target).await?;
    let mut totals = Totals::new();
    for session in sessions {
        let shown = connection
            .get(&format!("/api/v1/sessions/{session}"))
            .await?;
        let last = shown["last_event"]
            .as_u64()
            .ok_or_else(|| strange(&shown))?;
        totals.insert(session.clone(), last);
    }
    Ok(totals)
}

fn strange(answer: &serde_json::Value) -> LoadError {
    LoadError::Strange(answer.to_string())
}
