//! The connection to NATS, and the streams and buckets of a pool.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::kv::{self, CreateErrorKind, Store};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use tokio::sync::watch;
use tokio::time::Instant;
use windlass_hold_wire::LinkSession;

use crate::PoolError;
use crate::names::{PoolNames, claim_key, random_word};

/// The broker drops a start that no worker has taken after this time.
const START_AGE: Duration = Duration::from_mins(10);
/// Longer than any redelivery of a start.
const CLAIM_AGE: Duration = Duration::from_hours(2);
/// Stored output is dropped after this time, which is the longest lease of a kept handle.
pub(crate) const OUTPUT_AGE: Duration = Duration::from_hours(24);
/// The broker drops a duplicate of a start within this time.
const DUPLICATES: Duration = Duration::from_mins(2);
/// How long the bucket of workers keeps entries if a runtime creates it: three of the usual heartbeats.
const PRESENCE_AGE: Duration = Duration::from_secs(15);
/// The maximum delay between attempts to reconnect.
const RECONNECT: Duration = Duration::from_secs(1);
/// The time limit for a request to the broker.
const REQUEST: Duration = Duration::from_secs(5);
/// The time limit for a cluster to elect a leader.
const ELECTING: Duration = Duration::from_secs(20);
/// The delay before a failed request is repeated.
const AGAIN: Duration = Duration::from_millis(100);

/// The connection settings of a pool's brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerOptions {
    /// Addresses, such as `nats://broker:4222`. Other servers of a cluster are discovered.
    pub servers: Vec<String>,
    /// A file with the user's credentials, as `nsc` writes it.
    pub credentials: Option<PathBuf>,
    /// A file with the CA certificates of the brokers.
    pub ca: Option<PathBuf>,
    /// The files of the client certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// How many brokers store a copy of the pool's state.
    pub replicas: usize,
}

impl BrokerOptions {
    /// One broker, or a comma-separated list, without credentials.
    pub fn new(servers: &str) -> Self {
        Self {
            servers: servers.split(',').map(|it| it.trim().to_owned()).collect(),
            credentials: None,
            ca: None,
            certificate: None,
            replicas: 1,
        }
    }
}

/// Checks that an address is valid and contains no secret.
pub fn check_server(server: &str) -> Result<(), PoolError> {
    parse_server(server).map(drop)
}

fn parse_server(server: &str) -> Result<ServerAddr, PoolError> {
    let parsed = server.parse::<ServerAddr>();
    if server.contains('@') || parsed.as_ref().is_ok_and(ServerAddr::has_user_pass) {
        return Err(PoolError::Secret);
    }
    let is_known = |it: &ServerAddr| matches!(it.scheme(), "nats" | "tls") && !it.host().is_empty();
    parsed
        .ok()
        .filter(is_known)
        .ok_or_else(|| PoolError::Server {
            server: server.to_owned(),
        })
}

/// The state of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BrokerConnection {
    /// When it was established; `None` while disconnected.
    pub(crate) since: Option<Instant>,
    /// The number of reconnects.
    pub(crate) count: u64,
}

/// A connection to the brokers of a pool. Clones share it.
#[derive(Clone)]
pub(crate) struct Broker {
    pub(crate) client: Client,
    pub(crate) jetstream: Context,
    pub(crate) connection: watch::Receiver<BrokerConnection>,
    pub(crate) names: PoolNames,
    replicas: usize,
}

impl Broker {
    /// Connects. Fails if no broker is reached now; reconnects if it is lost later.
    pub(crate) async fn connect(
        options: &BrokerOptions,
        pool: &str,
        who: &str,
    ) -> Result<Self, PoolError> {
        let names = PoolNames::new(pool)?;
        let addresses = options.servers.iter().map(|server| parse_server(server));
        let addresses: Vec<ServerAddr> = addresses.collect::<Result<_, _>>()?;
        let (states, connection) = watch::channel(BrokerConnection {
            since: Some(Instant::now()),
            count: 0,
        });
        let connecting = connect_options(options).await?;
        let connecting = connecting.name(who).event_callback(move |event| {
            note(&states, &event);
            std::future::ready(())
        });
        let client = connecting.connect(&addresses[..]).await;
        let servers = options.servers.join(", ");
        let client = client.map_err(|error| not_connected(&error, servers.clone()))?;
        let info = client.server_info();
        if !info.jetstream {
            return Err(PoolError::NoJetStream { servers });
        }
        let is_alone = info.cluster.is_none_or(|cluster| cluster.is_empty());
        if options.replicas > 1 && is_alone {
            let replicas = options.replicas;
            return Err(PoolError::Alone { servers, replicas });
        }
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(REQUEST);
        Ok(Self {
            client,
            jetstream,
            connection,
            names,
            replicas: options.replicas.max(1),
        })
    }

    /// Waits until connected.
    pub(crate) async fn connected(&self) {
        let mut connection = self.connection.clone();
        // The sender lives as long as the client.
        let _ = connection.wait_for(|it| it.since.is_some()).await;
    }

    /// Resolves when the current connection has been lost.
    pub(crate) async fn disconnected(&self) {
        let mut connection = self.connection.clone();
        let count = connection.borrow().count;
        let is_lost = |it: &BrokerConnection| it.since.is_none() || it.count != count;
        let _ = connection.wait_for(is_lost).await;
    }

    /// The work queue of starts; created if necessary.
    pub(crate) async fn starts(&self) -> Result<stream::Stream, PoolError> {
        let config = stream::Config {
            name: self.names.starts(),
            subjects: vec![self.names.start("*")],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            max_age: START_AGE,
            duplicate_window: DUPLICATES,
            num_replicas: self.replicas,
            ..stream::Config::default()
        };
        self.stream(config, "the work queue").await
    }

    /// The stream of stored output, at most `total` bytes of it; created if necessary. An existing stream keeps its
    /// limits.
    pub(crate) async fn output(&self, total: u64) -> Result<stream::Stream, PoolError> {
        let config = stream::Config {
            name: self.names.output(),
            subjects: vec![self.names.all_output()],
            storage: StorageType::File,
            max_age: OUTPUT_AGE,
            max_bytes: i64::try_from(total).unwrap_or(i64::MAX),
            discard: DiscardPolicy::Old,
            num_replicas: self.replicas,
            ..stream::Config::default()
        };
        self.stream(config, "the stream of output").await
    }

    /// The stream of programs that runtimes have given up; created if necessary.
    pub(crate) async fn losses(&self) -> Result<stream::Stream, PoolError> {
        let config = stream::Config {
            name: self.names.losses(),
            subjects: vec![self.names.all_lost("*")],
            storage: StorageType::File,
            // No program runs longer without its runtime.
            max_age: OUTPUT_AGE,
            max_messages_per_subject: 1,
            num_replicas: self.replicas,
            ..stream::Config::default()
        };
        self.stream(config, "the stream of lost programs").await
    }

    async fn stream(
        &self,
        config: stream::Config,
        what: &'static str,
    ) -> Result<stream::Stream, PoolError> {
        let name = config.name.clone();
        let failed = |cause: String| PoolError::JetStream { what, cause };
        let begun = Instant::now();
        let found = loop {
            match self.jetstream.get_or_create_stream(config.clone()).await {
                Ok(found) => break found,
                Err(_) if self.may_try_again(begun).await => {}
                Err(error) => return Err(failed(words(&error))),
            }
        };
        self.raise(&name, Duration::ZERO).await;
        Ok(found)
    }

    /// The bucket of claims; created if necessary.
    pub(crate) async fn claims(&self) -> Result<Store, PoolError> {
        self.bucket(self.names.claims(), CLAIM_AGE, StorageType::File)
            .await
    }

    /// The bucket of workers. A worker gives the time after which its silence means that it is gone. The bucket keeps
    /// entries for the longest of these times.
    pub(crate) async fn workers(&self, age: Option<Duration>) -> Result<Store, PoolError> {
        let name = self.names.workers();
        let max_age = age.unwrap_or(PRESENCE_AGE);
        let bucket = self
            .bucket(name.clone(), max_age, StorageType::Memory)
            .await?;
        if let Some(age) = age {
            self.raise(&format!("KV_{name}"), age).await;
        }
        Ok(bucket)
    }

    async fn bucket(
        &self,
        bucket: String,
        max_age: Duration,
        storage: StorageType,
    ) -> Result<Store, PoolError> {
        let failed = |cause: String| PoolError::JetStream {
            what: "a bucket",
            cause,
        };
        if let Ok(found) = self.jetstream.get_key_value(&bucket).await {
            self.raise(&format!("KV_{bucket}"), Duration::ZERO).await;
            return Ok(found);
        }
        let config = kv::Config {
            bucket: bucket.clone(),
            max_age,
            storage,
            num_replicas: self.replicas,
            ..kv::Config::default()
        };
        let begun = Instant::now();
        loop {
            let error = match self.jetstream.create_key_value(config.clone()).await {
                Ok(made) => return Ok(made),
                Err(error) => error,
            };
            // Another process has just created it, perhaps with other settings.
            if let Ok(found) = self.jetstream.get_key_value(&bucket).await {
                return Ok(found);
            }
            if !self.may_try_again(begun).await {
                return Err(failed(words(&error)));
            }
        }
    }

    /// Waits before another attempt; `false` if the time limit is exceeded. A cluster that has just started or lost a
    /// broker must elect a leader first.
    async fn may_try_again(&self, begun: Instant) -> bool {
        if !self.client.server_info().jetstream || begun.elapsed() > ELECTING {
            return false;
        }
        tokio::time::sleep(AGAIN).await;
        true
    }

    /// Raises the number of copies of a stream to ours, and its age to this one. If that fails, the stream is
    /// unchanged: `windlass hosts check` reports it.
    async fn raise(&self, name: &str, age: Duration) {
        let Ok(found) = self.jetstream.get_stream(name).await else {
            return;
        };
        let mut config = found.cached_info().config.clone();
        // An age of zero is no limit.
        let age = match config.max_age {
            Duration::ZERO => Duration::ZERO,
            present => present.max(age),
        };
        if config.num_replicas >= self.replicas && config.max_age == age {
            return;
        }
        config.num_replicas = config.num_replicas.max(self.replicas);
        config.max_age = age;
        if !age.is_zero() {
            config.duplicate_window = DUPLICATES.min(age);
        }
        if let Err(error) = self.jetstream.update_stream(config).await {
            tracing::warn!(name, %error, "the stream cannot be changed");
        }
    }
}

fn not_connected(error: &ConnectError, servers: String) -> PoolError {
    let cause = words(error);
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            PoolError::Rejected { servers, cause }
        }
        ConnectErrorKind::Tls => PoolError::Tls { servers, cause },
        _ => PoolError::Connect { servers, cause },
    }
}

fn note(states: &watch::Sender<BrokerConnection>, event: &Event) {
    match event {
        Event::Connected => {
            states.send_if_modified(|state| {
                let is_new = state.since.is_none();
                if is_new {
                    state.since = Some(Instant::now());
                    state.count += 1;
                }
                is_new
            });
        }
        Event::Disconnected | Event::Closed => {
            states.send_modify(|state| state.since = None);
        }
        other => tracing::debug!(%other, "news of the broker"),
    }
}

async fn connect_options(options: &BrokerOptions) -> Result<ConnectOptions, PoolError> {
    let mut connecting = ConnectOptions::new()
        .max_reconnects(None)
        .ping_interval(Duration::from_secs(15))
        .request_timeout(Some(REQUEST))
        .reconnect_delay_callback(|attempt| {
            let attempt = u32::try_from(attempt).unwrap_or(u32::MAX);
            (Duration::from_millis(20).saturating_mul(attempt)).min(RECONNECT)
        });
    let unreadable = |file: &PathBuf, source| PoolError::File {
        file: file.clone(),
        source,
    };
    let certificate = options.certificate.iter();
    let files = certificate.flat_map(|(certificate, key)| [certificate, key]);
    for file in files.chain(&options.ca) {
        std::fs::File::open(file).map_err(|error| unreadable(file, error))?;
    }
    if let Some(file) = &options.credentials {
        let read = connecting.credentials_file(file).await;
        connecting = read.map_err(|error| unreadable(file, error))?;
    }
    if let Some(ca) = &options.ca {
        connecting = connecting.add_root_certificates(ca.clone());
    }
    if let Some((certificate, key)) = &options.certificate {
        connecting = connecting.add_client_certificate(certificate.clone(), key.clone());
    }
    let has_tls = options.ca.is_some() || options.certificate.is_some();
    Ok(connecting.require_tls(has_tls))
}

/// A stream that is opened on first use, and again after a reconnect: the broker may have lost its store.
#[derive(Default)]
pub(crate) struct StreamCell {
    /// The stream, and the number of reconnects when it was opened.
    opened: tokio::sync::Mutex<Option<(u64, stream::Stream)>>,
}

impl StreamCell {
    pub(crate) async fn get<F>(
        &self,
        broker: &Broker,
        opening: impl FnOnce() -> F,
    ) -> Result<stream::Stream, PoolError>
    where
        F: Future<Output = Result<stream::Stream, PoolError>>,
    {
        let count = broker.connection.borrow().count;
        let mut opened = self.opened.lock().await;
        if let Some((at, stream)) = &*opened
            && *at == count
        {
            return Ok(stream.clone());
        }
        let stream = opening().await?;
        *opened = Some((count, stream.clone()));
        Ok(stream)
    }
}

/// The kinds of claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimKind {
    /// A worker starts it.
    Started,
    /// It will never be started by this message and may be placed again.
    Withdrawn,
}

impl ClaimKind {
    fn word(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// The outcome of an attempt to claim a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// We have claimed it.
    Now,
    /// It was already claimed, in this way.
    Before(ClaimKind),
}

/// Claims a start. Exactly one of all claimants succeeds. Waits while no broker can be reached.
pub(crate) async fn claim(
    broker: &Broker,
    claims: &Store,
    (session, program): (&LinkSession, u64),
    kind: ClaimKind,
) -> Claimed {
    let key = claim_key(session, program);
    // The random word identifies our own claim if the reply to it was lost.
    let value = format!("{} {}", kind.word(), random_word());
    loop {
        broker.connected().await;
        let created = claims.create(&key, value.clone().into()).await;
        match created {
            Ok(_) => return Claimed::Now,
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {
                if let Ok(Some(found)) = claims.get(&key).await {
                    if found == value.as_bytes() {
                        return Claimed::Now;
                    }
                    let is_withdrawn = found.starts_with(ClaimKind::Withdrawn.word().as_bytes());
                    return Claimed::Before(if is_withdrawn {
                        ClaimKind::Withdrawn
                    } else {
                        ClaimKind::Started
                    });
                }
            }
            Err(error) => {
                tracing::debug!(%error, "a claim is tried again");
                // A broker that came back without its store does not have the bucket.
                if let Err(error) = broker.claims().await {
                    tracing::debug!(%error, "there is no bucket of claims");
                }
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Whether a message was not stored because its stream does not exist.
pub(crate) fn has_no_stream(error: &PublishError) -> bool {
    error.kind() == PublishErrorKind::StreamNotFound
}

/// Formats an error with its causes.
pub(crate) fn words(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) if !error.to_string().contains(&source.to_string()) => {
            format!("{error}: {}", words(source))
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
#[path = "broker_tests.rs"]
mod tests;
