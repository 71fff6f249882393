//! `windlass logs`: what a handle has written.

use std::process::ExitCode;

use windlass_protocol::{HandleInfo, HandleState};

use crate::args::LogsArgs;
use crate::reach::{self, Target};
use crate::safe_text::SafeText;
use crate::stdout;

pub(crate) async fn run(args: LogsArgs) -> anyhow::Result<ExitCode> {
    let target = reach::find(&args.handle).await?;
    // Before anything is read, so that nothing is missed between.
    let mut events = if args.follow {
        Some(target.peer.events(&target.events(false), None).await?)
    } else {
        None
    };
    let mut at = 0;
    let mut safe = SafeText::default();
    loop {
        // Looked at first: what is written before the end is read after.
        let info: HandleInfo = target.peer.get(&target.path("")).await?;
        at = copy(&target, at, info.written, &args, &mut safe).await?;
        let Some(events) = events
            .as_mut()
            .filter(|_| info.state != HandleState::Stopped)
        else {
            return Ok(ExitCode::SUCCESS);
        };
        // Any event may mean that there is more.
        if events.next().await?.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Writes everything from `at` on to stdout; gives where it then stands.
async fn copy(
    target: &Target,
    mut at: u64,
    end: u64,
    args: &LogsArgs,
    safe: &mut SafeText,
) -> anyhow::Result<u64> {
    /// No more than the interface gives at once.
    const STEP: u64 = 1 << 20;
    while at < end {
        let to = end.min(at + STEP);
        let plain = args.plain;
        let path = target.path(&format!("/log?from={at}&to={to}&plain={plain}"));
        let bytes = target.peer.bytes(&path).await?;
        if args.raw {
            stdout::write(&bytes)?;
        } else {
            stdout::write(&safe.push(&bytes))?;
        }
        at = to;
    }
    Ok(at)
}
