//! Clients that follow events, and a client that never reads them.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;

use super::connection::headers;
use super::{LoadError, LoadTarget, Totals};

/// The longest time that a reader waits for an event.
const PATIENCE: Duration = Duration::from_mins(2);

pub(super) struct LoadReader {
    lines: Lines<BufReader<TcpStream>>,
    /// The one session that is followed, unless all are.
    session: Option<String>,
    /// For each session, the number of the last event received.
    places: HashMap<String, u64>,
    seen: EventCounts,
}

/// The counts of a reader.
#[derive(Debug, Default)]
pub(super) struct EventCounts {
    pub(super) events: u64,
    pub(super) answers: u64,
    pub(super) lost: u64,
    pub(super) out_of_order: u64,
}

/// The start of an event; the rest is skipped.
#[derive(Deserialize)]
struct Update<'a> {
    session: &'a str,
    number: u64,
    #[serde(rename = "type")]
    kind: &'a str,
}

impl LoadReader {
    pub(super) async fn of_all(target: &LoadTarget) -> Result<Self, LoadError> {
        Self::follow(target, "/api/v1/events", None).await
    }

    pub(super) async fn of(target: &LoadTarget, session: &str) -> Result<Self, LoadError> {
        let path = format!("/api/v1/sessions/{session}/events?after=0");
        Self::follow(target, &path, Some(session.to_owned())).await
    }

    /// Reads up to the greeting, so that all later events are received.
    async fn follow(
        target: &LoadTarget,
        path: &str,
        session: Option<String>,
    ) -> Result<Self, LoadError> {
        let mut stream = TcpStream::connect(&target.address).await?;
        stream.write_all(request(target, path).as_bytes()).await?;
        let mut lines = BufReader::new(stream).lines();
        loop {
            match lines.next_line().await? {
                Some(line) if line == "event: hello" => break,
                Some(_) => {}
                None => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            }
        }
        Ok(Self {
            lines,
            session,
            places: HashMap::new(),
            seen: EventCounts::default(),
        })
    }

    /// Reads until all events of the totals have arrived.
    pub(super) async fn read(
        mut self,
        mut totals: watch::Receiver<Option<Totals>>,
    ) -> Result<EventCounts, LoadError> {
        loop {
            let has_all = totals
                .borrow_and_update()
                .as_ref()
                .is_some_and(|totals| self.has_all(totals));
            if has_all {
                return Ok(self.seen);
            }
            tokio::select! {
                line = tokio::time::timeout(PATIENCE, self.lines.next_line()) => {
                    match line {
                        Err(_) => return Err(LoadError::Stuck),
                        Ok(line) => self.take(line?)?,
                    }
                }
                Ok(()) = totals.changed() => {}
            }
        }
    }

    fn has_all(&self, totals: &Totals) -> bool {
        let mut followed = totals.iter().filter(|(session, _)| {
            let only = self.session.as_ref();
            only.is_none_or(|only| only == *session)
        });
        followed.all(|(session, last)| self.places.get(session) >= Some(last))
    }

    /// Reads one line. Lengths of chunks and other fields are ignored.
    fn take(&mut self, line: Option<String>) -> Result<(), LoadError> {
        let line = line.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        let Some(data) = line.strip_prefix("data: ") else {
            return Ok(());
        };
        // Greetings and the like have no number; what is missed shows in the
        // numbers that follow.
        let Ok(update) = serde_json::from_str::<Update>(data) else {
            return Ok(());
        };
        let place = self.places.entry(update.session.to_owned()).or_default();
        self.seen.events += 1;
        self.seen.answers += u64::from(update.kind == "replied");
        if update.number <= *place {
            self.seen.out_of_order += 1;
        } else {
            self.seen.lost += update.number - *place - 1;
            *place = update.number;
        }
        Ok(())
    }
}

/// A client that requests events and never reads them.
pub struct Stalled(TcpStream);

impl Stalled {
    /// Requests the events of all sessions, with a small receive buffer.
    pub async fn before(target: &LoadTarget) -> Result<Self, LoadError> {
        let address: SocketAddr = target
            .address
            .parse()
            .map_err(|_| LoadError::Strange(target.address.clone()))?;
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4096)?;
        let mut stream = socket.connect(address).await?;
        let request = request(target, "/api/v1/events");
        stream.write_all(request.as_bytes()).await?;
        Ok(Self(stream))
    }

    /// Whether the server closes the connection within a time.
    pub async fn is_cut_off(mut self, within: Duration) -> bool {
        let end = async {
            let mut room = vec![0; 64 << 10];
            while !matches!(self.0.read(&mut room).await, Ok(0) | Err(_)) {}
        };
        tokio::time::timeout(within, end).await.is_ok()
    }
}

fn request(target: &LoadTarget, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\n{}\r\n", headers(target))
}
