//! Programs as plain process groups, without a zygote.
//!
//! Start at [`start`]. For systems other than Linux, and for programs that do
//! not call [`init`](crate::init). Ending reaches only the program's process
//! group, nothing is ended when the runtime is killed, and processes that left
//! the group are not found.

#[cfg(not(target_os = "linux"))]
mod forked;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::sync::mpsc;

use crate::driver::News;
use crate::find::explain;
#[cfg(target_os = "linux")]
use crate::linux::PlainChild;
use crate::pipes::Theirs;
use crate::{Command, Exit, Receipt, StartError, Survivor};
#[cfg(not(target_os = "linux"))]
use forked::ForkedChild as PlainChild;

/// The polling interval while a group ends. No event reports it.
const LOOK: Duration = Duration::from_millis(5);
/// The time limit for `SIGKILL` before the remaining processes count as
/// survivors.
const KILL_LIMIT: Duration = Duration::from_secs(5);

enum ChildOrder {
    Signal(i32),
    End(Duration),
    Release,
}

/// Sends orders to the supervisor.
pub(crate) struct ChildControl {
    orders: mpsc::UnboundedSender<ChildOrder>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "for `/proc`"))]
    group: i32,
}

/// Receives events from the supervisor.
pub(crate) struct ChildMonitor {
    news: mpsc::UnboundedReceiver<News>,
}

impl ChildControl {
    pub(crate) fn signal(&self, number: i32) {
        let _ = self.orders.send(ChildOrder::Signal(number));
    }

    pub(crate) fn end(&self, grace: Duration) {
        let _ = self.orders.send(ChildOrder::End(grace));
    }

    pub(crate) fn release(&self) {
        let _ = self.orders.send(ChildOrder::Release);
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn group(&self) -> i32 {
        self.group
    }
}

impl ChildMonitor {
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<News> {
        self.news
            .poll_recv(cx)
            .map(|news| news.unwrap_or(News::Gone))
    }
}

/// Starts `command`, whose executable is `path`, with `theirs` as its streams.
pub(crate) fn start(
    command: &Command,
    path: &Path,
    theirs: Theirs,
    environment: &[(OsString, OsString)],
) -> Result<(u32, ChildControl, ChildMonitor), StartError> {
    let child = PlainChild::spawn(command, path, theirs, environment);
    let child = child.map_err(|error| match &command.cwd {
        Some(cwd) if !cwd.is_dir() => StartError::Cwd {
            path: cwd.clone(),
            source: error,
        },
        _ if error.kind() == io::ErrorKind::InvalidInput => StartError::Unpassable {
            text: command.program.clone(),
        },
        _ => explain(&command.program, path, error),
    })?;
    let pid = child.id();
    let group = Pid::from_raw(pid.cast_signed()).expect("a pid is not 0");
    let (orders, incoming) = mpsc::unbounded_channel();
    let (news, outgoing) = mpsc::unbounded_channel();
    let keeper = ChildSupervisor {
        child,
        group,
        news,
        exited: false,
    };
    windlass_task::spawn(keeper.keep(incoming, command.grace));
    let hold = ChildControl {
        orders,
        group: pid.cast_signed(),
    };
    Ok((pid, hold, ChildMonitor { news: outgoing }))
}

/// Supervises one program.
struct ChildSupervisor {
    child: PlainChild,
    group: Pid,
    news: mpsc::UnboundedSender<News>,
    exited: bool,
}

#[cfg(target_os = "linux")]
impl Drop for ChildSupervisor {
    fn drop(&mut self) {
        let own = self.group.as_raw_nonzero().get();
        crate::linux::OWN_SESSIONS.lock().retain(|&it| it != own);
    }
}

impl ChildSupervisor {
    async fn keep(mut self, mut orders: mpsc::UnboundedReceiver<ChildOrder>, grace: Duration) {
        loop {
            let order = tokio::select! {
                () = self.wait() => continue,
                order = orders.recv() => order,
            };
            match order {
                Some(ChildOrder::Signal(number)) => self.signal(number),
                Some(ChildOrder::End(grace)) => {
                    let receipt = self.end(grace, &mut orders).await;
                    let _ = self.news.send(News::Ended(receipt));
                    return;
                }
                Some(ChildOrder::Release) | None => {
                    self.end(grace, &mut orders).await;
                    return;
                }
            }
        }
    }

    /// Waits for the program's exit and reports it once; then pending for ever.
    async fn wait(&mut self) {
        if self.exited {
            return std::future::pending().await;
        }
        let status = self.child.wait().await;
        self.exited = true;
        let exit = status.map_or_else(
            |error| Exit::Lost(format!("its status could not be fetched: {error}")),
            Exit::from_wait_status,
        );
        let _ = self.news.send(News::Exited { exit, idle: false });
    }

    fn signal(&self, number: i32) {
        // Until its status is fetched, the program's pid, and so its group id, cannot be reused.
        if !self.exited
            && let Some(signal) = Signal::from_named_raw(number)
        {
            let _ = kill_process_group(self.group, signal);
        }
    }

    async fn end(
        &mut self,
        grace: Duration,
        orders: &mut mpsc::UnboundedReceiver<ChildOrder>,
    ) -> Receipt {
        let before = members(self.group, self.exited);
        if before.is_empty() {
            return Receipt::default();
        }
        let _ = kill_process_group(self.group, Signal::TERM);
        let _ = kill_process_group(self.group, Signal::CONT);
        if !self.empties(grace, orders).await {
            let _ = kill_process_group(self.group, Signal::KILL);
            self.empties(KILL_LIMIT, orders).await;
        }
        let survivors = members(self.group, self.exited);
        Receipt {
            ended: before.len().saturating_sub(survivors.len()),
            survivors,
        }
    }

    /// Waits until the group is empty; `false` on a timeout.
    async fn empties(
        &mut self,
        limit: Duration,
        orders: &mut mpsc::UnboundedReceiver<ChildOrder>,
    ) -> bool {
        let mut deadline = Instant::now() + limit;
        let mut asked = true;
        while !self.exited || test_kill_process_group(self.group).is_ok() {
            if Instant::now() >= deadline {
                return false;
            }
            tokio::select! {
                () = self.wait() => {}
                order = orders.recv(), if asked => match order {
                    Some(ChildOrder::End(grace)) => deadline = deadline.min(Instant::now() + grace),
                    Some(_) => {}
                    None => asked = false,
                },
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        true
    }
}

/// The running members of the group. An empty group whose program was waited
/// for may have been reused.
#[cfg(target_os = "linux")]
fn members(group: Pid, _: bool) -> Vec<Survivor> {
    let group = group.as_raw_nonzero().get();
    let everyone = crate::linux::everyone();
    // In a container whose session was created outside, our session has no id: `/proc` shows 0 for all its processes.
    let own = i32::try_from(std::process::id()).ok();
    let own = everyone.iter().find(|it| Some(it.pid) == own);
    let own = own.map(|it| it.session);
    let everyone = everyone.into_iter();
    let ours = |session| Some(session) == own || session == group;
    let members = everyone.filter(|it| it.group == group && ours(it.session) && it.alive());
    let survivor = |it: crate::linux::Member| Survivor {
        pid: it.pid.cast_unsigned(),
        name: String::from_utf8_lossy(&it.name).into_owned(),
    };
    members.map(survivor).collect()
}

/// Only the program itself is known without `/proc`.
#[cfg(not(target_os = "linux"))]
fn members(group: Pid, exited: bool) -> Vec<Survivor> {
    let survivor = Survivor {
        pid: group.as_raw_nonzero().get().cast_unsigned(),
        name: String::new(),
    };
    (!exited).then_some(survivor).into_iter().collect()
}
