//! Sleeps of less than a millisecond, which the executor's clock does not
//! support.

use std::time::Duration;

/// A reusable timer.
#[derive(Default)]
pub(crate) struct Pause {
    #[cfg(target_os = "linux")]
    timer: Option<crate::readiness::Registered>,
}

impl Pause {
    /// Waits for about this time.
    pub(crate) async fn wait(&mut self, time: Duration) {
        if time.is_zero() {
            return;
        }
        #[cfg(target_os = "linux")]
        if time < FINE && self.wait_finely(time).await.is_ok() {
            return;
        }
        tokio::time::sleep(time).await;
    }

    #[cfg(target_os = "linux")]
    async fn wait_finely(&mut self, time: Duration) -> std::io::Result<()> {
        use rustix::time::{
            Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
            timerfd_settime,
        };
        if self.timer.is_none() {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            let interest = tokio::io::Interest::READABLE;
            self.timer = Some(crate::readiness::register(timer.into(), interest)?);
        }
        let timer = self.timer.as_ref().expect("it was just made");
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let value = Timespec {
            tv_nsec: time.subsec_nanos().into(),
            ..zero
        };
        let spec = Itimerspec {
            it_interval: zero,
            it_value: value,
        };
        timerfd_settime(timer.get_ref(), TimerfdTimerFlags::empty(), &spec)?;
        // Ignore the expiry of an earlier, cancelled wait.
        loop {
            let mut guard = timer.readable().await?;
            match rustix::io::read(guard.get_inner(), &mut [0; 8]) {
                Err(rustix::io::Errno::AGAIN) => guard.clear_ready(),
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(()),
            }
        }
    }
}

/// Longer times are left to the executor's clock, whose resolution is a
/// millisecond.
#[cfg(target_os = "linux")]
const FINE: Duration = Duration::from_millis(4);
