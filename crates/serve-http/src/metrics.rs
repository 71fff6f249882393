//! How it goes: health, and numbers in Prometheus' text format.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde_json::{Value, json};
use windlass_protocol::{HandleState, SessionId};
use windlass_runtime::{Entry, SessionEvent, ToolEvent};

use crate::api::Api;

/// The upper bounds of the latency's buckets, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0];
/// How many calls are timed at once; of those beyond, the time is not known.
const TIMED: usize = 4096;

#[derive(Default)]
pub(crate) struct Metrics {
    calls: Mutex<Calls>,
    output_bytes: AtomicU64,
    streams: AtomicUsize,
    pub(crate) connections: AtomicUsize,
    pub(crate) refused: AtomicU64,
}

#[derive(Default)]
struct Calls {
    answered: BTreeMap<bool, u64>,
    open: HashMap<(SessionId, std::sync::Arc<str>), SystemTime>,
    buckets: [u64; BUCKETS.len()],
    sum: f64,
    count: u64,
}

impl Metrics {
    /// Counts what happened.
    pub(crate) fn note(&self, session: &SessionId, entry: &Entry) {
        match &entry.event {
            SessionEvent::Called { call, .. } => {
                let mut calls = self.calls.lock();
                if calls.open.len() < TIMED {
                    let key = (session.clone(), std::sync::Arc::clone(call));
                    calls.open.insert(key, entry.at);
                }
            }
            SessionEvent::Replied { call, is_error } => {
                let mut calls = self.calls.lock();
                *calls.answered.entry(*is_error).or_default() += 1;
                let key = (session.clone(), std::sync::Arc::clone(call));
                if let Some(began) = calls.open.remove(&key) {
                    let took = entry.at.duration_since(began).unwrap_or_default();
                    calls.observe(took.as_secs_f64());
                }
            }
            SessionEvent::Tool {
                event: ToolEvent::Wrote { bytes },
                ..
            } => {
                self.output_bytes.fetch_add(*bytes, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

impl Calls {
    fn observe(&mut self, seconds: f64) {
        for (bucket, bound) in self.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
        self.sum += seconds;
        self.count += 1;
    }
}

/// Counts a reader of events, and keeps an owned session from expiring.
pub(crate) struct Watched {
    api: Api,
    session: Option<String>,
}

impl Watched {
    pub(crate) fn new(api: &Api, session: Option<&str>) -> Self {
        api.0.metrics.streams.fetch_add(1, Ordering::Relaxed);
        let watched = Self {
            api: api.clone(),
            session: session.map(str::to_owned),
        };
        watched.count(|streams| streams + 1);
        watched
    }

    fn count(&self, change: impl FnOnce(usize) -> usize) {
        let Some(session) = &self.session else { return };
        if let Some(owned) = self.api.0.owned.lock().get_mut(session) {
            owned.streams = change(owned.streams);
            owned.last = tokio::time::Instant::now();
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.api.0.metrics.streams.fetch_sub(1, Ordering::Relaxed);
        self.count(|streams| streams.saturating_sub(1));
    }
}

/// It answers, so it is well.
pub(crate) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

pub(crate) async fn show(State(api): State<Api>) -> Response {
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, text(&api)).into_response()
}

fn text(api: &Api) -> String {
    let metrics = &api.0.metrics;
    let sessions = api.sessions().list();
    let mut text = String::new();
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for state in [
        HandleState::Pending,
        HandleState::Running,
        HandleState::Waiting,
        HandleState::Stopped,
    ] {
        states.insert(state.as_str(), 0);
    }
    let mut asked = 0;
    for (session, _) in &sessions {
        asked += session.desk().map_or(0, |desk| desk.len());
        for handle in session.handles() {
            *states.entry(handle.state.as_str()).or_default() += 1;
        }
    }
    let mut gauge = |name: &str, help: &str, kind: &str, values: &[(String, String)]| {
        let _ = writeln!(
            text,
            "# HELP windlass_{name} {help}\n# TYPE windlass_{name} {kind}"
        );
        for (labels, value) in values {
            let _ = writeln!(text, "windlass_{name}{labels} {value}");
        }
    };
    let one = |value: u64| vec![(String::new(), value.to_string())];
    gauge(
        "sessions",
        "Sessions that are under way.",
        "gauge",
        &one(sessions.len() as u64),
    );
    let by_state: Vec<_> = states
        .iter()
        .map(|(state, count)| (format!("{{state=\"{state}\"}}"), count.to_string()))
        .collect();
    gauge(
        "handles",
        "Handles that can be read, by state.",
        "gauge",
        &by_state,
    );
    gauge(
        "asks_pending",
        "Permissions and questions that wait for a person.",
        "gauge",
        &one(asked as u64),
    );
    let streams = metrics.streams.load(Ordering::Relaxed) as u64;
    gauge(
        "event_streams",
        "Event streams that are open.",
        "gauge",
        &one(streams),
    );
    let connections = metrics.connections.load(Ordering::Relaxed) as u64;
    gauge(
        "connections",
        "Connections that are open.",
        "gauge",
        &one(connections),
    );
    gauge(
        "event_queue_length",
        "Events kept for readers that are behind.",
        "gauge",
        &one(api.0.hub.len() as u64),
    );
    let refused = metrics.refused.load(Ordering::Relaxed);
    gauge(
        "requests_refused_total",
        "Requests that access was refused to.",
        "counter",
        &one(refused),
    );
    let bytes = metrics.output_bytes.load(Ordering::Relaxed);
    gauge(
        "output_bytes_total",
        "Bytes that tools wrote.",
        "counter",
        &one(bytes),
    );
    let calls = metrics.calls.lock();
    let answered: Vec<_> = [false, true]
        .map(|is_error| {
            let count = calls.answered.get(&is_error).copied().unwrap_or(0);
            (format!("{{error=\"{is_error}\"}}"), count.to_string())
        })
        .to_vec();
    gauge(
        "calls_total",
        "Calls that were answered.",
        "counter",
        &answered,
    );
    gauge(
        "calls_open",
        "Calls that are being answered.",
        "gauge",
        &one(calls.open.len() as u64),
    );
    let _ = writeln!(
        text,
        "# HELP windlass_call_seconds How long calls took.\n# TYPE windlass_call_seconds histogram"
    );
    for (bucket, bound) in calls.buckets.iter().zip(BUCKETS) {
        let _ = writeln!(
            text,
            "windlass_call_seconds_bucket{{le=\"{bound}\"}} {bucket}"
        );
    }
    let (sum, count) = (calls.sum, calls.count);
    let _ = writeln!(
        text,
        "windlass_call_seconds_bucket{{le=\"+Inf\"}} {count}\n\
         windlass_call_seconds_sum {sum}\nwindlass_call_seconds_count {count}"
    );
    text
}
