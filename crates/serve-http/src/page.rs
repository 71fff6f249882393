//! The page that `windlass serve` shows: what a person looks at while tools
//! run.
//!
//! Its files lie in `page/` beside this crate's sources. The binary contains them,
//! compressed by the build script. They hold no data and need no token; what they
//! show they ask for under `/api/v1`, with the token that the printed link carries.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use windlass_control::ApiError;

use crate::packed;

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
    let Some(file) = files().iter().find(|file| file.name == name) else {
        return ApiError::not_found("the page has no such file").into_response();
    };
    let known = headers.get(IF_NONE_MATCH);
    let is_known = known.is_some_and(|known| known.as_bytes() == file.tag.as_bytes());
    let about: [(HeaderName, &str); 6] = [
        (CONTENT_TYPE, kind(name)),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        // Asked for again each time, and sent again when the binary is another.
        (CACHE_CONTROL, "no-cache"),
        (ETAG, file.tag.as_str()),
    ];
    if is_known {
        (StatusCode::NOT_MODIFIED, about).into_response()
    } else {
        (about, file.body.clone()).into_response()
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

/// Every file of the page, with its name.
fn files() -> &'static [PageFile] {
    static FILES: OnceLock<Vec<PageFile>> = OnceLock::new();
    FILES.get_or_init(|| {
        let all = Bytes::from(packed::page());
        let mut start = 0;
        let mut files = Vec::with_capacity(packed::PAGE_TABLE.len());
        for &(name, end) in packed::PAGE_TABLE {
            let body = all.slice(start..end);
            let tag = tag(&body);
            files.push(PageFile { name, body, tag });
            start = end;
        }
        files
    })
}

/// A file of the page.
struct PageFile {
    name: &'static str,
    body: Bytes,
    /// Differs between versions of the file.
    tag: String,
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
