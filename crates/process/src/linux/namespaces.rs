#![expect(
    unsafe_code,
    reason = "namespaces, mounts and interfaces have no safe wrappers"
)]
//! Creates namespaces for confined programs, in a separate process.
//!
//! Start at [`prepare`]. A shim forks; its child creates the namespaces,
//! performs the mounts, sends the descriptors to the runtime and exits. The
//! namespaces exist as long as the runtime has the descriptors or a program
//! runs in them. `enter` joins them.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;

use rustix::fs::{Mode, OFlags};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use super::confine_wire::{MountStep, OwnNetwork, PrepareOrder, PrepareReply, PrepareStage};
use super::{socket, sys};

/// Creates the requested namespaces and sends them to `reply`, or the error. `user` is an existing user namespace.
pub(super) fn prepare(order: &PrepareOrder, reply: &OwnedFd, user: Option<&OwnedFd>) {
    // SAFETY: a shim has one thread.
    match unsafe { sys::fork() } {
        Ok(None) => {
            let made = if order.known {
                make_mounts(order, user)
            } else {
                make(order, reply)
            };
            let (message, fds) = match made {
                Ok(fds) => (PrepareReply::Done, fds),
                Err((stage, error)) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    (PrepareReply::Failed { stage, errno }, Vec::new())
                }
            };
            let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
            let _ = socket::send(reply, &message.write(), &fds);
            sys::exit(0)
        }
        // SAFETY: it is a child of this process; no other status is fetched.
        Ok(Some(pid)) => unsafe {
            while libc::waitpid(pid, ptr::null_mut(), 0) < 0
                && *libc::__errno_location() == libc::EINTR
            {}
        },
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
            let stage = PrepareStage::User;
            let failed = PrepareReply::Failed { stage, errno };
            let _ = socket::send(reply, &failed.write(), &[]);
        }
    }
}

type Made<T> = Result<T, (PrepareStage, io::Error)>;

fn make(order: &PrepareOrder, reply: &OwnedFd) -> Made<Vec<OwnedFd>> {
    let at = |stage| move |error| (stage, error);
    if order.user {
        // A process can write its own id maps only if it is dumpable, so that others of this user can inspect it. All
        // other descriptors are closed first.
        close_all_but(reply);
        let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
        let maps = Maps::of_this_process();
        unshare(libc::CLONE_NEWUSER).map_err(at(PrepareStage::User))?;
        maps.write().map_err(at(PrepareStage::Map))?;
    }
    unshare(libc::CLONE_NEWIPC).map_err(at(PrepareStage::Mount))?;
    unshare_mounts(order)?;
    let mut listener = None;
    if let Some(network) = order.network {
        unshare(libc::CLONE_NEWNET).map_err(at(PrepareStage::Network))?;
        if network != OwnNetwork::Down {
            raise_loopback().map_err(at(PrepareStage::Network))?;
        }
        if network == OwnNetwork::Listening {
            let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            listener = Some(bound.map_err(at(PrepareStage::Network))?);
        }
    }
    mount_all(&order.mounts)?;
    let names = [
        order.user.then_some("user"),
        order.network.map(|_| "net"),
        Some("ipc"),
        Some("mnt"),
    ];
    let mut fds = open_namespaces(names.into_iter().flatten())?;
    if order.terminals {
        fds.push(mount_terminals().map_err(at(PrepareStage::Mount))?);
    }
    fds.extend(listener.map(OwnedFd::from));
    Ok(fds)
}

/// Creates only a mount namespace, in an existing user namespace.
fn make_mounts(order: &PrepareOrder, user: Option<&OwnedFd>) -> Made<Vec<OwnedFd>> {
    if let Some(user) = user {
        // SAFETY: the descriptor is open, and this process has one thread.
        if unsafe { libc::setns(user.as_raw_fd(), libc::CLONE_NEWUSER) } != 0 {
            return Err((PrepareStage::User, io::Error::last_os_error()));
        }
    }
    unshare_mounts(order)?;
    mount_all(&order.mounts)?;
    let mut fds = open_namespaces(["mnt"])?;
    if order.terminals {
        let folder = mount_terminals();
        fds.push(folder.map_err(|error| (PrepareStage::Mount, error))?);
    }
    Ok(fds)
}

fn unshare_mounts(order: &PrepareOrder) -> Made<()> {
    let at_mount = |error| (PrepareStage::Mount, error);
    unshare(libc::CLONE_NEWNS).map_err(at_mount)?;
    mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE).map_err(at_mount)?;
    if !order.mounts.is_empty() {
        // Landlock does not cover modes, owners and times: only a read-only mount protects them.
        WriteAccess::Take.apply(c"/", true).map_err(at_mount)?;
    }
    Ok(())
}

fn open_namespaces<'a>(names: impl IntoIterator<Item = &'a str>) -> Made<Vec<OwnedFd>> {
    let opened = names.into_iter().map(|name| {
        let file = File::open(format!("/proc/self/ns/{name}"));
        file.map(OwnedFd::from)
            .map_err(|error| (PrepareStage::Mount, error))
    });
    opened.collect()
}

/// Mounts a private directory of terminals, and opens it. On the machine's terminals a program could read what the user
/// types.
fn mount_terminals() -> io::Result<OwnedFd> {
    const FOLDER: &CStr = c"/dev/pts";
    let options = c"newinstance,mode=0620,ptmxmode=0666";
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    // SAFETY: all of them are C strings.
    let mounted = unsafe {
        libc::mount(
            c"devpts".as_ptr(),
            FOLDER.as_ptr(),
            c"devpts".as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    };
    if mounted != 0 {
        return Err(io::Error::last_os_error());
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(FOLDER, flags, Mode::empty())?)
}

fn mount_all(steps: &[MountStep]) -> Made<()> {
    let failed = |index: usize| {
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        move |error: io::Error| (PrepareStage::Step(number), error)
    };
    // Sources are opened first, because a mount may hide the source of a later one. Many steps share a source.
    let mut sources: HashMap<&CStr, OwnedFd> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        if !sources.contains_key(step.source.as_c_str()) {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let source = rustix::fs::open(&step.source, flags, Mode::empty());
            let source = source.map_err(|error| failed(index)(error.into()))?;
            sources.insert(&step.source, source);
        }
    }
    for (index, step) in steps.iter().enumerate() {
        let source = &sources[step.source.as_c_str()];
        let source = CString::new(format!("/proc/self/fd/{}", source.as_raw_fd()));
        let source = source.expect("no NUL in a number");
        let flags = libc::MS_BIND | libc::MS_REC;
        let change = if step.read_only {
            WriteAccess::Take
        } else {
            WriteAccess::Give
        };
        let mounted = mount(Some(&source), &step.target, flags)
            .and_then(|()| change.apply(&step.target, step.read_only));
        match mounted {
            Err(error) if step.may_vanish && is_gone(&error) => {}
            mounted => mounted.map_err(failed(index))?,
        }
    }
    Ok(())
}

/// Whether a target was removed before or after it was mounted on: then its mount is gone too.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINVAL))
}

/// A change of the write access of mounts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteAccess {
    Give,
    Take,
}

impl WriteAccess {
    /// Changes a mount, and with `below` all mounts below it.
    fn apply(self, target: &CStr, below: bool) -> io::Result<()> {
        let read_only = libc::MOUNT_ATTR_RDONLY;
        let attributes = libc::mount_attr {
            attr_set: if self == Self::Take { read_only } else { 0 },
            attr_clr: if self == Self::Give { read_only } else { 0 },
            propagation: 0,
            userns_fd: 0,
        };
        let flags = if below { libc::AT_RECURSIVE } else { 0 };
        // SAFETY: the target is a C string, and the structure is passed with its size.
        let changed = unsafe {
            libc::syscall(
                libc::SYS_mount_setattr,
                libc::AT_FDCWD,
                target.as_ptr(),
                flags,
                &raw const attributes,
                size_of::<libc::mount_attr>(),
            )
        };
        match changed {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: this process has one thread, and no state that depends on the old namespace.
    match unsafe { libc::unshare(flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn mount(source: Option<&CStr>, target: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    let source = source.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: both are C strings or null, and the other two arguments may be null for these kinds of mounts.
    let mounted = unsafe { libc::mount(source, target.as_ptr(), ptr::null(), flags, ptr::null()) };
    match mounted {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The ids of a new user namespace: all existing ones for a privileged user, otherwise the user's own.
struct Maps {
    privileged: bool,
    users: String,
    groups: String,
}

impl Maps {
    fn of_this_process() -> Self {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        let privileged = user.is_root();
        let all = |file: &str, own: u32| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let lines = text.lines().filter_map(|line| {
                let mut numbers = line.split_ascii_whitespace();
                let (first, _, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
                Some(format!("{first} {first} {count}\n"))
            });
            let lines: String = lines.collect();
            if privileged && !lines.is_empty() {
                lines
            } else {
                format!("{own} {own} 1\n")
            }
        };
        Self {
            privileged,
            users: all("/proc/self/uid_map", user.as_raw()),
            groups: all("/proc/self/gid_map", group.as_raw()),
        }
    }

    fn write(&self) -> io::Result<()> {
        if !self.privileged {
            std::fs::write("/proc/self/setgroups", "deny")?;
        }
        std::fs::write("/proc/self/uid_map", &self.users)?;
        std::fs::write("/proc/self/gid_map", &self.groups)
    }
}

fn close_all_but(kept: &OwnedFd) {
    let kept = kept.as_raw_fd().cast_unsigned();
    // SAFETY: this process is a fork of a shim and will exit; the owners of these descriptors are no longer used.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, kept - 1, 0);
        libc::syscall(libc::SYS_close_range, kept + 1, libc::c_uint::MAX, 0);
    }
}

fn raise_loopback() -> io::Result<()> {
    // SAFETY: the structure is zeroed, which is valid for it, and contains the name of an interface. The descriptor is
    // closed at the end.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut request: libc::ifreq = MaybeUninit::zeroed().assume_init();
        request.ifr_name[0] = libc::c_char::try_from(b'l').unwrap_or_default();
        request.ifr_name[1] = libc::c_char::try_from(b'o').unwrap_or_default();
        request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP).unwrap_or(1);
        let raised = libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request);
        let error = io::Error::last_os_error();
        libc::close(socket);
        if raised == 0 { Ok(()) } else { Err(error) }
    }
}
