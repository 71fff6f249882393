//! The page that `windlass serve` shows: what a person looks at while tools
//! run.
//!
//! Its files lie in `page/` beside this crate's sources and are part of the
//! binary. They hold no data and need no token; what they show they ask for
//! under `/api/v1`, with the token that the printed link carries.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use windlass_control::ApiError;

/// Nothing but the page's own files and this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The page at `/` and its files under `/assets/`, for whoever may reach the
/// server: put it behind [`Access::open`](crate::Access::open).
pub fn page() -> Router {
    Router::new()
        .route(
            "/",
            get(async |headers: HeaderMap| answer("index.html", &headers)),
        )
        .route(
            "/assets/{file}",
            get(async |Path(name): Path<String>, headers: HeaderMap| answer(&name, &headers)),
        )
}

fn answer(name: &str, headers: &HeaderMap) -> Response {
    let Some((_, body)) = FILES.iter().find(|(file, _)| *file == name) else {
        return ApiError::not_found("the page has no such file").into_response();
    };
    let tag = tag(body);
    let known = headers.get(IF_NONE_MATCH);
    let is_known = known.is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let about: [(HeaderName, &str); 6] = [
        (CONTENT_TYPE, kind(name)),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        // Asked for again each time, and sent again when the binary is another.
        (CACHE_CONTROL, "no-cache"),
        (ETAG, tag.as_str()),
    ];
    if is_known {
        (StatusCode::NOT_MODIFIED, about).into_response()
    } else {
        (about, *body).into_response()
    }
}

fn tag(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../page/", $name)))),*]
    };
}

/// Every file of the page.
const FILES: &[(&str, &[u8])] = files![
    "index.html",
    "abort.js",
    "address.js",
    "ansi.js",
    "api.js",
    "ask.js",
    "asks.js",
    "base.css",
    "calls.js",
    "clipboard.js",
    "clipped.js",
    "colours.js",
    "connect.js",
    "connection.js",
    "conversation.js",
    "dark.css",
    "dom.js",
    "filters.js",
    "find.js",
    "fit.js",
    "follow.js",
    "form.js",
    "format.js",
    "gate.js",
    "home.css",
    "home.js",
    "held.js",
    "hosts.js",
    "icon.svg",
    "keyboard.js",
    "keys.js",
    "lanes.js",
    "links.js",
    "log.js",
    "main.js",
    "markdown.js",
    "mouse.js",
    "notify.js",
    "output.js",
    "part.js",
    "past.js",
    "picture.js",
    "question.js",
    "recent.js",
    "recorded.js",
    "rows.js",
    "runs.js",
    "screen.js",
    "shortcuts.js",
    "side.css",
    "side.js",
    "start.js",
    "store.js",
    "stream.js",
    "takeover.js",
    "terminal.css",
    "terminal.js",
    "theme.js",
    "timeline.css",
    "timeline.js",
    "token.js",
    "view.css",
    "view.js",
    "virtual.js",
    "wall.js",
];

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
