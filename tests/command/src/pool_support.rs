//! A real NATS server, workers and a project whose tools run on them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Drive, Project, eventually, prefixed};

/// A broker. Dropped, it is killed.
pub struct Broker {
    folder: TempDir,
    /// The address that it listens on.
    address: String,
    /// The words before its program.
    words: Vec<String>,
    /// Its port on the loopback; none if only its test can reach its address.
    reservation: Option<PortReservation>,
    /// The port of its counters, if the configuration wants one.
    monitor: u16,
    has_jetstream: bool,
    server: Option<Child>,
}

/// The port of a broker that only programs of one test can reach.
const ALONE: u16 = 4222;

/// A port of the loopback that no other process is given: a socket has it, but does not listen. A server that sets
/// `SO_REUSEADDR`, as most do, can listen on it, also again after it was killed.
pub struct PortReservation {
    _socket: OwnedFd,
    pub port: u16,
}

impl PortReservation {
    pub fn new() -> Self {
        let flags = SocketFlags::CLOEXEC;
        let socket = net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None);
        let socket = socket.unwrap();
        net::sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        net::bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let name = net::getsockname(&socket).unwrap();
        let address = SocketAddr::try_from(name).unwrap();
        Self {
            _socket: socket,
            port: address.port(),
        }
    }
}

impl Broker {
    pub fn start() -> Self {
        Self::with_config("")
    }

    /// Starts one that is configured so.
    pub fn with_config(config: &str) -> Self {
        Self::configured(config, true)
    }

    pub fn without_jetstream() -> Self {
        Self::configured("", false)
    }

    /// Starts one that listens on an address that only programs after these words have.
    pub fn across(address: &str, words: Vec<String>) -> Self {
        let mut broker = Self::new(true);
        address.clone_into(&mut broker.address);
        broker.words = words;
        broker.reservation = None;
        broker.begin("")
    }

    fn configured(config: &str, has_jetstream: bool) -> Self {
        Self::new(has_jetstream).begin(config)
    }

    fn new(has_jetstream: bool) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            address: String::from("127.0.0.1"),
            words: Vec::new(),
            reservation: Some(PortReservation::new()),
            monitor: 0,
            has_jetstream,
            server: None,
        }
    }

    fn begin(mut self, config: &str) -> Self {
        fs::write(self.folder.path().join("conf"), config).unwrap();
        self.restart();
        self
    }

    pub fn url(&self) -> String {
        format!("nats://{}:{}", self.address, self.port())
    }

    /// Nobody else has it, also while the broker does not run.
    fn port(&self) -> u16 {
        let reservation = self.reservation.as_ref();
        reservation.map_or(ALONE, |reservation| reservation.port)
    }

    /// Removes everything that it has stored. It must not run.
    pub fn remove_store(&self) {
        fs::remove_dir_all(self.folder.path().join("store")).unwrap();
    }

    /// Starts it, on the port that it had before, and waits until it listens.
    pub fn restart(&mut self) {
        let ports = self.folder.path().join("ports");
        fs::create_dir_all(&ports).unwrap();
        let port = self.port();
        let mut words = self.words.clone();
        words.push(String::from("nats-server"));
        let server = Command::new(&words[0])
            .args(&words[1..])
            .args(self.has_jetstream.then_some("-js"))
            .args(["-a", &self.address, "-p", &port.to_string()])
            .arg("-c")
            .arg(self.folder.path().join("conf"))
            .arg("-sd")
            .arg(self.folder.path().join("store"))
            .arg("--ports_file_dir")
            .arg(&ports)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let file = ports.join(format!("nats-server_{}.ports", server.id()));
        self.server = Some(server);
        eventually("the broker says its port", || {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let Ok(told) = serde_json::from_str::<Value>(&text) else {
                return false;
            };
            let urls = [&told["nats"][0], &told["tls"][0]];
            let url = urls.iter().find_map(|url| url.as_str()).unwrap_or_default();
            let port_of = |url: &str| url.rsplit(':').next().unwrap().parse().unwrap_or(0);
            self.monitor = port_of(told["monitoring"][0].as_str().unwrap_or_default());
            port_of(url) == port
        });
        if self.words.is_empty() {
            eventually("the broker answers", || {
                TcpStream::connect(self.address()).is_ok()
            });
        }
    }

    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port()).into()
    }

    /// The address of its counters.
    pub fn monitor(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.monitor).into()
    }

    /// Kills it with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    /// A connection with a minimal NATS client.
    pub fn speak(&self) -> Speaker {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream
            .write_all(b"CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n")
            .unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Speaker { stream, reader }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A way to a broker that can be cut.
pub struct Relay {
    port: u16,
    /// The open connections; none while it is cut.
    streams: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Relay {
    pub fn to(broker: &Broker) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let streams = Arc::new(Mutex::new(Some(Vec::new())));
        let (address, open) = (broker.address(), Arc::clone(&streams));
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let mut open = open.lock().unwrap();
                let (Some(open), Ok(near)) = (open.as_mut(), near) else {
                    continue;
                };
                let Ok(far) = TcpStream::connect(address) else {
                    continue;
                };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
                open.extend([near, far]);
            }
        });
        Self { port, streams }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Ends all connections and refuses new ones.
    pub fn cut(&self) {
        for stream in self.streams.lock().unwrap().take().into_iter().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn restore(&self) {
        *self.streams.lock().unwrap() = Some(Vec::new());
    }
}

/// Speaks NATS by hand.
pub struct Speaker {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Speaker {
    pub fn subscribe(&mut self, subject: &str) {
        write!(self.stream, "SUB {subject} 1\r\nPING\r\n").unwrap();
        while self.line() != "PONG" {}
    }

    pub fn publish(&mut self, subject: &str, payload: &[u8]) {
        write!(self.stream, "PUB {subject} {}\r\n", payload.len()).unwrap();
        self.stream.write_all(payload).unwrap();
        self.stream.write_all(b"\r\nPING\r\n").unwrap();
        while self.line() != "PONG" {}
    }

    /// Sends an empty request; returns the reply.
    pub fn request(&mut self, subject: &str) -> Vec<u8> {
        self.subscribe("_INBOX.speaker");
        write!(self.stream, "PUB {subject} _INBOX.speaker 0\r\n\r\n").unwrap();
        let (_, reply) = self.next();
        write!(self.stream, "UNSUB 1\r\n").unwrap();
        reply
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The subject and the payload of the next message, without its headers.
    pub fn next(&mut self) -> (String, Vec<u8>) {
        loop {
            let line = self.line();
            let words: Vec<&str> = line.split(' ').collect();
            let number = |word: &&str| word.parse::<usize>().unwrap();
            let (head, total) = match words[0] {
                "MSG" => (0, number(words.last().unwrap())),
                "HMSG" => (
                    number(&words[words.len() - 2]),
                    number(words.last().unwrap()),
                ),
                _ => continue,
            };
            let mut bytes = vec![0; total + 2];
            self.reader.read_exact(&mut bytes).unwrap();
            return (words[1].to_owned(), bytes[head..total].to_vec());
        }
    }
}

/// A worker process. Dropped, it is killed.
pub struct WorkerProcess {
    process: Drive,
}

impl WorkerProcess {
    /// Starts a worker of the pool `ci`, and waits until it has joined.
    pub fn start(project: &Project, broker: &Broker, name: &str, more: &[&str]) -> Self {
        Self::at(project, &broker.url(), name, more)
    }

    /// Starts a worker with these brokers.
    pub fn at(project: &Project, url: &str, name: &str, more: &[&str]) -> Self {
        let heartbeat = ["--heartbeat-ms", "1000"];
        Self::after(&[], project, url, name, &[&heartbeat[..], more].concat())
    }

    /// Starts a worker whose program comes after these words.
    pub fn after(
        words: &[String],
        project: &Project,
        url: &str,
        name: &str,
        more: &[&str],
    ) -> Self {
        let args = ["worker", "--nats", url, "--pool", "ci", "--name", name];
        let mut command = project.windlass(&[&args[..], more].concat());
        command.env("XDG_STATE_HOME", state_of(project, name));
        let mut process = project.raw_lines_of(prefixed(words, command));
        let said = process.next_text();
        assert_eq!(said, format!("worker `{name}` is in pool `ci`"));
        Self { process }
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Kills it with SIGKILL.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Waits for its end; returns its exit code.
    #[track_caller]
    pub fn wait(&mut self) -> Option<i32> {
        self.process.wait().code()
    }
}

fn state_of(project: &Project, name: &str) -> PathBuf {
    project.state_dir().join("w").join(name)
}

/// The configuration of a runtime whose shell runs on the pool.
pub fn pooled(broker: &Broker, lease_secs: u32) -> String {
    pooled_at(&broker.url(), lease_secs)
}

/// The same, with these brokers.
pub fn pooled_at(url: &str, lease_secs: u32) -> String {
    format!(
        "[hosts.fleet]\nnats = \"{url}\"\npool = \"ci\"\nlease_secs = {lease_secs}\n\
         [conversation.tools.shell]\nrun = \"unattended\"\nhost = \"fleet\"\n"
    )
}
