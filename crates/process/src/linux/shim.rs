//! A shim: the parent of one program, which holds its descendants together.
//!
//! Start at [`run`]. A shim is a fork of the zygote with a control socket to
//! the runtime. It starts a program on request and waits. As a subreaper, it
//! inherits every process of the tree whose parent has exited. The socket is
//! also the lifeline: when it closes, the runtime has died or dropped the
//! process, and the shim ends the tree. A shim never exits while it has a
//! child. Without children it reports itself idle, and may get the next
//! program, which saves a fork and an exit.
//!
//! It uses little memory: there may be a thousand shims.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use windlass_hold_wire::{HolderOrder, HolderReport};
use windlass_sandbox::LimitKind;

use super::cgroup::ControlGroup;
use super::confine_wire::Confine;
use super::end::{EndProgress, TreeShutdown};
use super::enter::{self, spawn_confined};
use super::holder::{self, Keep};
use super::namespaces;
use super::socket::{self, Received};
use super::spawn::{FdAction, ProcessPlacement, StringList, spawn};
use super::supervise::Supervision;
use super::sys::{self, Reaped, Woken};
use super::wire::{Report, ShimOrder, StartOrder, StartStage, flag};

/// The process name of a shim.
pub(super) const NAME: &CStr = c"windlass-shim";

/// Serves one program. `base` is the environment before edits; `buffer` has room for one message.
pub(super) fn run(control: OwnedFd, base: &[CString], buffer: &mut [u8]) -> ! {
    sys::set_name(NAME);
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let mut control = Some(control);
    while let Some((shim, keep)) = control.and_then(|control| Shim::start(control, base, buffer)) {
        control = match keep {
            Some(keep) => {
                holder::serve(shim, keep, buffer);
                None
            }
            None => shim.serve(buffer),
        };
    }
    sys::exit(0)
}

pub(super) struct Shim {
    /// `None` once the lifeline has broken.
    pub(super) control: Option<OwnedFd>,
    pub(super) pid: i32,
    /// The program's pid while its status has not been fetched.
    program: Option<i32>,
    /// The group that the program led from its start.
    pub(super) group: i32,
    terminal: bool,
    pub(super) grace: Duration,
    /// Whether the runtime has closed the program's input.
    pub(super) input_closed: bool,
    pub(super) ending: Option<TreeShutdown>,
    /// Whether the tree ends when the lifeline breaks.
    ends_with_runtime: bool,
    /// The limits of the tree that the shim enforces.
    supervision: Option<Supervision>,
    /// The limit that the tree exceeded, if it was ended for that.
    pub(super) exceeded: Option<LimitKind>,
}

impl Shim {
    /// Waits for the start order and executes it; `None` if there is nothing to supervise.
    fn start(
        control: OwnedFd,
        base: &[CString],
        buffer: &mut [u8],
    ) -> Option<(Self, Option<Box<Keep>>)> {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let mut keep = None;
        let mut confine: Option<Confine> = None;
        let (result, group) = loop {
            let mut fds: Vec<OwnedFd> = Vec::new();
            let length = match socket::receive(&control, buffer, |fd| fds.push(fd)) {
                Received::Message(length) => length,
                Received::Nothing => {
                    sys::wait(Some(control.as_fd()), None);
                    continue;
                }
                Received::End { .. } => return None,
            };
            let mut order = ShimOrder::read(&buffer[..length])?;
            let in_file: Vec<u8>;
            if let ShimOrder::InFile { length } = order {
                in_file = read_file(&fds.pop()?, length)?;
                order = ShimOrder::read(&in_file)?;
            }
            match order {
                ShimOrder::Start(start) => {
                    let group = confine.as_ref().and_then(Confine::make_group);
                    let joins = group.as_ref().map(ControlGroup::processes);
                    let launched = enter::take_filter(confine.as_ref())
                        .and_then(|()| launch(&start, base, &fds, confine.as_ref(), joins));
                    break (launched, group);
                }
                ShimOrder::Keep(order) => keep = Some(Keep::new(order, fds)?),
                ShimOrder::Confine(order) => confine = Some(Confine::new(&order, fds)?),
                ShimOrder::Prepare(order) => {
                    if let Some(reply) = fds.first() {
                        namespaces::prepare(&order, reply, fds.get(1));
                    }
                }
                // It was meant for a program whose exit was not known yet.
                ShimOrder::Running(_) => {}
                ShimOrder::InFile { .. } => return None,
            }
        };
        let report = match &result {
            Ok(program) => Report::Started {
                pid: program.pid.cast_unsigned(),
                shim: pid.cast_unsigned(),
            },
            Err((stage, errno)) => Report::Failed {
                stage: *stage,
                errno: *errno,
            },
        };
        let _ = socket::send(&control, &report.write(), &[]);
        let program = result.ok()?;
        let shim = Self {
            control: Some(control),
            pid,
            program: Some(program.pid),
            group: program.pid,
            terminal: program.terminal,
            grace: program.grace,
            input_closed: false,
            ending: None,
            ends_with_runtime: keep.is_none(),
            supervision: confine.and_then(|confine| Supervision::new(pid, &confine.limits, group)),
            exceeded: None,
        };
        Some((shim, keep))
    }

    /// Supervises the tree until it is empty; returns the socket if there may be a next program.
    fn serve(mut self, buffer: &mut [u8]) -> Option<OwnedFd> {
        loop {
            if self.reap(None) {
                return match self.ending.as_mut() {
                    Some(ending) => {
                        let report = ending.childless();
                        if let Some(report) = report {
                            self.report(&report);
                        }
                        None
                    }
                    None => self.control,
                };
            }
            let timeout = self.advance();
            let control = self.control.as_ref().map(AsFd::as_fd);
            if sys::wait(control, timeout) == Woken::Readable {
                self.obey(buffer);
            }
        }
    }

    /// Reaps every ended child, and reports the program's exit; `true` if no
    /// child is left. The shim of a kept program records its status, and is
    /// never idle.
    pub(super) fn reap(&mut self, kept: Option<&mut Option<i32>>) -> bool {
        let mut exited = None;
        let childless = loop {
            match sys::reap() {
                Reaped::Child { pid, status } if self.program == Some(pid) => {
                    self.program = None;
                    exited = Some(status);
                }
                Reaped::Child { .. } | Reaped::Stopped { .. } => {}
                Reaped::Running => break false,
                Reaped::Childless => break true,
            }
        };
        let idle = childless && self.ending.is_none() && kept.is_none();
        if let Some(kept) = kept {
            *kept = kept.or(exited);
        }
        // A group that ran out of memory was killed as a whole.
        let by_kernel = self.supervision.as_ref().filter(|_| exited.is_some());
        if let Some(exceeded) = by_kernel.and_then(Supervision::ended_by_kernel) {
            self.tell_exceeded(exceeded);
        }
        match exited {
            Some(status) => self.report(&HolderReport::Exited { status, idle }),
            None if idle => self.report(&HolderReport::Idle),
            None => {}
        }
        childless
    }

    fn tell_exceeded(&mut self, kind: LimitKind) {
        self.exceeded = Some(kind);
        self.send(&Report::Exceeded(kind));
    }

    /// Checks the limits, and continues to end the tree if that has begun; returns the time of the next step.
    pub(super) fn advance(&mut self) -> Option<Duration> {
        if self.ending.is_none()
            && let Some(supervision) = &mut self.supervision
        {
            let next = supervision.look();
            let Some(exceeded) = supervision.exceeded() else {
                return Some(next);
            };
            // First kill the group atomically: a fork bomb grows during any inspection.
            supervision.kill();
            self.signal(libc::SIGKILL);
            self.tell_exceeded(exceeded);
            self.end(Duration::ZERO);
        }
        let EndProgress { report, next } = self.ending.as_mut()?.advance();
        if let Some(report) = report {
            self.report(&report);
        }
        Some(next)
    }

    /// Executes one order; `true` if there was one.
    pub(super) fn obey(&mut self, buffer: &mut [u8]) -> bool {
        let Some(control) = &self.control else {
            return false;
        };
        let length = match socket::receive(control, buffer, drop) {
            Received::Message(length) => length,
            Received::End { .. } => {
                self.control = None;
                if self.ends_with_runtime {
                    self.end(self.grace);
                }
                return false;
            }
            Received::Nothing => return false,
        };
        match ShimOrder::read(&buffer[..length]) {
            Some(ShimOrder::Running(HolderOrder::Signal(number))) => self.signal(number.into()),
            Some(ShimOrder::Running(HolderOrder::End { grace })) => self.end(grace),
            Some(ShimOrder::Running(HolderOrder::CloseInput)) => self.input_closed = true,
            // The owner of an adopted program has its streams, and writes to them itself.
            Some(
                ShimOrder::Running(_)
                | ShimOrder::Start(_)
                | ShimOrder::InFile { .. }
                | ShimOrder::Keep(_)
                | ShimOrder::Confine(_)
                | ShimOrder::Prepare(_),
            )
            | None => {}
        }
        true
    }

    pub(super) fn end(&mut self, grace: Duration) {
        let deadline = Instant::now() + grace;
        match &mut self.ending {
            Some(ending) => ending.hasten(deadline),
            None => {
                self.ending = Some(TreeShutdown::new(
                    self.pid,
                    self.group,
                    self.terminal,
                    deadline,
                ));
            }
        }
    }

    fn signal(&self, number: i32) {
        // Until its status is fetched, the program's pid, and so its group id, cannot be reused.
        if let Some(program) = self.program
            && let Some(group) = rustix::process::Pid::from_raw(program)
            && let Some(signal) = rustix::process::Signal::from_named_raw(number)
        {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    pub(super) fn report(&self, report: &HolderReport) {
        self.send_bytes(&report.write());
    }

    fn send(&self, report: &Report) {
        self.send_bytes(&report.write());
    }

    fn send_bytes(&self, report: &[u8]) {
        if let Some(control) = &self.control {
            let _ = socket::send(control.as_fd(), report, &[]);
        }
    }
}

/// A running program.
struct Program {
    pid: i32,
    terminal: bool,
    grace: Duration,
}

type Launched = Result<Program, (StartStage, i32)>;

/// Starts the program. The caller closes the descriptors of the order.
fn launch(
    start: &StartOrder<'_>,
    base: &[CString],
    fds: &[OwnedFd],
    confine: Option<&Confine>,
    group: Option<BorrowedFd<'_>>,
) -> Launched {
    if !start.cwd.is_empty() {
        // The shim's own directory does not matter, and an error here is distinct from one of exec.
        rustix::process::chdir(start.cwd)
            .map_err(|error| (StartStage::Cwd, error.raw_os_error()))?;
    }
    let terminal = start.flags & flag::TERMINAL != 0;
    let (place, actions) = if terminal {
        (ProcessPlacement::Session, on_terminal(start.terminal))
    } else {
        (ProcessPlacement::Group, actions(start.flags, fds))
    };
    let argv = StringList::new(start.args.iter().copied());
    let envp = StringList::new(environment(start, base));
    let pid = match confine {
        None => spawn(start.program, &argv, &envp, place, &actions)
            .map_err(|error| (StartStage::Exec, error.raw_os_error().unwrap_or(libc::EIO)))?,
        Some(confine) => {
            let program = enter::ConfinedProgram {
                path: start.program,
                argv: &argv,
                envp: &envp,
                place,
                actions: &actions,
                cwd: start.cwd,
                group,
            };
            spawn_confined(&program, confine)?
        }
    };
    Ok(Program {
        pid,
        terminal,
        grace: Duration::from_millis(start.grace_ms.into()),
    })
}

/// Reads an order that was too long for a message.
fn read_file(file: &OwnedFd, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match rustix::io::pread(file, &mut bytes[filled..], filled as u64) {
            Ok(0) | Err(_) => return None,
            Ok(read) => filled += read,
        }
    }
    Some(bytes)
}

/// Assigns the attached descriptors; the shim's own 0, 1 and 2 are `/dev/null`.
fn actions(flags: u8, fds: &[OwnedFd]) -> Vec<FdAction<'static>> {
    let mut fds = fds.iter().map(AsRawFd::as_raw_fd);
    let mut actions = Vec::with_capacity(3);
    let streams: [(u8, RawFd); 3] = [(flag::STDIN, 0), (flag::STDOUT, 1), (flag::STDERR, 2)];
    for (wanted, to) in streams {
        if flags & wanted != 0
            && let Some(from) = fds.next()
        {
            actions.push(FdAction::Duplicate { from, to });
        }
    }
    if flags & flag::MERGE != 0 {
        actions.push(FdAction::Duplicate { from: 1, to: 2 });
    }
    actions
}

/// All three streams are the terminal. Opening it makes it the controlling terminal of the new session.
fn on_terminal(path: &CStr) -> Vec<FdAction<'_>> {
    vec![
        FdAction::Open { path, to: 0 },
        FdAction::Duplicate { from: 0, to: 1 },
        FdAction::Duplicate { from: 0, to: 2 },
    ]
}

/// The base with the edits applied. The marker is part of every base and of every cleared environment.
fn environment<'a>(start: &StartOrder<'a>, base: &'a [CString]) -> impl Iterator<Item = &'a CStr> {
    let cleared = start.flags & flag::CLEAR_ENV != 0;
    let edits = start.edits.clone();
    let kept = base.iter().map(CString::as_c_str).filter(move |entry| {
        let marker = entry.to_bytes().starts_with(super::marker::PREFIX);
        marker || !cleared && !edits.iter().any(|edit| name(edit) == name(entry))
    });
    let set = start.edits.clone().into_iter();
    kept.chain(set.filter(|edit| edit.to_bytes().contains(&b'=')))
}

fn name(entry: &CStr) -> &[u8] {
    let bytes = entry.to_bytes();
    &bytes[..memchr::memchr(b'=', bytes).unwrap_or(bytes.len())]
}
