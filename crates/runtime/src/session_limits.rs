//! Enforces limits for all tools of a session together.
//!
//! Start at [`look_after`]. No event reports memory usage, so the session polls
//! while tools run. The tool with the highest usage of the exceeded resource is
//! ended; the others continue.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use windlass_protocol::HandleUse;

use crate::handle::Handle;
use crate::job::Job;
use crate::session::SessionInner;

/// The polling interval.
const INTERVAL: Duration = Duration::from_millis(50);

/// Limits of all tools of a session together. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionLimits {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes that run at once.
    pub processes: Option<u64>,
    /// CPU time since the session began.
    pub cpu: Option<Duration>,
}

impl SessionLimits {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Starts to supervise the limits of a session. Called after every start of a
/// tool.
pub(crate) fn look_after(session: &Arc<SessionInner>) {
    if session.options.limits.is_empty() {
        return;
    }
    let started = session.limit_watch.get_or_init(|| {
        let started = Arc::new(Notify::new());
        let watch = LimitWatch {
            session: Arc::downgrade(session),
            limits: session.options.limits,
            spent: Vec::new(),
            spent_before: Duration::ZERO,
        };
        let closing = session.closing.clone();
        let begun = Arc::clone(&started);
        windlass_task::spawn_tracked(&session.tasks, async move {
            closing.run_until_cancelled(watch.run(&begun)).await;
        });
        started
    });
    started.notify_one();
}

struct LimitWatch {
    session: Weak<SessionInner>,
    limits: SessionLimits,
    /// The last measured CPU time of each job.
    spent: Vec<(Weak<dyn Job>, Duration)>,
    /// The CPU time of jobs that are gone.
    spent_before: Duration,
}

/// A running tool, or leftover processes of a tool.
struct RunningJob {
    job: Arc<dyn Job>,
    handle: Option<Arc<Handle>>,
    usage: HandleUse,
}

/// An exceeded limit, and a comparison of jobs by their usage.
struct Excess {
    text: String,
    share: fn(&HandleUse) -> f64,
}

impl LimitWatch {
    async fn run(mut self, started: &Notify) {
        loop {
            started.notified().await;
            while let Some(session) = self.session.upgrade() {
                let jobs = jobs_of(&session);
                drop(session);
                if jobs.is_empty() {
                    break;
                }
                let running = tokio::task::spawn_blocking(move || with_usage(jobs)).await;
                if let Ok(running) = running
                    && let Some(excess) = self.judge(&running)
                    && let Some(session) = self.session.upgrade()
                {
                    end_largest(&session, running, &excess).await;
                }
                tokio::time::sleep(INTERVAL).await;
            }
        }
    }

    fn judge(&mut self, running: &[RunningJob]) -> Option<Excess> {
        let usages = || running.iter().map(|it| &it.usage);
        let memory: u64 = usages().map(|usage| usage.memory).sum();
        let processes: u64 = usages().map(|usage| usage.processes).sum();
        let cpu = self.account(running);
        if let Some(limit) = self.limits.memory.filter(|limit| memory > *limit) {
            return Some(Excess {
                text: format!("memory = {}", size(limit)),
                share: |usage| {
                    #[expect(clippy::cast_precision_loss, reason = "it is only compared")]
                    let memory = usage.memory as f64;
                    memory
                },
            });
        }
        if let Some(limit) = self.limits.processes.filter(|limit| processes > *limit) {
            return Some(Excess {
                text: format!("processes = {limit}"),
                share: |usage| f64::from(u32::try_from(usage.processes).unwrap_or(u32::MAX)),
            });
        }
        let limit = self.limits.cpu.filter(|limit| cpu > *limit)?;
        Some(Excess {
            text: format!("cpu_secs = {}", limit.as_secs_f64()),
            share: |usage| usage.cpu_secs,
        })
    }

    /// Adds up the CPU time of all jobs, including ended ones.
    fn account(&mut self, running: &[RunningJob]) -> Duration {
        for entry in running {
            let now = Duration::try_from_secs_f64(entry.usage.cpu_secs).unwrap_or_default();
            let is_same = |(job, _): &&mut (Weak<dyn Job>, Duration)| {
                std::ptr::addr_eq(job.as_ptr(), Arc::as_ptr(&entry.job))
            };
            match self.spent.iter_mut().find(is_same) {
                Some((_, spent)) => *spent = now.max(*spent),
                None => self.spent.push((Arc::downgrade(&entry.job), now)),
            }
        }
        let before = &mut self.spent_before;
        self.spent.retain(|(job, spent)| {
            let is_there = job.strong_count() > 0;
            if !is_there {
                *before += *spent;
            }
            is_there
        });
        self.spent_before + self.spent.iter().map(|(_, spent)| *spent).sum::<Duration>()
    }
}

/// A job, and its handle if the tool itself still runs.
type OwnedJob = (Arc<dyn Job>, Option<Arc<Handle>>);

fn jobs_of(session: &SessionInner) -> Vec<OwnedJob> {
    let mut handles = session.registry.lock().active();
    handles.extend(session.one_shots.lock().values().cloned());
    let running = handles.into_iter().filter(|handle| !handle.is_stopped());
    let running = running.filter_map(|handle| {
        let job = Arc::clone(handle.job()?);
        Some((job, Some(handle)))
    });
    let mut jobs: Vec<_> = running.collect();
    let left = session.left_jobs();
    jobs.extend(left.into_iter().map(|job| (job, None)));
    jobs
}

fn with_usage(jobs: Vec<OwnedJob>) -> Vec<RunningJob> {
    let running = jobs.into_iter().filter_map(|(job, handle)| {
        // The usage on a host that is unreachable is not known, and waiting for its end would delay other ends.
        if job.host().unreachable().is_some() {
            return None;
        }
        let usage = job.usage()?;
        Some(RunningJob { job, handle, usage })
    });
    running.collect()
}

async fn end_largest(session: &SessionInner, running: Vec<RunningJob>, excess: &Excess) {
    let share = |it: &RunningJob| (excess.share)(&it.usage);
    let largest = running
        .iter()
        .max_by(|one, other| share(one).total_cmp(&share(other)));
    let Some(largest) = largest else { return };
    match &largest.handle {
        Some(handle) => {
            let text = &excess.text;
            let reason = format!(
                "the tools of this session exceeded its limit {text} together; this one used the most, and was ended"
            );
            handle.end_within(&reason, Duration::ZERO).await;
        }
        None => {
            session.abort_job(&largest.job, Duration::ZERO).await;
        }
    }
}

fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    match unit {
        Some((unit, name)) if bytes > 0 => format!("{}{name}", bytes / unit),
        _ => bytes.to_string(),
    }
}
