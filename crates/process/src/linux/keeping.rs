//! Keeps a program, on the runtime's side.
//!
//! Start at [`KeepPreparation::prepare`] and [`adopt`]. `holder` is the other
//! side.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use tokio::io::Interest;
use windlass_hold_wire::{
    HeldInput, HoldReceipt, HolderReply, HolderRequest, Nonce, Streams, VERSION, Wants,
    common_version,
};
use windlass_output::Output;

use super::keep_wire::{KeepOrder, KeptDescriptors};
use super::proxy::WayOut;
use super::retained::Retained;
use super::socket::{self, Received};
use crate::Exit;
use crate::keep::{HeldKey, HeldProgram, KeepOptions, TakeOverError};
use crate::pipes::Ours;
use crate::readiness::register;

/// The size of the shared output beyond the output's own memory: more than an output can request again, see
/// [`Retained::has_room`].
const RING_BEYOND: usize = 256 * 1024;
/// The least size for an output that may hold back an object of up to 1 MiB.
const RING_WITH_OBJECT: usize = 2 * 1024 * 1024;
/// The maximum size of a reply: output and its header.
const ANSWER: usize = 65 * 1024;
/// How long a holder may take to kill the tree after the grace period.
const KILLING: Duration = Duration::from_secs(10);
/// How many times a holder is contacted if its connection breaks before the reply.
const ATTEMPTS: usize = 3;
/// The delay between attempts if a holder's queue is full.
const FULL_QUEUE: Duration = Duration::from_millis(20);

/// A program that will be kept.
pub(crate) struct KeepPreparation {
    pub(crate) retained: Arc<Retained>,
    pub(crate) key: HeldKey,
    order: Vec<u8>,
    listener: OwnedFd,
    /// The socket of its sandbox's proxy.
    proxy: Option<OwnedFd>,
}

impl KeepPreparation {
    /// Creates the shared memory and the socket for adopters. The program will write to this output.
    pub(crate) fn prepare(
        options: &KeepOptions,
        from: &Output,
        ours: &Ours,
        way_out: Option<WayOut>,
    ) -> io::Result<Self> {
        let output = &options.output;
        let mut ring = output.memory + RING_BEYOND;
        if output.hold_object {
            ring = ring.max(RING_WITH_OBJECT);
        }
        let retained = Arc::new(Retained::new(ring, from.written())?);
        if from.written() > 0 {
            retained.publish(&from.checkpoint());
        }
        let mut nonce = Nonce::default();
        rustix::rand::getrandom(&mut nonce, rustix::rand::GetRandomFlags::empty())?;
        let key = HeldKey {
            folder: options.folder.clone(),
            name: options.name.clone(),
            nonce,
            remote: None,
        };
        let (proxy, hosts) = way_out.map(|it| (it.socket, it.hosts)).unzip();
        let order = KeepOrder {
            streams: Streams {
                stderr: ours.stderr.is_some(),
                stdin: if ours.stdin.is_some() && ours.terminal.is_none() {
                    HeldInput::Open
                } else {
                    HeldInput::None
                },
                terminal: ours.terminal.is_some(),
            },
            lease: options.lease,
            nonce,
            log_limit: output.log_limit,
            hold_object: output.hold_object,
            socket: path_of(&key, "sock"),
            receipt: path_of(&key, "receipt"),
            log: output.log.clone(),
            registration: options.registration.clone(),
            proxy: hosts,
        };
        Ok(Self {
            retained,
            listener: open_listener(&key)?,
            proxy,
            key,
            order: order.write(),
        })
    }

    /// The order, and its attached descriptors.
    pub(crate) fn order<'a>(&'a self, ours: &'a Ours) -> (&'a [u8], Vec<BorrowedFd<'a>>) {
        let mut fds = vec![self.listener.as_fd()];
        fds.extend(self.retained.descriptors());
        fds.extend(ours.stdout.as_deref().map(AsFd::as_fd));
        fds.extend(ours.stderr.as_deref().map(AsFd::as_fd));
        if ours.terminal.is_none() {
            fds.extend(ours.stdin.as_deref().map(AsFd::as_fd));
        }
        fds.extend(self.proxy.as_ref().map(AsFd::as_fd));
        (&self.order, fds)
    }
}

/// An adopted program.
pub(crate) struct Adoption {
    pub(crate) control: OwnedFd,
    pub(crate) pid: u32,
    pub(crate) shim: i32,
    /// The wait status, if it has exited.
    pub(crate) status: Option<i32>,
    pub(crate) terminal: bool,
    pub(crate) retained: Arc<Retained>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: Option<OwnedFd>,
    pub(crate) stdin: Option<OwnedFd>,
    /// Whether an earlier owner has closed its input.
    pub(crate) input_closed: bool,
}

/// Adopts the program of a holder.
pub(crate) async fn adopt(key: &HeldKey, limit: Duration) -> Result<Adoption, TakeOverError> {
    let (control, reply, fds) = ask(key, Wants::Adopt, limit).await?;
    let HolderReply::Adopted {
        streams,
        pid,
        holder,
        status,
        ..
    } = reply
    else {
        return Err(refused(key, &reply));
    };
    let system = |source| TakeOverError::System {
        name: key.name.clone(),
        source,
    };
    let descriptors = KeptDescriptors::sort(streams, &mut fds.into_iter());
    let descriptors =
        descriptors.ok_or_else(|| system(io::Error::other("its descriptors did not arrive")))?;
    let [memory, read, write] = descriptors.memory;
    let retained = Retained::go_on(memory, read, write).map_err(system)?;
    Ok(Adoption {
        control,
        pid,
        shim: holder.cast_signed(),
        status,
        terminal: streams.terminal,
        retained: Arc::new(retained),
        stdout: descriptors.stdout,
        stderr: descriptors.stderr,
        stdin: descriptors.stdin,
        input_closed: streams.stdin == HeldInput::Closed,
    })
}

/// Queries a holder for the state of its program.
pub(crate) async fn look_up(key: &HeldKey, limit: Duration) -> Result<HeldProgram, TakeOverError> {
    let (_, reply, _) = ask(key, Wants::Describe, limit).await?;
    let HolderReply::Status {
        pid,
        holder,
        status,
        owner,
        left,
        written,
        ending,
    } = reply
    else {
        return Err(refused(key, &reply));
    };
    Ok(HeldProgram {
        program: pid,
        holder,
        exit: status.map(Exit::from_wait_status),
        owner: Some(owner).filter(|owner| *owner != 0),
        left,
        written,
        ending,
    })
}

/// Queries a holder for output from this offset on. Also returns the offset of the first byte.
pub(crate) async fn held_output(
    key: &HeldKey,
    from: u64,
    most: u32,
    limit: Duration,
) -> Result<(u64, Vec<u8>), TakeOverError> {
    match ask(key, Wants::Output { from, limit: most }, limit).await? {
        (_, HolderReply::Output { from, bytes }, _) => Ok((from, bytes)),
        (_, other, _) => Err(refused(key, &other)),
    }
}

/// Makes a holder end its program and the whole tree.
pub(crate) async fn end_held(key: &HeldKey, grace: Duration) -> Result<HoldReceipt, TakeOverError> {
    let limit = grace.saturating_add(KILLING);
    match ask(key, Wants::End { grace }, limit).await? {
        (_, HolderReply::Receipt(receipt), _) => Ok(receipt),
        (_, other, _) => Err(refused(key, &other)),
    }
}

/// The error for an unexpected reply.
fn refused(key: &HeldKey, reply: &HolderReply) -> TakeOverError {
    let name = key.name.clone();
    match *reply {
        HolderReply::Busy { owner } => TakeOverError::Busy { name, owner },
        HolderReply::Refused { version } => TakeOverError::Refused { name, version },
        _ => TakeOverError::Refused {
            name,
            version: VERSION,
        },
    }
}

/// Sends a request to a holder and waits for its reply. If the holder has an older version, repeats it in that version.
async fn ask(
    key: &HeldKey,
    wants: Wants,
    limit: Duration,
) -> Result<(OwnedFd, HolderReply, Vec<OwnedFd>), TakeOverError> {
    let asked = ask_in(VERSION, key, wants, limit).await?;
    match asked.1 {
        HolderReply::Refused { version } if version != VERSION => match common_version(version) {
            Some(version) if version != VERSION => ask_in(version, key, wants, limit).await,
            _ => Ok(asked),
        },
        _ => Ok(asked),
    }
}

/// Only a socket without a listener means that the holder is gone. A broken connection is retried; all other errors
/// leave the state of the program open.
async fn ask_in(
    version: u8,
    key: &HeldKey,
    wants: Wants,
    limit: Duration,
) -> Result<(OwnedFd, HolderReply, Vec<OwnedFd>), TakeOverError> {
    let name = || key.name.clone();
    let request = HolderRequest {
        version,
        wants,
        nonce: key.nonce,
    };
    let deadline = tokio::time::Instant::now() + limit;
    let mut broken = 0;
    while broken < ATTEMPTS {
        let asked = tokio::time::timeout_at(deadline, exchange(key, &request)).await;
        let source = match asked {
            Err(_) => break,
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(source)) => source,
        };
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                return Err(TakeOverError::Gone {
                    name: name(),
                    source,
                });
            }
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => broken += 1,
            // Its queue is full, and there is no notification when it has room.
            io::ErrorKind::WouldBlock if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(FULL_QUEUE).await;
            }
            io::ErrorKind::WouldBlock => break,
            _ => {
                return Err(TakeOverError::System {
                    name: name(),
                    source,
                });
            }
        }
    }
    Err(TakeOverError::Silent { name: name() })
}

/// Connects to a holder, sends a request and waits for the reply.
async fn exchange(
    key: &HeldKey,
    request: &HolderRequest,
) -> io::Result<(OwnedFd, HolderReply, Vec<OwnedFd>)> {
    let control = connect_to(key)?;
    socket::send(&control, &request.write(), &[])?;
    let control = Arc::new(control);
    let (reply, fds) = answer(&control).await?;
    let control = Arc::into_inner(control).expect("its registration is gone");
    Ok((control, reply, fds))
}

/// Waits for a holder's reply and its attached descriptors.
async fn answer(control: &Arc<OwnedFd>) -> io::Result<(HolderReply, Vec<OwnedFd>)> {
    let registered = register(Arc::clone(control), Interest::READABLE)?;
    let mut buffer = vec![0; ANSWER];
    loop {
        let mut guard = registered.readable().await?;
        let mut fds = Vec::new();
        match socket::receive(control.as_fd(), &mut buffer, |fd| fds.push(fd)) {
            Received::Message(length) => {
                let reply = HolderReply::read(&buffer[..length]);
                let reply = reply.ok_or_else(|| io::Error::other("it is not understood"))?;
                return Ok((reply, fds));
            }
            Received::Nothing => guard.clear_ready(),
            Received::End { .. } => return Err(io::ErrorKind::ConnectionReset.into()),
        }
    }
}

fn path_of(key: &HeldKey, extension: &str) -> PathBuf {
    key.folder.join(format!("{}.{extension}", key.name))
}

fn open_listener(key: &HeldKey) -> io::Result<OwnedFd> {
    with_address(&key.folder, &key.name, |socket, address| {
        bind(socket, address)?;
        Ok(listen(socket, 64)?)
    })
}

fn connect_to(key: &HeldKey) -> io::Result<OwnedFd> {
    with_address(&key.folder, &key.name, |socket, address| {
        Ok(connect(socket, address)?)
    })
}

/// The path of the socket of a kept program's holder.
pub(crate) fn holder_socket(options: &KeepOptions) -> PathBuf {
    options.folder.join(format!("{}.sock", options.name))
}

/// Whether a holder listens on its socket. The holder sees a connection without a request.
pub(super) fn has_listener(socket: &Path) -> bool {
    let name = socket.file_stem().and_then(OsStr::to_str);
    let (Some(folder), Some(name)) = (socket.parent(), name) else {
        return false;
    };
    let connected = with_address(folder, name, |socket, address| {
        Ok(connect(socket, address)?)
    });
    let gone = [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused];
    connected.map_or_else(|error| !gone.contains(&error.kind()), |_| true)
}

/// Creates a socket and passes it on with its address. An address is limited in length, so a long directory is named by
/// its descriptor.
fn with_address(
    folder: &Path,
    name: &str,
    act: impl FnOnce(&OwnedFd, &SocketAddrUnix) -> io::Result<()>,
) -> io::Result<OwnedFd> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}/{name}.sock", folder.as_raw_fd());
    let address = SocketAddrUnix::new(Path::new(&path))?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    act(&socket, &address)?;
    Ok(socket)
}
