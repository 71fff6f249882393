//! Access control of a port.
//!
//! Start at [`Access::guard`]. A page of another site can make a browser send
//! requests here, and DNS rebinding can make them look like its own. The host
//! and the origin are therefore checked before the token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use windlass_control::{Api, ApiError, SlotClient};

use crate::rate::Rate;
use crate::token::{BearerCheck, Token};

/// How large the headers of a request may be together.
const HEADERS: usize = 32 << 10;

/// The access rules of a port, with a rate limit.
pub struct Access {
    api: Api,
    token: Token,
    /// Names of this machine besides those of loopback.
    hosts: Vec<String>,
    requests: Rate,
    /// Requests without a token.
    open_requests: Rate,
    failures: Rate,
    open: Vec<String>,
}

impl Access {
    /// Lets those in who know the token.
    pub fn new(api: &Api, token: Token) -> Self {
        Self {
            api: api.clone(),
            token,
            hosts: Vec::new(),
            requests: Rate::per_second(5000.0),
            open_requests: Rate::per_second(500.0),
            failures: Rate::per_second(10.0),
            open: vec!["/health".to_owned()],
        }
    }

    /// Takes requests that are addressed to this name or address too.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into().to_ascii_lowercase());
        self
    }

    /// Makes this path public, and everything below it if it ends in a slash:
    /// it needs no token.
    pub fn open(mut self, path: impl Into<String>) -> Self {
        self.open.push(path.into());
        self
    }

    /// Stands before everything that the router has.
    pub fn guard(self, router: Router) -> Router {
        router.layer(middleware::from_fn_with_state(Arc::new(self), check))
    }

    fn refusal(&self, request: &Request) -> Result<(), ApiError> {
        let headers = request.headers();
        let size: usize = headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len())
            .sum();
        if size > HEADERS {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return Err(ApiError::new(status, "the headers are too large"));
        }
        let host = self.check_host(request)?;
        check_origin(headers, &host)?;
        // Those who have not shown the token share a rate of their own, so
        // that they take nothing from those who have.
        if self.is_open(request) {
            return self.open_requests.take().then_some(()).ok_or_else(too_many);
        }
        self.check_token(headers)?;
        if let Some(client) = request.extensions().get::<SlotClient>() {
            client.mark_authenticated();
        }
        self.requests.take().then_some(()).ok_or_else(too_many)
    }

    /// The host that the request is addressed to, which must be this one.
    fn check_host(&self, request: &Request) -> Result<String, ApiError> {
        if request.headers().get_all(header::HOST).iter().count() > 1 {
            let problem = "the request has more than one `Host`";
            return Err(ApiError::new(StatusCode::BAD_REQUEST, problem));
        }
        let authority = match request.uri().authority() {
            Some(authority) => Some(authority.as_str()),
            None => request
                .headers()
                .get(header::HOST)
                .and_then(|host| host.to_str().ok()),
        };
        let authority = authority.unwrap_or_default().to_ascii_lowercase();
        let name = without_port(&authority);
        let known = name == "localhost"
            || name
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
            || self.hosts.iter().any(|host| host == name);
        if known && !authority.contains('@') {
            Ok(authority)
        } else {
            Err(ApiError::new(
                StatusCode::MISDIRECTED_REQUEST,
                "the request is not addressed to this server; use the printed address",
            ))
        }
    }

    fn is_open(&self, request: &Request) -> bool {
        let path = request.uri().path();
        matches!(*request.method(), Method::GET | Method::HEAD)
            && self.open.iter().any(|open| {
                path == open || open.len() > 1 && open.ends_with('/') && path.starts_with(open)
            })
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let problem = match self.token.check(headers) {
            BearerCheck::Accepted => return Ok(()),
            BearerCheck::Wrong => "the token is not this server's",
            BearerCheck::Missing => "a token is needed: `Authorization: Bearer …`",
        };
        if self.failures.take() {
            Err(ApiError::new(StatusCode::UNAUTHORIZED, problem))
        } else {
            Err(too_many())
        }
    }
}

async fn check(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let Err(refusal) = access.refusal(&request) else {
        return next.run(request).await;
    };
    access.api.count_refusal();
    let mut response = refusal.respond_to(request.headers());
    let status = response.status();
    let headers = response.headers_mut();
    if status == StatusCode::UNAUTHORIZED {
        let bearer = header::HeaderValue::from_static("Bearer");
        headers.insert(header::WWW_AUTHENTICATE, bearer);
    } else if status == StatusCode::TOO_MANY_REQUESTS {
        headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    }
    response
}

/// A browser says which page asks: it must be one of this server.
fn check_origin(headers: &HeaderMap, host: &str) -> Result<(), ApiError> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let same_origin = text("origin").is_none_or(|origin| {
        let bare = origin
            .split_once("://")
            .filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
        bare.is_some_and(|(_, from)| from.eq_ignore_ascii_case(host))
    });
    let same_site =
        text("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
    if same_origin && same_site {
        Ok(())
    } else {
        Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "pages of other origins may not ask",
        ))
    }
}

fn too_many() -> ApiError {
    ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too many requests; try again in a second",
    )
}

fn without_port(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split_once(']').map_or("", |(address, _)| address);
    }
    authority
        .split_once(':')
        .map_or(authority, |(name, _)| name)
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
