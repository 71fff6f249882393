//! No body brings an error of ours, wherever it is sent.
//!
//! The first byte says where; the rest is the body.

#![no_main]

use std::cell::OnceCell;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use libfuzzer_sys::fuzz_target;
use tokio::runtime::{Builder, Runtime as Tokio};
use tower::ServiceExt;
use windlass_runtime::{Attendance, Catalogue, Runtime, Session, SessionOptions};
use windlass_control::Api;
use windlass_testing::{Scripted, ScriptedJob, lasting};

/// What takes a body; `ID` is a session.
const PATHS: [&str; 12] = [
    "/api/v1/sessions",
    "/api/v1/sessions/ID/calls",
    "/api/v1/sessions/ID/turn_end",
    "/api/v1/sessions/ID/handles/h/input",
    "/api/v1/sessions/ID/handles/h/resize",
    "/api/v1/sessions/ID/permissions/per_1",
    "/api/v1/permissions/per_1",
    "/api/v1/sessions/ID/questions/q_1",
    "/api/v1/questions/q_1",
    "/session",
    "/session/ID/permissions/per_1",
    "/permission/per_1/reply",
];

struct Stage {
    tokio: Tokio,
    session: Session,
    router: Router,
}

impl Stage {
    fn new() -> Self {
        let tokio = Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = tokio.enter();
        let tool = Scripted::new();
        tool.opening(ScriptedJob::end);
        let mut catalogue = Catalogue::new();
        catalogue.register(lasting("t"), tool.executor()).unwrap();
        let runtime = Runtime::new(catalogue);
        let session = runtime.session(SessionOptions {
            attendance: Attendance::Attended,
            ..SessionOptions::default()
        });
        let api = Api::new(&runtime, "serve");
        let opened = runtime.clone();
        let router = api
            .opening(Arc::new(move |options| opened.session(options)))
            .router();
        drop(_inside);
        Self {
            tokio,
            session,
            router,
        }
    }
}

thread_local! {
    static STAGE: OnceCell<Stage> = const { OnceCell::new() };
}

fuzz_target!(|data: &[u8]| {
    let Some((path, body)) = data.split_first() else {
        return;
    };
    STAGE.with(|stage| {
        let stage = stage.get_or_init(Stage::new);
        let path = PATHS[usize::from(*path) % PATHS.len()];
        let path = path.replace("ID", stage.session.id().as_str());
        let request = Request::post(path).body(Body::from(body.to_vec())).unwrap();
        let answering = stage.router.clone().oneshot(request);
        let response = stage.tokio.block_on(answering).unwrap();
        assert!(!response.status().is_server_error(), "{response:?}");
    });
});
