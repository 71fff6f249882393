//! The proxy of a network namespace, which connects to allowed hosts.
//!
//! Start at [`Proxy::start`]. Its listening socket is in the namespace, so that nobody else can connect to it; its
//! outgoing connections are outside. It supports HTTP (`CONNECT`, and plain requests with an absolute URL) and SOCKS5
//! on one port. It resolves host names, so programs need no DNS. For a kept program, its holder serves the same socket
//! once this process is gone ([`WayOut`]).

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use windlass_sandbox::HostPattern;

/// The maximum size of a request's head.
const HEAD: usize = 16 * 1024;
/// The time limit for a client's request and for a host's answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many refusals are remembered.
const REMEMBERED: usize = 64;
/// The maximum number of connections at once.
const CONNECTIONS: usize = 256;

/// A running proxy. Dropping this ends it.
pub(crate) struct Proxy {
    port: u16,
    rules: Arc<ProxyRules>,
    accepting: AbortHandle,
    /// The socket, for a holder that serves it after this process.
    socket: OwnedFd,
}

/// The socket and the rules of a proxy, for another process to serve.
#[derive(Debug)]
pub(crate) struct WayOut {
    pub(super) socket: OwnedFd,
    pub(super) hosts: Vec<HostPattern>,
}

impl WayOut {
    /// Serves the socket in a separate thread, as long as this process lives.
    pub(super) fn serve(self) -> io::Result<()> {
        let thread = std::thread::Builder::new().name(String::from("windlass-proxy"));
        thread.spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_io().enable_time().build()?;
            runtime.block_on(async {
                let listener = listen(self.socket)?;
                accept(listener, Arc::new(ProxyRules::new(&self.hosts))).await;
                io::Result::Ok(())
            })
        })?;
        Ok(())
    }
}

struct ProxyRules {
    hosts: Vec<HostPattern>,
    refused: Mutex<VecDeque<(Instant, String)>>,
}

impl ProxyRules {
    fn new(hosts: &[HostPattern]) -> Self {
        Self {
            hosts: hosts.to_vec(),
            refused: Mutex::default(),
        }
    }
}

impl Proxy {
    /// Serves a listening socket.
    pub(super) fn start(listener: OwnedFd, hosts: &[HostPattern]) -> io::Result<Self> {
        let socket = listener.try_clone()?;
        let listener = listen(listener)?;
        let port = listener.local_addr()?.port();
        let rules = Arc::new(ProxyRules::new(hosts));
        let accepting = windlass_task::spawn(accept(listener, Arc::clone(&rules))).abort_handle();
        Ok(Self {
            port,
            rules,
            accepting,
            socket,
        })
    }

    /// The proxy's socket and rules, for a program that may outlive this process.
    pub(super) fn way_out(&self) -> io::Result<WayOut> {
        Ok(WayOut {
            socket: self.socket.try_clone()?,
            hosts: self.rules.hosts.clone(),
        })
    }

    /// Variables that make programs use it.
    pub(super) fn variables(&self) -> Vec<(OsString, Option<OsString>)> {
        let http = format!("http://127.0.0.1:{}", self.port);
        let socks = format!("socks5h://127.0.0.1:{}", self.port);
        // Loopback addresses are those of the namespace, unless the rules name the machine's.
        let own = ["localhost", "127.0.0.1", "::1"];
        let is_named = |host: &str| self.rules.hosts.iter().any(|it| names_host(it, host));
        let direct: Vec<&str> = own.into_iter().filter(|host| !is_named(host)).collect();
        let direct = direct.join(",");
        [
            ("HTTP_PROXY", &http),
            ("http_proxy", &http),
            ("HTTPS_PROXY", &http),
            ("https_proxy", &http),
            ("ALL_PROXY", &socks),
            ("all_proxy", &socks),
            ("NO_PROXY", &direct),
            ("no_proxy", &direct),
            ("NODE_USE_ENV_PROXY", &String::from("1")),
        ]
        .map(|(name, value)| (OsString::from(name), Some(OsString::from(value))))
        .into()
    }

    /// The hosts that were refused since then, newest last.
    pub(crate) fn refused_since(&self, since: Instant) -> Vec<String> {
        let mut hosts: Vec<String> = Vec::new();
        for (when, host) in self.rules.refused.lock().iter() {
            if *when >= since && !hosts.contains(host) {
                hosts.push(host.clone());
            }
        }
        hosts
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Whether a pattern names exactly this host.
fn names_host(pattern: &HostPattern, host: &str) -> bool {
    let text = pattern.to_string();
    let own = text.trim_start_matches('[');
    own == host || own.starts_with(&format!("{host}:")) || own.starts_with(&format!("{host}]"))
}

fn listen(socket: OwnedFd) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::from(socket);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

async fn accept(listener: TcpListener, rules: Arc<ProxyRules>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < CONNECTIONS => {
                if let Ok((client, _)) = accepted {
                    let rules = Arc::clone(&rules);
                    connections.spawn(async move {
                        // A client that disconnects needs no error.
                        let _ = serve(client, &rules).await;
                    });
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(mut client: TcpStream, rules: &ProxyRules) -> io::Result<()> {
    let mut first = [0];
    let opened = tokio::time::timeout(PATIENCE, async {
        client.peek(&mut first).await?;
        if first[0] == 5 {
            socks(&mut client, rules).await
        } else {
            http(&mut client, rules).await
        }
    });
    if let Some(mut host) = opened.await?? {
        tokio::io::copy_bidirectional(&mut client, &mut host).await?;
    }
    Ok(())
}

async fn http(client: &mut TcpStream, rules: &ProxyRules) -> io::Result<Option<TcpStream>> {
    let (head, rest) = read_head(client).await?;
    let Some(request) = ProxyRequest::parse(&head) else {
        let text = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        client.write_all(text.as_bytes()).await?;
        return Ok(None);
    };
    let mut host = match rules.connect(&request.host, request.port).await {
        Ok(host) => host,
        Err(refusal) => {
            let status = refusal.status();
            let body = format!("{}\n", refusal.text(&request.host, request.port));
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{body}"
            );
            client.write_all(text.as_bytes()).await?;
            return Ok(None);
        }
    };
    match request.forward {
        None => {
            let text = b"HTTP/1.1 200 Connection established\r\n\r\n";
            client.write_all(text).await?;
        }
        Some(head) => host.write_all(head.as_bytes()).await?,
    }
    host.write_all(&rest).await?;
    Ok(Some(host))
}

/// The head of a request, and the bytes after it.
async fn read_head(client: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
        if bytes.len() > HEAD || client.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

/// An HTTP proxy request.
#[derive(Debug, PartialEq, Eq)]
struct ProxyRequest {
    host: String,
    port: u16,
    /// The head to send to the host; `None` for a tunnel.
    forward: Option<String>,
}

impl ProxyRequest {
    fn parse(head: &str) -> Option<Self> {
        let (line, fields) = head.split_once("\r\n")?;
        let mut words = line.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if method == "CONNECT" {
            let (host, port) = split_address(target, None)?;
            return Some(Self {
                host,
                port,
                forward: None,
            });
        }
        let rest = target.strip_prefix("http://")?;
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        let authority = authority.rsplit('@').next()?;
        let (host, port) = split_address(authority, Some(80))?;
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        let fields = fields.lines().filter(|line| {
            let name = line.split(':').next().unwrap_or_default();
            let dropped = ["proxy-connection", "proxy-authorization", "connection"];
            !line.is_empty() && !dropped.iter().any(|it| name.eq_ignore_ascii_case(it))
        });
        let fields: String = fields.flat_map(|line| [line, "\r\n"]).collect();
        Some(Self {
            host,
            port,
            // Close the connection: the next request may be for another host.
            forward: Some(format!(
                "{method} {path} {version}\r\n{fields}connection: close\r\n\r\n"
            )),
        })
    }
}

fn split_address(text: &str, usual: Option<u16>) -> Option<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        Some(port) => port.parse().ok()?,
        None => usual?,
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

async fn socks(client: &mut TcpStream, rules: &ProxyRules) -> io::Result<Option<TcpStream>> {
    let mut start = [0; 2];
    client.read_exact(&mut start).await?;
    let mut methods = vec![0; start[1].into()];
    client.read_exact(&mut methods).await?;
    if !methods.contains(&0) {
        client.write_all(&[5, 0xff]).await?;
        return Ok(None);
    }
    client.write_all(&[5, 0]).await?;
    let mut request = [0; 4];
    client.read_exact(&mut request).await?;
    let host = match request[3] {
        1 => IpAddr::from(read_array::<4>(client).await?).to_string(),
        4 => IpAddr::from(read_array::<16>(client).await?).to_string(),
        3 => {
            let [length] = read_array::<1>(client).await?;
            let mut name = vec![0; length.into()];
            client.read_exact(&mut name).await?;
            String::from_utf8_lossy(&name).into_owned()
        }
        _ => String::new(),
    };
    let port = u16::from_be_bytes(read_array::<2>(client).await?);
    let connect = 1;
    let (code, host) = if request[1] != connect || host.is_empty() {
        (7, None)
    } else {
        match rules.connect(&host, port).await {
            Ok(host) => (0, Some(host)),
            Err(refusal) => (refusal.socks_code(), None),
        }
    };
    client.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    Ok(host)
}

async fn read_array<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// The reason why a connection was refused.
enum HostRefusal {
    /// The rules do not allow it.
    Denied,
    /// It is allowed, but the connection failed.
    Unreachable(io::Error),
}

impl HostRefusal {
    fn status(&self) -> &'static str {
        match self {
            Self::Denied => "403 Forbidden",
            Self::Unreachable(_) => "502 Bad Gateway",
        }
    }

    fn socks_code(&self) -> u8 {
        match self {
            Self::Denied => 2,
            Self::Unreachable(_) => 4,
        }
    }

    fn text(&self, host: &str, port: u16) -> String {
        match self {
            Self::Denied => format!("denied by the sandbox: connection to {host}:{port}"),
            Self::Unreachable(error) => format!("{host}:{port} cannot be reached: {error}"),
        }
    }
}

impl ProxyRules {
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, HostRefusal> {
        let allowed = self.hosts.iter().any(|pattern| pattern.matches(host, port));
        if !allowed {
            return Err(self.refuse(host, port));
        }
        let found = tokio::net::lookup_host((host, port)).await;
        let addresses: Vec<SocketAddr> = found.map_err(HostRefusal::Unreachable)?.collect();
        // Neither the DNS of an allowed name nor a wildcard may lead to this machine: only its own name or address in
        // the rules does.
        let is_own_name = host.parse::<IpAddr>().is_ok() || host.eq_ignore_ascii_case("localhost");
        let names_machine =
            is_own_name && self.hosts.iter().any(|pattern| names_host(pattern, host));
        let usable = addresses
            .iter()
            .filter(|it| names_machine || !is_of_machine(it.ip()));
        let usable: Vec<SocketAddr> = usable.copied().collect();
        if usable.is_empty() && !addresses.is_empty() {
            return Err(self.refuse(host, port));
        }
        let connected = TcpStream::connect(&usable[..]).await;
        connected.map_err(HostRefusal::Unreachable)
    }

    fn refuse(&self, host: &str, port: u16) -> HostRefusal {
        let mut refused = self.refused.lock();
        if refused.len() >= REMEMBERED {
            refused.pop_front();
        }
        // The program chose the name, and users read it.
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_' | ':');
        let host: String = host
            .chars()
            .map(|it| if is_plain(it) { it } else { '?' })
            .collect();
        refused.push_back((Instant::now(), format!("{host}:{port}")));
        HostRefusal::Denied
    }
}

/// Whether it is an address of this machine, or one that only it can reach.
fn is_of_machine(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let special = match address {
        IpAddr::V4(four) => {
            four.is_loopback()
                || four.is_link_local()
                || four.is_unspecified()
                || four.is_multicast()
        }
        IpAddr::V6(six) => {
            six.is_loopback()
                || six.is_unspecified()
                || six.is_unicast_link_local()
                || six.is_multicast()
        }
    };
    // Only addresses of this machine's own interfaces can be bound.
    special || std::net::UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
