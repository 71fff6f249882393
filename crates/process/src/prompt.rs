//! Knowing that the program of a terminal waits for input, and settling by it.
//!
//! Start at [`settle`]. A prompt is no matter of texts or of quiet: a process of the terminal's foreground is blocked
//! reading it, nobody else in the foreground runs, and what was written to it has been read. The page
//! `docs/design/settling.md` tells the whole method. Where the system does not show what processes do, quiet has to be
//! enough.

use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use crate::linux::{Foreground, Waits, foreground};
use crate::pause::Pause;
use crate::process::Shared;
use crate::settle::{QUIET, quiet_since};
use crate::{Prompt, Signal, Terminal, tree};

/// How soon a program that was not at a prompt is looked at again, at first and at most.
const LOOK: (Duration, Duration) = (Duration::from_micros(300), Duration::from_millis(10));
/// One that has had its time already is looked at less often, this part of the time that it has been quiet…
const PATIENCE: u32 = 50;
/// … but never less often than this.
const SELDOM: Duration = Duration::from_millis(500);
/// One that writes all the time is looked at this much later each time…
const BUSIER: Duration = Duration::from_micros(100);
/// … but never later than this.
const BUSIEST: Duration = Duration::from_millis(5);
/// The time between looks is at least so many times what a look takes.
const SHARE: u32 = 4;

/// Whether the program has said what it has to say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answered {
    No,
    /// If it is quiet for a while: it waits for others too, or we cannot see what for.
    IfQuiet,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only `/proc` tells it for certain")
    )]
    Yes,
}

/// Waits until the program has exited or is at a prompt with everything it wrote read, or `max` is over.
pub(crate) async fn settle(shared: &Shared, terminal: &Terminal, max: Duration) {
    let deadline = Instant::now().checked_add(max);
    if !look_until(shared, deadline, || has_answered(shared, terminal)).await {
        note(terminal);
    }
}

/// Waits for a prompt that is wanted, with everything that was written before it read; `None` if it exited.
pub(crate) async fn prompted(
    shared: &Shared,
    terminal: &Terminal,
    wanted: impl Fn(Prompt) -> bool,
) -> Option<Prompt> {
    let mut found = None;
    let look = || {
        found = prompt(terminal).filter(|&it| wanted(it));
        found.is_some()
    };
    look_until(shared, None, look).await;
    found
}

/// Looks whenever something may have changed, until `done` or the program has exited; `false` if the time is over.
async fn look_until(
    shared: &Shared,
    deadline: Option<Instant>,
    mut done: impl FnMut() -> bool,
) -> bool {
    let mut state = shared.state.subscribe();
    let mut changes = shared.output.changes();
    let mut pause = Pause::default();
    let mut step = LOOK.0;
    let mut busy = Duration::ZERO;
    loop {
        changes.borrow_and_update();
        let exited = state.borrow().exit.is_some();
        let begun = Instant::now();
        if exited || done() {
            return true;
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| now >= deadline) {
            return false;
        }
        let least = ((now - begun) * SHARE).max(LOOK.0);
        let quiet = now.saturating_duration_since(quiet_since(shared));
        let most = (quiet / PATIENCE).clamp(LOOK.1, SELDOM).max(least);
        let wait = step.clamp(least, most);
        step = (step * 2).min(most);
        let wait = deadline.map_or(wait, |deadline| wait.min(deadline - now));
        tokio::select! {
            biased;
            _ = state.wait_for(|state| state.exit.is_some()) => return true,
            () = pause.wait(wait) => {
                busy = Duration::ZERO;
                continue;
            }
            _ = changes.changed() => {}
        }
        // It wrote something, and may be about to wait. One that writes all the time is not looked at all the time.
        step = LOOK.0;
        let wait = (least + busy).saturating_sub(now.elapsed());
        tokio::select! {
            biased;
            _ = state.wait_for(|state| state.exit.is_some()) => return true,
            () = pause.wait(wait) => {}
        }
        busy = (busy + BUSIER).min(BUSIEST);
    }
}

fn has_answered(shared: &Shared, terminal: &Terminal) -> bool {
    let typed = terminal.input.written();
    let has = match answered(terminal) {
        Answered::Yes => terminal.all_read(),
        Answered::IfQuiet => {
            quiet_since(shared).elapsed() >= QUIET && tree::asleep(shared) && terminal.all_read()
        }
        Answered::No => false,
    };
    has && is_last(terminal, typed)
}

/// Whether nothing was typed since. What the program asked its terminal may have been answered while we looked, and then
/// it has something to read.
fn is_last(terminal: &Terminal, typed: Option<Instant>) -> bool {
    terminal.input.written() == typed
}

/// What the program waits for, if it is at a prompt with everything it wrote read.
#[cfg(target_os = "linux")]
pub(crate) fn prompt(terminal: &Terminal) -> Option<Prompt> {
    let typed = terminal.input.written();
    let Foreground { reader, brief, .. } = look(terminal)?;
    let waits = reader?;
    if !terminal.waits_in_turns(&brief) {
        return None;
    }
    let modes = terminal.modes();
    let prompt = match (modes.canonical, modes.echo) {
        (true, false) => Prompt::Secret,
        // Nothing says that one whom we cannot see waits for a line, and not for something else.
        (true, true) if waits == Waits::Unseen => return None,
        _ => Prompt::Input,
    };
    // The order matters: what it wrote before it was seen blocked has been read by now, or there is more to read.
    (terminal.all_read() && is_last(terminal, typed)).then_some(prompt)
}

#[cfg(target_os = "linux")]
fn answered(terminal: &Terminal) -> Answered {
    let Some(Foreground {
        reader,
        naps,
        brief,
    }) = look(terminal)
    else {
        return Answered::No;
    };
    match reader {
        None => Answered::No,
        // He waits for a moment only: for an answer of the terminal, or for the rest of a key. What comes then tells.
        Some(_) if !terminal.waits_in_turns(&brief) => Answered::No,
        // Somebody slept before the last input came and still does: it is not that input that he answers. One who has
        // run since may be about to.
        Some(_) if !terminal.slept_through(&naps) => Answered::No,
        Some(Waits::Terminal) => Answered::Yes,
        Some(Waits::AmongOthers | Waits::Unseen) => Answered::IfQuiet,
    }
}

/// Looks at the foreground of a terminal; `None` if somebody in it runs, or has input to read.
#[cfg(target_os = "linux")]
fn look(terminal: &Terminal) -> Option<Foreground> {
    // The order matters: who is blocked after there was no input left has read all of it, or had no reason to.
    if terminal.input.is_queued() || terminal.has_input()? {
        return None;
    }
    foreground(terminal.foreground()?, terminal.keeper, terminal.device())
}

/// Notes how things stand, so that what happens from now on can be told from what went on before.
#[cfg(target_os = "linux")]
fn note(terminal: &Terminal) {
    terminal.note_naps(look(terminal).map_or_else(Vec::new, |foreground| foreground.naps));
}

/// Without `/proc` nobody can tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prompt(_: &Terminal) -> Option<Prompt> {
    None
}

/// Without `/proc` quiet has to be enough.
#[cfg(not(target_os = "linux"))]
fn answered(terminal: &Terminal) -> Answered {
    match terminal.has_input() {
        Some(false) if !terminal.input.is_queued() => Answered::IfQuiet,
        _ => Answered::No,
    }
}

#[cfg(not(target_os = "linux"))]
fn note(_: &Terminal) {}

/// Signals the foreground; `false` if that is not possible in this way.
pub(crate) fn signal(terminal: &Terminal, signal: Signal) -> bool {
    let Some(group) = terminal.foreground() else {
        return false;
    };
    let Some(signal) = rustix::process::Signal::from_named_raw(signal.number()) else {
        return false;
    };
    // An empty group's number may be a stranger's.
    #[cfg(target_os = "linux")]
    if !crate::linux::is_theirs(group, terminal.keeper) {
        return false;
    }
    rustix::process::kill_process_group(group, signal).is_ok()
}
