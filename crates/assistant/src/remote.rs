//! A model behind HTTP: sending, reading, retrying.
//!
//! Start at [`RemoteModel::stream`](Model::stream). A reply that breaks off is
//! requested again from the start, so that a partial reply is never acted on. A
//! request that the provider rejects is not retried.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use ulid::Ulid;
use windlass_providers::ProviderApi;
use windlass_schema::Dialect;

use crate::error::ModelError;
use crate::frames::Frames;
use crate::model::{Model, ModelEvent, ModelId, ModelRequest, ModelStream};
use crate::secret::Secret;
use crate::wire::{ReadError, ReplyReader, WireFormat, error_message};

/// The retry policy for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Maximum number of attempts.
    pub attempts: u32,
    /// The pause before the second attempt; it doubles each time.
    pub pause: Duration,
    /// The longest pause. If the provider asks for a longer one, no further
    /// attempt is made.
    pub longest: Duration,
    /// The longest time without data before the stream counts as broken.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempts: 5,
            pause: Duration::from_secs(1),
            longest: Duration::from_mins(2),
            silence: Duration::from_mins(5),
        }
    }
}

/// The address and API of a model.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The API.
    pub api: ProviderApi,
    /// The schema dialect for tools.
    pub dialect: Dialect,
    /// The URL to which paths are appended.
    pub base_url: String,
    /// Its key, if it needs one.
    pub key: Option<Secret>,
    /// The source of the key, for error messages.
    pub key_source: String,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// The retry policy.
    pub patience: Patience,
}

/// A model behind HTTP.
#[derive(Debug, Clone)]
pub struct RemoteModel {
    id: ModelId,
    endpoint: Endpoint,
    client: Client,
    headers: HeaderMap,
    url: String,
}

/// A model that cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The key or a header cannot be sent.
    #[error("header `{0}` cannot be sent; it contains characters that are not allowed in a header")]
    Header(String),
    /// The HTTP client cannot be created.
    #[error("the HTTP client cannot be created: {0}")]
    Client(String),
}

impl RemoteModel {
    /// A model at an endpoint. Nothing is sent yet.
    pub fn new(id: ModelId, endpoint: Endpoint) -> Result<Self, SetupError> {
        let base = endpoint.base_url.trim_end_matches('/');
        let url = format!("{base}{}", endpoint.api.path(&id));
        let headers = headers(&endpoint)?;
        // Another caller in this process may have been first, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(30))
            // The key would go where the answer says, and be known there.
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true);
        if is_local(&endpoint.base_url) {
            client = client.no_proxy();
        }
        let client = client
            .build()
            .map_err(|error| SetupError::Client(causes(&error)))?;
        Ok(Self {
            id,
            endpoint,
            client,
            headers,
            url,
        })
    }

    /// Asks for a JSON document of the provider, once.
    pub(crate) async fn get(
        &self,
        path: &str,
        wait: Duration,
        longest: usize,
    ) -> Result<Value, ModelError> {
        let base = self.endpoint.base_url.trim_end_matches('/');
        let request = self.client.get(format!("{base}{path}"));
        let mut response = self.send(request, wait).await?;
        let mut body = Vec::new();
        loop {
            match tokio::time::timeout(wait, response.chunk()).await {
                Ok(Ok(Some(bytes))) if body.len() + bytes.len() <= longest => body.extend(bytes),
                Ok(Ok(None)) => break,
                Ok(Ok(Some(_))) => return Err(self.broken("it is too long")),
                Ok(Err(error)) => return Err(self.broken(causes(&error.without_url()))),
                Err(_) => return Err(self.broken("the connection timed out")),
            }
        }
        serde_json::from_slice(&body).map_err(|_| self.broken("it is not JSON"))
    }

    async fn send(&self, request: RequestBuilder, wait: Duration) -> Result<Response, ModelError> {
        let request = request.headers(self.headers.clone());
        let response = match tokio::time::timeout(wait, request.send()).await {
            Ok(Ok(response)) => response,
            // Nobody listens at an address of this machine, and that does not
            // change while it is asked again.
            Ok(Err(error)) if error.is_connect() && is_local(&self.endpoint.base_url) => {
                return Err(ModelError::NotStarted {
                    provider: self.id.provider.clone(),
                    url: self.endpoint.base_url.clone(),
                });
            }
            Ok(Err(error)) => {
                let why = causes(&error.without_url());
                return Err(self.unreachable(&why));
            }
            Err(_) => return Err(self.unreachable("it does not answer")),
        };
        if response.status().is_success() {
            Ok(response)
        } else if response.status().is_redirection() {
            Err(self.redirected(&response))
        } else {
            Err(self.refused(response).await)
        }
    }

    fn redirected(&self, response: &Response) -> ModelError {
        let target = response.headers().get(LOCATION);
        let target = target.and_then(|target| target.to_str().ok());
        let target = target.unwrap_or("an unknown address");
        let message = format!(
            "it redirects to `{}`, where the key is not sent; set `base_url` to the provider's own address",
            self.conceal(target)
        );
        ModelError::Refused {
            provider: self.id.provider.clone(),
            status: response.status().as_u16(),
            message,
        }
    }

    async fn refused(&self, response: Response) -> ModelError {
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let text = tokio::time::timeout(Duration::from_secs(10), response.text()).await;
        let text = text.ok().and_then(Result::ok).unwrap_or_default();
        let message = serde_json::from_str::<Value>(&text)
            .ok()
            .and_then(|body| error_message(&body))
            .unwrap_or_else(|| text.chars().take(300).collect());
        let message = self.conceal(&message);
        let provider = self.id.provider.clone();
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ModelError::Key {
                provider,
                message,
                variable: self.endpoint.key_source.clone(),
            },
            StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS => {
                self.busy(status, message, retry_after)
            }
            status if status.is_server_error() => self.busy(status, message, retry_after),
            status => ModelError::Refused {
                provider,
                status: status.as_u16(),
                message,
            },
        }
    }

    fn busy(
        &self,
        status: StatusCode,
        message: String,
        retry_after: Option<Duration>,
    ) -> ModelError {
        ModelError::Busy {
            provider: self.id.provider.clone(),
            status: status.as_u16(),
            message,
            retry_after,
        }
    }

    fn unreachable(&self, why: &str) -> ModelError {
        ModelError::Unreachable {
            provider: self.id.provider.clone(),
            url: self.endpoint.base_url.clone(),
            why: self.conceal(why),
        }
    }

    fn broken(&self, why: impl Into<String>) -> ModelError {
        ModelError::Broken {
            provider: self.id.provider.clone(),
            why: self.conceal(&why.into()),
        }
    }

    fn conceal(&self, text: &str) -> String {
        match &self.endpoint.key {
            Some(key) => key.conceal(text),
            None => text.to_owned(),
        }
    }

    /// The pause before the next attempt; `None` if a retry is pointless.
    fn pause(&self, asked: u32, error: &ModelError) -> Option<Duration> {
        let patience = &self.endpoint.patience;
        if !error.is_transient() || asked >= patience.attempts {
            return None;
        }
        if let Some(wanted) = error.retry_after() {
            return (wanted <= patience.longest).then_some(wanted);
        }
        let doubled = patience.pause.saturating_mul(1 << (asked - 1).min(16));
        let pause = doubled.min(patience.longest);
        // Up to a quarter more, so that many do not come back at once.
        let spread = (Ulid::generate().random() % 256) as u32;
        Some(pause + pause.saturating_mul(spread) / 1024)
    }
}

impl Model for RemoteModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn dialect(&self) -> Dialect {
        self.endpoint.dialect
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> ModelStream<'a> {
        let api = self.endpoint.api;
        let body = api.body(&self.id, self.endpoint.dialect, &request);
        let asking = PendingReply {
            model: self,
            body: body.to_string().into_bytes(),
            asked: 0,
            answer: None,
            ready: VecDeque::new(),
            over: false,
        };
        stream::unfold(asking, |mut asking| async move {
            let event = asking.next().await?;
            Some((event, asking))
        })
        .boxed()
    }
}

/// One request, until it is answered whole.
struct PendingReply<'a> {
    model: &'a RemoteModel,
    body: Vec<u8>,
    asked: u32,
    answer: Option<ResponseStream>,
    ready: VecDeque<ModelEvent>,
    over: bool,
}

struct ResponseStream {
    response: Response,
    frames: Frames,
    reader: Box<dyn ReplyReader>,
}

impl PendingReply<'_> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.over |= matches!(event, ModelEvent::Finished(_));
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            if let Err(error) = self.advance().await {
                self.answer = None;
                let Some(pause) = self.model.pause(self.asked, &error) else {
                    self.over = true;
                    return Some(Err(error));
                };
                tracing::debug!(model = %self.model.id, %error, ?pause, "asking again");
                tokio::time::sleep(pause).await;
                self.ready.push_back(ModelEvent::Again {
                    why: error.to_string(),
                });
            }
        }
    }

    async fn advance(&mut self) -> Result<(), ModelError> {
        let model = self.model;
        let silence = model.endpoint.patience.silence;
        let Some(answer) = &mut self.answer else {
            self.asked += 1;
            let request = model.client.post(&model.url).body(self.body.clone());
            let response = model.send(request, silence).await?;
            let api = model.endpoint.api;
            self.answer = Some(ResponseStream {
                response,
                frames: Frames::new(api.framing()),
                reader: api.reader(),
            });
            return Ok(());
        };
        let mut frames = Vec::new();
        let ended = match tokio::time::timeout(silence, answer.response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let pushed = answer.frames.push(&bytes, &mut frames);
                pushed.map_err(|_| model.broken("one of its events is too large"))?;
                None
            }
            Ok(Ok(None)) => Some("it ended before it was complete".to_owned()),
            Ok(Err(error)) => Some(causes(&error.without_url())),
            Err(_) => Some(format!("no data arrived for {} s", silence.as_secs())),
        };
        if ended.is_some() {
            answer.frames.end(&mut frames);
        }
        let mut events = Vec::new();
        let mut read = Ok(());
        for frame in &frames {
            read = read.and_then(|()| answer.reader.read(frame, &mut events));
        }
        if let Some(why) = ended {
            // It may have been whole before the connection went.
            if read.and_then(|()| answer.reader.end(&mut events)).is_err() {
                return Err(model.broken(why));
            }
        } else if let Err(error) = read {
            return Err(match error {
                ReadError::Malformed(why) | ReadError::Reported(why) => model.broken(why),
                ReadError::Cut => model.broken("it ended before it was complete"),
            });
        }
        self.ready.extend(events);
        Ok(())
    }
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    let (name, prefix) = endpoint.api.key_header();
    if let Some(key) = &endpoint.key {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.reveal()))
            .map_err(|_| SetupError::Header(name.to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    for (name, value) in endpoint.api.headers() {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    for (name, value) in &endpoint.headers {
        let bad = || SetupError::Header(name.clone());
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

/// `Retry-After` in seconds, or in milliseconds if given.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: HeaderName| -> Option<f64> {
        let value: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        (0.0..1e9).contains(&value).then_some(value)
    };
    let millis = number(HeaderName::from_static("retry-after-ms"));
    let seconds = millis
        .map(|millis| millis / 1000.0)
        .or_else(|| number(RETRY_AFTER))?;
    Some(Duration::from_secs_f64(seconds))
}

/// Whether the URL is on this machine, which a proxy cannot reach.
fn is_local(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url);
    ["127.", "localhost", "[::1]"]
        .iter()
        .any(|local| host.starts_with(local))
}

/// An error with its causes, on one line.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
