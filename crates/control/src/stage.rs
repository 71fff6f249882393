//! A test fixture: a runtime with scripted tools, and requests to its router
//! without a network.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;
use windlass_runtime::{
    Attendance, Catalogue, RunMode, RunPolicy, Runtime, Session, SessionOptions, ToolDefinition,
};
use windlass_testing::{Scripted, lasting};

use crate::api::Api;

/// Only ends what hangs.
const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) struct Stage {
    /// Runs `free`, which needs no permission, and `asked`, which does.
    pub(crate) tool: Scripted,
    pub(crate) api: Api,
    /// A session whose requests are replied to.
    pub(crate) session: Session,
    router: Router,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(|api| api)
    }

    /// With the interface set up by the test.
    pub(crate) fn with(change: impl FnOnce(Api) -> Api) -> Self {
        let tool = Scripted::new();
        let mut catalogue = Catalogue::new();
        let asked = ToolDefinition {
            run: RunPolicy::starting(RunMode::Ask),
            ..lasting("asked")
        };
        for definition in [lasting("free"), asked] {
            catalogue.register(definition, tool.executor()).unwrap();
        }
        let runtime = Runtime::new(catalogue);
        let session = runtime.session(SessionOptions {
            attendance: Attendance::Attended,
            root: "/project".into(),
            ..SessionOptions::default()
        });
        let api = Api::new(&runtime, "serve").opening(Arc::new(move |mut options| {
            options.root = "/project".into();
            runtime.session(options)
        }));
        let api = change(api);
        Self {
            tool,
            session,
            router: api.router(),
            api,
        }
    }

    /// Answers a request.
    pub(crate) async fn send(&self, request: Request<Body>) -> (StatusCode, Bytes) {
        let answering = async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let status = response.status();
            (
                status,
                response.into_body().collect().await.unwrap().to_bytes(),
            )
        };
        within(answering).await
    }

    /// Asks with a body as it is.
    pub(crate) async fn post_bytes(
        &self,
        path: &str,
        body: impl Into<Body>,
    ) -> (StatusCode, Bytes) {
        self.send(request("POST", path, body)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let (status, bytes) = self.post_bytes(path, body.to_string()).await;
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, Value) {
        let (status, bytes) = self.send(request("GET", path, "")).await;
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Follows an event stream.
    pub(crate) async fn follow(&self, path: &str) -> Events {
        let asking = self.router.clone().oneshot(request("GET", path, ""));
        let response = within(asking).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        Events {
            body: response.into_body(),
            read: String::new(),
        }
    }
}

pub(crate) fn request(method: &str, path: &str, body: impl Into<Body>) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.into())
        .unwrap()
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(DEADLINE, work).await;
    done.expect("it does not hang")
}

/// A stream of events whose `data` is read.
pub(crate) struct Events {
    body: Body,
    read: String,
}

impl Events {
    /// The next event's data; `None` when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let mut lines = event.lines();
                let data = lines.find_map(|line| line.strip_prefix("data: "));
                let data = data.map(ToOwned::to_owned);
                self.read = rest.to_owned();
                if let Some(data) = data {
                    return Some(serde_json::from_str(&data).unwrap());
                }
                continue;
            }
            let frame = within(self.body.frame()).await?;
            let data = frame.unwrap().into_data().unwrap();
            self.read.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// The next event of that type.
    #[cfg(feature = "opencode")]
    pub(crate) async fn of_type(&mut self, name: &str) -> Value {
        loop {
            let event = self.next().await.expect("the stream has not ended");
            if event["type"] == name {
                return event["properties"].clone();
            }
        }
    }
}
