//! Health, and metrics in Prometheus' text format.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use windlass_protocol::{HandleState, HandleUse, Health, SessionId};
use windlass_runtime::{Entry, Session, SessionEvent, ToolEvent};

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
pub(crate) async fn health() -> Json<Health> {
    Json(Health {
        status: "ok".to_owned(),
    })
}

pub(crate) async fn show(State(api): State<Api>) -> Response {
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, text(&api)).into_response()
}

fn text(api: &Api) -> String {
    let metrics = &api.0.metrics;
    let mut text = PrometheusText::default();
    of_sessions(&mut text, api);
    let streams = metrics.streams.load(Ordering::Relaxed);
    text.one("event_streams", "Event streams that are open.", streams);
    let connections = metrics.connections.load(Ordering::Relaxed);
    text.one("connections", "Connections that are open.", connections);
    let kept = api.0.hub.len();
    let help = "Events kept for readers that are behind.";
    text.one("event_queue_length", help, kept);
    let refused = metrics.refused.load(Ordering::Relaxed);
    let help = "Requests that access was refused to.";
    text.one("requests_refused_total", help, refused);
    let bytes = metrics.output_bytes.load(Ordering::Relaxed);
    text.one("output_bytes_total", "Bytes that tools wrote.", bytes);
    of_calls(&mut text, &metrics.calls.lock());
    text.0
}

fn of_sessions(text: &mut PrometheusText, api: &Api) {
    let sessions = api.sessions().list();
    let all = [
        HandleState::Pending,
        HandleState::Running,
        HandleState::Waiting,
        HandleState::Stopped,
    ];
    let mut states: BTreeMap<&str, usize> = all.map(|state| (state.as_str(), 0)).into();
    let mut asked = 0;
    let mut used = Vec::new();
    for (session, _) in &sessions {
        asked += session.requests().len();
        for handle in session.handles() {
            *states.entry(handle.state.as_str()).or_default() += 1;
        }
        for handle in session.handle_infos() {
            if let Some(usage) = handle.usage {
                let labels = format!("{{session=\"{}\",handle=\"{}\"}}", session.id(), handle.id);
                used.push((labels, usage));
            }
        }
    }
    text.one("sessions", "Sessions that are under way.", sessions.len());
    of_record(text, &sessions);
    text.head("handles", "Handles that can be read, by state.", "gauge");
    for (state, count) in states {
        text.line("handles", &format!("{{state=\"{state}\"}}"), count);
    }
    of_use(text, &used);
    let help = "Permissions and questions that wait for a person.";
    text.one("asks_pending", help, asked);
}

/// The use of the machine by every handle that runs.
fn of_use(text: &mut PrometheusText, used: &[(String, HandleUse)]) {
    let help = "CPU time of a handle's processes, in seconds.";
    text.head("handle_cpu_seconds", help, "gauge");
    for (labels, usage) in used {
        text.line("handle_cpu_seconds", labels, usage.cpu_secs);
    }
    let help = "Memory of a handle's processes.";
    text.head("handle_memory_bytes", help, "gauge");
    for (labels, usage) in used {
        text.line("handle_memory_bytes", labels, usage.memory);
    }
    let help = "Processes of a handle that run.";
    text.head("handle_processes", help, "gauge");
    for (labels, usage) in used {
        text.line("handle_processes", labels, usage.processes);
    }
}

/// Sessions of one process share a record, so that the greatest numbers are its own.
fn of_record(text: &mut PrometheusText, sessions: &[(Session, SystemTime)]) {
    let troubles = sessions
        .iter()
        .filter_map(|(session, _)| session.record_trouble());
    let (mut failing, mut waiting, mut lost) = (0, 0, 0);
    for trouble in troubles {
        failing += usize::from(trouble.error.is_some());
        waiting = waiting.max(trouble.waiting);
        lost = lost.max(trouble.lost);
    }
    let help = "Sessions whose record cannot be written.";
    text.one("record_failing", help, failing);
    let help = "Changes that wait to be recorded.";
    text.one("record_waiting", help, waiting);
    let help = "Changes that were not recorded.";
    text.one("record_lost_total", help, lost);
}

fn of_calls(text: &mut PrometheusText, calls: &Calls) {
    text.head("calls_total", "Calls that were answered.", "counter");
    for is_error in [false, true] {
        let count = calls.answered.get(&is_error).copied().unwrap_or(0);
        text.line("calls_total", &format!("{{error=\"{is_error}\"}}"), count);
    }
    let open = calls.open.len();
    text.one("calls_open", "Calls that are being answered.", open);
    text.head("call_seconds", "How long calls took.", "histogram");
    for (bucket, bound) in calls.buckets.iter().zip(BUCKETS) {
        text.line(
            "call_seconds_bucket",
            &format!("{{le=\"{bound}\"}}"),
            bucket,
        );
    }
    text.line("call_seconds_bucket", "{le=\"+Inf\"}", calls.count);
    text.line("call_seconds_sum", "", calls.sum);
    text.line("call_seconds_count", "", calls.count);
}

/// Prometheus' text format.
#[derive(Default)]
struct PrometheusText(String);

impl PrometheusText {
    /// A number that stands alone. One whose name says that it is a total only
    /// grows.
    fn one(&mut self, name: &str, help: &str, value: impl Display) {
        let kind = if name.ends_with("_total") {
            "counter"
        } else {
            "gauge"
        };
        self.head(name, help, kind);
        self.line(name, "", value);
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(
            self.0,
            "# HELP windlass_{name} {help}\n# TYPE windlass_{name} {kind}"
        );
    }

    fn line(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "windlass_{name}{labels} {value}");
    }
}
