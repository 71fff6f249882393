//! Detects whether the process at the other end of a connection belongs to a
//! tool.
//!
//! Start at [`peer_is_tool`]. The kernel reports the peer of a Unix socket. The
//! peer of a local TCP connection is found by its inode among the descriptors
//! of all processes. A process belongs to a tool if it carries a brand that
//! this process does not, or descends from this process or a shim. If that
//! cannot be determined, it counts as a tool's.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, getpeername, getsockname};
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

use super::ancestry::is_below_us_or_another_shim;
use super::brand;
use super::sys;
use super::tree::Member;

/// See [`crate::peer_is_tool`].
pub(crate) fn peer_is_tool(socket: BorrowedFd<'_>) -> bool {
    match getsockname(socket).map(|address| address.address_family()) {
        Ok(AddressFamily::UNIX) => unix_peer_is_tool(socket, is_tool),
        Ok(AddressFamily::INET | AddressFamily::INET6) => tcp_peer_is_tool(socket).unwrap_or(true),
        _ => true,
    }
}

/// [`peer_is_tool`] for a holder, which carries the brand of its own runtime's tools.
pub(super) fn holder_peer_is_tool(socket: BorrowedFd<'_>) -> bool {
    unix_peer_is_tool(socket, |pid| {
        brand::is_ours_or_below(pid).unwrap_or(true) || is_below_us_or_another_shim(pid)
    })
}

/// The credentials are those of the process that connected, even if another one has the descriptor now. A process that
/// has exited cannot be checked, and does not wait for a reply.
fn unix_peer_is_tool(socket: BorrowedFd<'_>, is_tool: impl Fn(i32) -> bool) -> bool {
    // A process in an invisible PID namespace has no pid.
    let Some(pid) = sys::peer_pid(socket).ok().filter(|&pid| pid > 0) else {
        return true;
    };
    let pidfd = sys::peer_pidfd(socket).or_else(|error| match error.raw_os_error() {
        // Older kernels lack such descriptors. Use the pid, which may have been reused.
        Some(libc::ENOPROTOOPT) => Pid::from_raw(pid)
            .ok_or(io::ErrorKind::NotFound.into())
            .and_then(|pid| Ok(pidfd_open(pid, PidfdFlags::empty())?)),
        _ => Err(error),
    });
    let Ok(pidfd) = pidfd else {
        return true;
    };
    let Some(member) = Member::read(pid) else {
        return true;
    };
    let is_tool = !is_known(&member) && is_tool(pid);
    // If it still runs after the check, its pid was not reused.
    if is_tool || has_ended(&pidfd) {
        return true;
    }
    remember(&member);
    false
}

fn is_tool(pid: i32) -> bool {
    brand::is_below_ours(pid).unwrap_or(true) || is_below_us_or_another_shim(pid)
}

fn has_ended(pidfd: &OwnedFd) -> bool {
    let mut polls = [PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    !poll(&mut polls, Some(&now)).is_ok_and(|ready| ready == 0)
}

/// A cache of processes that connected before and do not belong to a tool. They cannot become a tool's process later.
static KNOWN: Mutex<Option<HashMap<i32, u64>>> = Mutex::new(None);
/// The maximum size of the cache.
const KNOWN_LIMIT: usize = 64;

/// The kernel does not report the peer. A socket of this user is refused if a tool's process has it, or if no process
/// seems to have it, unless a process that is not a tool's hides its descriptors and may have it.
fn tcp_peer_is_tool(socket: BorrowedFd<'_>) -> io::Result<bool> {
    let local = SocketAddr::try_from(getsockname(socket)?)?;
    let peer = getpeername(socket)?.ok_or(io::ErrorKind::NotConnected)?;
    let peer = SocketAddr::try_from(peer)?;
    let Some(found) = find_socket(peer, local)? else {
        // It is on another machine; or it is gone, and does not wait for a reply.
        return Ok(canonical(peer.ip()).is_loopback());
    };
    if found.user != geteuid().as_raw() {
        return Ok(false);
    }
    let link = format!("socket:[{}]", found.inode);
    if held_by_known(&link) {
        return Ok(false);
    }
    let (mut tool_hides, mut other_hides) = (false, false);
    for pid in pids() {
        let held = holds(pid, &link);
        if matches!(held, Ok(false)) {
            continue;
        }
        let Some(member) = Member::read(pid) else {
            continue;
        };
        let is_tool = is_tool(pid);
        match held {
            Ok(_) => {
                if !is_tool {
                    remember(&member);
                }
                return Ok(is_tool);
            }
            // Other users' processes cannot have a socket of ours, unless it was passed to them.
            Err(_) if is_ours(pid) => {
                tool_hides |= is_tool;
                other_hides |= !is_tool;
            }
            Err(_) => {}
        }
    }
    Ok(tool_hides || !other_hides)
}

/// A connection in the system's table.
struct TcpSocket {
    user: u32,
    inode: u64,
}

/// The socket of this machine that is connected from `from` to `to`.
fn find_socket(from: SocketAddr, to: SocketAddr) -> io::Result<Option<TcpSocket>> {
    for (file, is_six) in [("/proc/self/net/tcp", false), ("/proc/self/net/tcp6", true)] {
        let table = match std::fs::read_to_string(file) {
            Ok(table) => table,
            // The system has no IPv6.
            Err(error) if is_six && error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if let [_, local, remote, _, _, _, _, user, _, inode, ..] = fields[..]
                && address(local).is_some_and(|local| is_same(local, from))
                && address(remote).is_some_and(|remote| is_same(remote, to))
                && let (Ok(user), Ok(inode)) = (user.parse(), inode.parse())
            {
                return Ok(Some(TcpSocket { user, inode }));
            }
        }
    }
    Ok(None)
}

/// Parses an address of `/proc/net/tcp`: hexadecimal words in native byte order.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let word = host.get(at * 8..at * 8 + 8)?;
        Some(u32::from_str_radix(word, 16).ok()?.to_ne_bytes())
    };
    let host = match host.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::from(bytes)
        }
        _ => return None,
    };
    Some(SocketAddr::new(host, port))
}

fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && canonical(one.ip()) == canonical(other.ip())
}

fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

fn pids() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Whether a process has a descriptor of this file. An error if its descriptors are not visible.
fn holds(pid: i32, link: &str) -> io::Result<bool> {
    let entries = match std::fs::read_dir(format!("/proc/{pid}/fd")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries?,
    };
    let mut links = entries
        .flatten()
        .map(|entry| std::fs::read_link(entry.path()));
    Ok(links.any(|it| it.is_ok_and(|it| it.as_os_str() == link)))
}

fn is_ours(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let own = geteuid().as_raw().to_string();
    users.is_some_and(|users| users.split_ascii_whitespace().any(|user| user == own))
}

fn held_by_known(link: &str) -> bool {
    let mut known = KNOWN.lock();
    let known = known.get_or_insert_default();
    known.retain(|&pid, start| Member::read(pid).is_some_and(|it| it.start == *start));
    known.keys().any(|&pid| holds(pid, link).unwrap_or(false))
}

fn is_known(member: &Member) -> bool {
    let known = KNOWN.lock();
    let start = known.as_ref().and_then(|known| known.get(&member.pid));
    start == Some(&member.start)
}

fn remember(member: &Member) {
    let mut known = KNOWN.lock();
    let known = known.get_or_insert_default();
    if known.len() >= KNOWN_LIMIT {
        known.clear();
    }
    known.insert(member.pid, member.start);
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
