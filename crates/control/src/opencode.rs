//! The part of opencode's interface that concerns tools.
//!
//! Start at [`router`]. Both generations of its SDK are supported. `follow.rs`
//! converts the events, `translate.rs` the types of `wire.rs`. Models, files and prompts are
//! not supported: calls are run under `/api/v1`.

mod follow;
mod messages;
mod permissions;
mod refusal;
mod sessions;
mod stream;
mod translate;
pub(crate) mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Once};

use axum::Router;
use axum::middleware;
use axum::routing::{get, post};
use parking_lot::Mutex;

use crate::api::Api;
use crate::numbered::NumberedEvents;
use crate::proxy;

/// State for opencode's clients.
pub(crate) struct Opencode {
    /// The events in opencode's format.
    events: NumberedEvents<OpencodeItem>,
    follows: Once,
    /// The titles that clients gave their sessions.
    titles: Mutex<HashMap<String, String>>,
}

/// One event as it is sent.
#[derive(Clone)]
struct OpencodeItem {
    data: Arc<str>,
    /// The folder of its session.
    directory: Arc<str>,
}

impl Opencode {
    pub(crate) fn new() -> Self {
        Self {
            events: NumberedEvents::new(),
            follows: Once::new(),
            titles: Mutex::default(),
        }
    }
}

/// Everything that opencode's clients find here.
pub(crate) fn router(api: &Api) -> Router<Api> {
    let session = Router::new()
        .route("/", get(sessions::show))
        .route("/message", get(messages::list))
        .route("/permissions/{permission}", post(permissions::respond));
    let reached = middleware::from_fn_with_state(api.clone(), proxy::elsewhere);
    Router::new()
        .route("/event", get(stream::events))
        .route("/session", get(sessions::list).post(sessions::create))
        .nest("/session/{id}", session.route_layer(reached))
        .route("/permission", get(permissions::list))
        .route("/permission/{request}/reply", post(permissions::reply))
        .layer(middleware::map_response(refusal::in_their_words))
}

#[cfg(test)]
#[path = "opencode_tests.rs"]
mod tests;
