//! Hosts: machines that tools run on.

use std::time::Duration;

use crate::command::CommandConfig;
use crate::expected::ExpectedValue;
use crate::keys;
use crate::node::Node;
use crate::place::{SourceLocation, TextSpan};
use crate::read::{self, ConfigReader, Table};
use crate::units;

/// One host of `[hosts]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostConfig {
    /// Its name, as tools refer to it.
    pub name: String,
    /// The command that connects a pipe to `windlass host` there; empty for a
    /// pool.
    pub via: Vec<String>,
    /// The pool, if this host is one.
    pub pool: Option<PoolConfig>,
    /// The project's folder there; default: the same path as on this machine.
    pub root: Option<String>,
    /// Labels for assistants that choose among hosts. A worker of a pool must
    /// have all of them.
    pub labels: Vec<String>,
    /// The time that tools run there without a link.
    pub lease: Duration,
    /// The time between heartbeats; the link is lost after three missed ones.
    pub heartbeat: Duration,
    /// Copies this program to the host if it is missing there. `via` then needs
    /// no `windlass host` at its end.
    pub install: bool,
    /// The location of its table.
    pub place: SourceLocation,
}

/// A pool of workers on NATS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolConfig {
    /// The addresses of brokers, with commas between them.
    pub nats: String,
    /// The pool's name.
    pub pool: String,
    /// The file with the user's credentials.
    pub credentials: Option<String>,
    /// The file with the certificates of authorities.
    pub ca: Option<String>,
    /// The file with this side's certificate.
    pub cert: Option<String>,
    /// The file with the key of that certificate.
    pub key: Option<String>,
    /// The number of brokers that store a copy of everything.
    pub replicas: usize,
    /// How many bytes of each program's output the brokers store; 0: none.
    pub stored_output: u64,
}

impl PoolConfig {
    const STORED_OUTPUT: u64 = 4 * 1024 * 1024;

    /// Reads the pool's keys in a host's table; `None` if it is not a pool.
    fn read(
        reader: &mut ConfigReader,
        table: &Table<'_>,
        name: &str,
        key: &TextSpan,
    ) -> Option<Self> {
        let nats = reader.get(table, "nats", |node| {
            let nats = read::string(node).map_err(|_| ExpectedValue::Nats)?;
            let is_open = nats.split(',').all(|it| !it.contains('@'));
            is_open.then_some(nats).ok_or(ExpectedValue::Nats)
        });
        let pool = reader.get(table, "pool", |node| {
            let pool = read::string(node).map_err(|_| ExpectedValue::PoolName)?;
            let is_part = |it: u8| it.is_ascii_alphanumeric() || it == b'_' || it == b'-';
            let is_name = !pool.is_empty() && pool.len() <= 48 && pool.bytes().all(is_part);
            is_name.then_some(pool).ok_or(ExpectedValue::PoolName)
        });
        let [credentials, ca, cert, own_key] =
            ["credentials", "ca", "cert", "key"].map(|word| reader.get(table, word, file_name));
        let replicas = reader.get(table, "replicas", |node| {
            let replicas = read::count(node).map_err(|_| ExpectedValue::Replicas)?;
            let is_odd = matches!(replicas, 1 | 3 | 5);
            is_odd.then_some(replicas).ok_or(ExpectedValue::Replicas)
        });
        let stored_output = reader.get(table, "stored_output", units::size_or_none);
        let has = |word| table.node(word).is_some();
        if has("nats") != has("pool") || has("nats") && has("via") || has("cert") != has("key") {
            let kind = crate::error::ProblemKind::HalfPool {
                host: name.to_owned(),
            };
            reader.problem(key, kind);
        }
        Some(Self {
            nats: nats?,
            pool: pool?,
            credentials,
            ca,
            cert,
            key: own_key,
            replicas: replicas.unwrap_or(1),
            stored_output: stored_output.unwrap_or(Self::STORED_OUTPUT),
        })
    }
}

/// Reads the name of a file, and refuses its content.
fn file_name(node: &Node) -> Result<String, ExpectedValue> {
    let name = read::string(node)?;
    let is_content = name.contains('\n') || name.contains("-----BEGIN") || is_seed(&name);
    let is_name = !name.is_empty() && !is_content;
    is_name.then_some(name).ok_or(ExpectedValue::SecretFile)
}

/// Whether this is the private key of a NATS user.
fn is_seed(text: &str) -> bool {
    let is_base32 = |it: u8| it.is_ascii_uppercase() || (b'2'..=b'7').contains(&it);
    text.len() == 58 && text.starts_with('S') && text.bytes().all(is_base32)
}

impl HostConfig {
    const LEASE: Duration = Duration::from_mins(1);
    const HEARTBEAT: Duration = Duration::from_secs(15);

    /// The connection to it, as text for people.
    pub fn way(&self) -> String {
        match &self.pool {
            Some(pool) => format!("pool {} at {}", pool.pool, pool.nats),
            None => self.via.join(" "),
        }
    }

    /// The command in the form in which project programs are searched for in
    /// it.
    pub(crate) fn command(&self) -> CommandConfig {
        let mut words = self.via.iter().cloned();
        CommandConfig {
            program: words.next().unwrap_or_default(),
            args: words.collect(),
            shell: false,
        }
    }

    /// The command that connects a pipe to the far end: to `windlass host`, or
    /// to a shell that becomes it if this program is installed there.
    pub fn carrier(&self) -> Vec<String> {
        let mut words = self.via.clone();
        if self.install {
            if let [.., program, last] = &words[..]
                && last == "host"
                && (program == "windlass" || program.ends_with("/windlass"))
            {
                words.truncate(words.len() - 2);
            }
            words.push(String::from("sh"));
        }
        words
    }

    /// Reads a host's table; `None` if it has no command.
    pub(crate) fn read(
        reader: &mut ConfigReader,
        table: &Table<'_>,
        name: &str,
        key: &TextSpan,
    ) -> Option<Self> {
        reader.check_keys(table, keys::HOST);
        let via = reader.get(table, "via", |node| {
            let words = read::strings(node).map_err(|_| ExpectedValue::Via)?;
            let is_command = words.first().is_some_and(|word| !word.is_empty());
            is_command.then_some(words).ok_or(ExpectedValue::Via)
        });
        let is_pool = table.node("nats").is_some() || table.node("pool").is_some();
        let pool = PoolConfig::read(reader, table, name, key);
        if table.node("via").is_none() && !is_pool {
            let kind = crate::error::ProblemKind::NoVia {
                host: name.to_owned(),
            };
            reader.problem(key, kind);
        }
        let root = reader.get(table, "root", |node| {
            let root = read::string(node)?;
            let is_absolute = root.starts_with('/');
            is_absolute.then_some(root).ok_or(ExpectedValue::FarRoot)
        });
        let labels = reader.get(table, "labels", read::strings);
        let lease = reader.get(table, "lease_secs", units::lease);
        let heartbeat = reader.get(table, "heartbeat_secs", units::heartbeat);
        let install = reader.get(table, "install", read::boolean);
        Some(Self {
            name: name.to_owned(),
            via: if pool.is_some() { Vec::new() } else { via? },
            pool,
            root,
            labels: labels.unwrap_or_default(),
            lease: lease.filter(|it| !it.is_zero()).unwrap_or(Self::LEASE),
            heartbeat: heartbeat.unwrap_or(Self::HEARTBEAT),
            install: install.unwrap_or(false),
            place: key.place(),
        })
    }
}
