//! Patterns of hosts that a sandbox lets through.

use std::fmt;

/// A host, or all hosts below one, with a port if only that one is meant: `example.com`, `*.example.com`,
/// `127.0.0.1:4873`, `[::1]:8080`, `*`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPattern {
    host: String,
    port: Option<u16>,
}

impl HostPattern {
    /// Reads a pattern; `None` if it is none. A star stands alone or before the first dot.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (host, port) = split_port(text)?;
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let rest = host.strip_prefix("*.").unwrap_or(&host);
        let plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':');
        let valid = host == "*" || !rest.is_empty() && rest.bytes().all(plain);
        valid.then_some(Self { host, port })
    }

    /// Whether it lets this host and port through. The host is a name or an address, without brackets. `*.example.com`
    /// is about hosts below `example.com`, and not about that host.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.port.is_none_or(|own| own == port) && self.matches_host(&host)
    }

    fn matches_host(&self, host: &str) -> bool {
        match self.host.strip_prefix('*') {
            Some("") => true,
            Some(below) => host.len() > below.len() && host.ends_with(below),
            None => self.host == host,
        }
    }

    /// Whether it lets everything through that the other one does.
    pub fn covers(&self, other: &Self) -> bool {
        let port = self.port.is_none() || self.port == other.port;
        let host = match other.host.strip_prefix("*.") {
            Some(below) => self.host == other.host || self.matches_host(&format!("x.{below}")),
            None => self.host == other.host || other.host != "*" && self.matches_host(&other.host),
        };
        port && host
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.port, self.host.contains(':')) {
            (Some(port), true) => write!(formatter, "[{}]:{port}", self.host),
            (Some(port), false) => write!(formatter, "{}:{port}", self.host),
            (None, _) => formatter.write_str(&self.host),
        }
    }
}

fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match text.rsplit_once(':') {
        // More colons are an address of IPv6.
        Some((host, port)) if !host.contains(':') => Some((host, Some(port.parse().ok()?))),
        _ => Some((text, None)),
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
