//! `http`: one request, tried again where that may help.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ureq::Agent;
use ureq::http::{Request, Response};
use windlass_sdk::Error;

/// The longest answer that is read.
const MOST_BYTES: u64 = 1 << 20;
/// The longest pause before another try, whatever the server asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Sends an HTTP request and gives the status and the body.
///
/// Connections that fail, time-outs and the statuses 429, 502, 503 and 504 are
/// tried again, except for `post` and `patch`, which might do their work
/// twice. What still fails then is marked as transient. Other statuses of 400
/// and above are errors that trying again would not mend.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Http {
    /// Where to, with `http://` or `https://`.
    url: String,
    #[serde(default)]
    method: Method,
    /// Further headers.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// What to send.
    body: Option<String>,
    /// How long one try may take.
    #[serde(default = "thirty")]
    timeout_secs: u16,
    /// How often to try again; twice, and for `post` and `patch` never, unless
    /// said.
    retries: Option<u8>,
}

fn thirty() -> u16 {
    30
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

/// What came back.
#[derive(Serialize)]
pub(crate) struct Answer {
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    body: String,
}

impl Http {
    /// The request in a line, for a person.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.url)
    }

    fn retries(&self) -> u8 {
        let default = match self.method {
            Method::Post | Method::Patch => 0,
            _ => 2,
        };
        self.retries.unwrap_or(default)
    }
}

/// Sends the request, and again while that may help.
pub(crate) fn run(request: &Http) -> Result<Answer, Error> {
    let timeout = Duration::from_secs(request.timeout_secs.max(1).into());
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .build()
        .into();
    let mut pause = Duration::from_millis(250);
    let mut left = request.retries();
    loop {
        let failure = match send(&agent, request) {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        if left == 0 || !failure.error.is_transient() {
            return Err(failure.error);
        }
        left -= 1;
        std::thread::sleep(failure.pause.unwrap_or(pause).min(LONGEST_PAUSE));
        pause *= 2;
    }
}

/// A try that failed.
struct Failure {
    error: Error,
    /// How long the server wants to be left alone.
    pause: Option<Duration>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, pause: None }
    }
}

fn send(agent: &Agent, request: &Http) -> Result<Answer, Failure> {
    let mut builder = Request::builder()
        .method(request.method.to_string().as_str())
        .uri(&request.url);
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    let failed = |error: ureq::Error| of_error(error, request);
    let unsendable = |error: ureq::http::Error| Error::from(error).context("cannot send that");
    let mut response = match &request.body {
        Some(body) => agent.run(builder.body(body.as_str()).map_err(unsendable)?),
        None => agent.run(builder.body(()).map_err(unsendable)?),
    }
    .map_err(failed)?;
    let header = |response: &Response<_>, name: &str| {
        let value = response.headers().get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let content_type = header(&response, "content-type");
    let pause = header(&response, "retry-after").and_then(|secs| secs.parse().ok());
    let status = response.status();
    let body = response.body_mut().with_config().limit(MOST_BYTES);
    let body = body.lossy_utf8(true).read_to_string().map_err(failed)?;
    if status.is_success() || status.is_redirection() {
        return Ok(Answer {
            status: status.as_u16(),
            content_type,
            body,
        });
    }
    let excerpt: String = body.chars().take(2000).collect();
    let error = Error::new(format_args!(
        "{} was answered with {status}\n{excerpt}",
        request.line()
    ));
    Err(Failure {
        error: if matches!(status.as_u16(), 429 | 502..=504) {
            error.transient()
        } else {
            error
        },
        pause: pause.map(Duration::from_secs),
    })
}

/// Whether trying again may help is known from the kind of the error.
fn of_error(error: ureq::Error, request: &Http) -> Error {
    let transient = matches!(
        error,
        ureq::Error::Timeout(_)
            | ureq::Error::Io(_)
            | ureq::Error::ConnectionFailed
            | ureq::Error::HostNotFound
    );
    let error = Error::from(error).context(format_args!("{} failed", request.line()));
    if transient { error.transient() } else { error }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        })
    }
}
