//! A handle's log: byte ranges and search.

use std::ops::Range;
use std::time::Duration;

use anstream::adapter::strip_bytes;
use axum::Json;
use axum::extract::{Query, rejection::QueryRejection};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use regex::RegexBuilder;
use serde::Deserialize;
use windlass_protocol::{LineRange, LogMatch, LogMatches, ScreenPast};
use windlass_runtime::HandleRef;

use crate::error::ApiError;
use crate::extract::HandleHere;

/// How much is read for one request.
const MOST: u64 = 1 << 20;
/// How much text of lines is given for one request.
const LINES: usize = 1 << 20;
/// How much is looked at at once.
const WINDOW: u64 = 256 << 10;
/// How much a search looks at, from the end backwards as a whole.
const SEARCHED: u64 = 256 << 20;
/// The longest line that is shown of a match.
const LINE: usize = 500;

#[derive(Deserialize)]
pub(crate) struct LogQuery {
    /// The first byte; counted from the end where it is negative.
    from: Option<i64>,
    /// The byte after the last.
    to: Option<u64>,
    /// Only bytes that arrived within this many seconds.
    since_secs: Option<f64>,
    /// Without control sequences.
    #[serde(default)]
    plain: bool,
    /// Lines by their numbers, as they are shown, instead of bytes.
    lines: Option<LineRange>,
}

/// The bytes of a range, at most 1 MiB of them. Headers say where they begin, in
/// which line that is, and how much there is.
pub(crate) async fn read(
    HandleHere(handle): HandleHere,
    query: Result<Query<LogQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|_| {
        ApiError::bad(
            "`from` and `to` must be whole numbers, `since_secs` a number, `plain` true or false, \
             `lines` numbers such as 4-98",
        )
    })?;
    if let Some(lines) = query.lines {
        let text = blocking(move || handle.lines(lines, LINES)).await?;
        let kind = [(CONTENT_TYPE, "text/plain; charset=utf-8")];
        return Ok((kind, text).into_response());
    }
    let written = handle.written();
    let mut range = range(&query, written)?;
    if let Some(seconds) = query.since_secs {
        let age = Duration::try_from_secs_f64(seconds).map_err(|_| {
            ApiError::bad("`since_secs` must be a number of seconds from 0 on, such as 90")
        })?;
        let start = handle.written_before(age).max(range.start);
        range = start..range.end.max(start);
    }
    let start = range.start;
    let (bytes, line) = blocking(move || (handle.log(range), handle.line_at(start))).await?;
    let end = start + bytes.len() as u64;
    let bytes = if query.plain {
        strip_bytes(&bytes).into_vec()
    } else {
        bytes
    };
    let kind = if query.plain {
        "text/plain; charset=utf-8"
    } else {
        "application/octet-stream"
    };
    let headers = [
        (CONTENT_TYPE, kind.to_owned()),
        (
            HeaderName::from_static("windlass-log-start"),
            start.to_string(),
        ),
        (HeaderName::from_static("windlass-log-end"), end.to_string()),
        (
            HeaderName::from_static("windlass-log-line"),
            line.to_string(),
        ),
        (
            HeaderName::from_static("windlass-log-size"),
            written.to_string(),
        ),
    ];
    Ok((headers, bytes).into_response())
}

/// The lines that have left the terminal's screen, as far as they are kept.
pub(crate) async fn scrollback(HandleHere(handle): HandleHere) -> Result<Response, ApiError> {
    let id = handle.id().clone();
    let lines = blocking(move || handle.scrollback()).await?;
    let lines = lines.ok_or_else(|| ApiError::no_terminal(&id))?;
    let kind = [(CONTENT_TYPE, "text/plain; charset=utf-8")];
    Ok((kind, lines).into_response())
}

/// The rows that have left the terminal's screen, with their looks.
pub(crate) async fn past(HandleHere(handle): HandleHere) -> Result<Json<ScreenPast>, ApiError> {
    let id = handle.id().clone();
    let past = blocking(move || handle.past()).await?;
    past.map(Json).ok_or_else(|| ApiError::no_terminal(&id))
}

fn range(query: &LogQuery, written: u64) -> Result<Range<u64>, ApiError> {
    let start = range_start(query, written);
    let end = query.to.unwrap_or(u64::MAX).min(written);
    if query.to.is_some_and(|to| to < start) {
        return Err(ApiError::bad("`to` must not be before `from`"));
    }
    Ok(start..end.min(start.saturating_add(MOST)).max(start))
}

fn range_start(query: &LogQuery, written: u64) -> u64 {
    match query.from.unwrap_or(0) {
        from if from < 0 => written.saturating_sub(from.unsigned_abs()),
        from => from.unsigned_abs().min(written),
    }
}

/// Reads files beside everything else.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        ApiError::new(status, "the log could not be read; try again")
    })
}

#[derive(Deserialize)]
pub(crate) struct Searched {
    pattern: String,
    limit: Option<usize>,
}

/// The lines that match, with where they begin, oldest first.
pub(crate) async fn search(
    HandleHere(handle): HandleHere,
    query: Result<Query<Searched>, QueryRejection>,
) -> Result<Json<LogMatches>, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::bad("give a `pattern` to search for"))?;
    let pattern = RegexBuilder::new(&query.pattern)
        .size_limit(1 << 20)
        .build();
    let pattern = pattern.map_err(|error| {
        ApiError::bad(format!("`pattern` is not a regular expression: {error}"))
    })?;
    let limit = query.limit.unwrap_or(100).min(1000);
    let matches = blocking(move || {
        let mut found = Vec::new();
        lines(&handle, |start, line| {
            if pattern.is_match(line) {
                let line = line.chars().take(LINE).collect();
                found.push(LogMatch { from: start, line });
            }
            found.len() < limit
        });
        found
    })
    .await?;
    Ok(Json(LogMatches { matches }))
}

/// Passes the lines of the log without control sequences to `line`, until it
/// returns false.
fn lines(handle: &HandleRef, mut line: impl FnMut(u64, &str) -> bool) {
    let end = handle.written();
    let mut at = end.saturating_sub(SEARCHED);
    let mut rest: Vec<u8> = Vec::new();
    let mut rest_start = at;
    while at < end {
        let window = at..(at + WINDOW).min(end);
        rest.extend(handle.log(window.clone()));
        at = window.end;
        let mut begin = 0;
        while let Some(length) = rest[begin..].iter().position(|byte| *byte == b'\n') {
            let text = strip_bytes(&rest[begin..begin + length]).into_vec();
            let text = String::from_utf8_lossy(&text);
            if !line(rest_start + begin as u64, text.trim_end_matches('\r')) {
                return;
            }
            begin += length + 1;
        }
        // A line without end is looked at in pieces.
        if rest.len() - begin > usize::try_from(WINDOW).unwrap_or(usize::MAX) {
            begin = rest.len();
        }
        rest.drain(..begin);
        rest_start += begin as u64;
    }
    let text = strip_bytes(&rest).into_vec();
    if !text.is_empty() {
        line(rest_start, &String::from_utf8_lossy(&text));
    }
}
