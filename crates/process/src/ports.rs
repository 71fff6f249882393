//! Ports in the network of another process.

/// Whether a process listens on a port in the network namespace of a process.
/// Its ports cannot be connected to from outside.
pub fn is_port_open(pid: u32, port: u16) -> bool {
    let mut files = ["tcp", "tcp6"].into_iter();
    files.any(|name| listens(&format!("/proc/{pid}/net/{name}"), port))
}

/// Whether a socket table has a listener on a port.
fn listens(file: &str, port: u16) -> bool {
    const LISTENS: &str = "0A";
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let port = format!(":{port:04X}");
    text.lines().skip(1).any(|line| {
        let mut fields = line.split_ascii_whitespace();
        let local = fields.nth(1).unwrap_or_default();
        local.ends_with(&port) && fields.nth(1) == Some(LISTENS)
    })
}
