//! Detects that the program of a terminal waits for input, and settles on that.
//!
//! Start at [`settle`]. A prompt is not recognised by its text or by silence: a
//! process of the terminal's foreground is blocked reading it, no other
//! foreground process runs, and all input has been read.
//! `docs/design/settling.md` explains the method. Where the system does not
//! show the state of processes, silence must suffice.

use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use crate::linux::{Foreground, Waits, foreground};
use crate::pause::Pause;
use crate::process::ProcessShared;
use crate::settle::{QUIET, quiet_since};
use crate::{Prompt, Signal, Terminal, tree};

/// The delay before a program that was not at a prompt is examined again:
/// initial and maximum.
const LOOK: (Duration, Duration) = (Duration::from_micros(300), Duration::from_millis(10));
/// After its time is over, a program is examined at intervals of this fraction
/// of its silence…
const PATIENCE: u32 = 50;
/// … but at least this often.
const SELDOM: Duration = Duration::from_millis(500);
/// A program that writes continuously is examined this much later each time…
const BUSIER: Duration = Duration::from_micros(100);
/// … up to this delay.
const BUSIEST: Duration = Duration::from_millis(5);
/// The interval between examinations is at least this multiple of their
/// duration.
const SHARE: u32 = 4;

/// Whether the program has printed its output and gone quiet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quiescence {
    No,
    /// Only if it stays quiet: it also waits for other things, or they are not
    /// visible.
    IfQuiet,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only `/proc` tells it for certain")
    )]
    Yes,
}

/// Waits until the program has exited or is at a prompt with all its output
/// read, at most for `max`.
pub(crate) async fn settle(shared: &ProcessShared, terminal: &Terminal, max: Duration) {
    let deadline = Instant::now().checked_add(max);
    if !look_until(shared, deadline, || has_answered(shared, terminal)).await {
        note(terminal);
    }
}

/// Waits for a matching prompt, with all earlier output read; `None` if the
/// program has exited.
pub(crate) async fn prompted(
    shared: &ProcessShared,
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

/// Examines the program after every possible change until `done` or the exit;
/// `false` on a timeout.
async fn look_until(
    shared: &ProcessShared,
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
        // It wrote something, and may be about to wait. A program that writes continuously is examined less often.
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

fn has_answered(shared: &ProcessShared, terminal: &Terminal) -> bool {
    let typed = terminal.input.written();
    let has = match answered(terminal) {
        Quiescence::Yes => terminal.all_read(),
        Quiescence::IfQuiet => {
            quiet_since(shared).elapsed() >= QUIET && tree::asleep(shared) && terminal.all_read()
        }
        Quiescence::No => false,
    };
    has && is_last(terminal, typed)
}

/// Whether nothing was typed since. The terminal may have answered a query
/// meanwhile, which is new input.
fn is_last(terminal: &Terminal, typed: Option<Instant>) -> bool {
    terminal.input.written() == typed
}

/// The kind of prompt, if the program is at one with all its output read.
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
        // A process that is not visible may wait for something other than a line.
        (true, true) if waits == Waits::Unseen => return None,
        _ => Prompt::Input,
    };
    // The order matters: output written before it was seen blocked has been read by now, or there is more to read.
    (terminal.all_read() && is_last(terminal, typed)).then_some(prompt)
}

#[cfg(target_os = "linux")]
fn answered(terminal: &Terminal) -> Quiescence {
    let Some(Foreground {
        reader,
        naps,
        brief,
    }) = look(terminal)
    else {
        return Quiescence::No;
    };
    match reader {
        None => Quiescence::No,
        // It waits only briefly: for a reply of the terminal, or for the rest of a key. Its next wait decides.
        Some(_) if !terminal.waits_in_turns(&brief) => Quiescence::No,
        // A process that has slept since before the last input is not handling that input. One that has run since may
        // be.
        Some(_) if !terminal.slept_through(&naps) => Quiescence::No,
        Some(Waits::Terminal) => Quiescence::Yes,
        Some(Waits::AmongOthers | Waits::Unseen) => Quiescence::IfQuiet,
    }
}

/// Examines the foreground of a terminal; `None` if a process in it runs or has
/// unread input.
#[cfg(target_os = "linux")]
fn look(terminal: &Terminal) -> Option<Foreground> {
    // The order matters: a process that is blocked after all input was consumed has read all of it, or had no reason
    // to.
    if terminal.input.is_queued() || terminal.has_input()? {
        return None;
    }
    foreground(terminal.foreground()?, terminal.keeper, terminal.device())
}

/// Records the current state, so that later changes can be recognised.
#[cfg(target_os = "linux")]
fn note(terminal: &Terminal) {
    terminal.note_naps(look(terminal).map_or_else(Vec::new, |foreground| foreground.naps));
}

/// Always unknown without `/proc`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prompt(_: &Terminal) -> Option<Prompt> {
    None
}

/// Silence must suffice without `/proc`.
#[cfg(not(target_os = "linux"))]
fn answered(terminal: &Terminal) -> Quiescence {
    match terminal.has_input() {
        Some(false) if !terminal.input.is_queued() => Quiescence::IfQuiet,
        _ => Quiescence::No,
    }
}

#[cfg(not(target_os = "linux"))]
fn note(_: &Terminal) {}

/// Signals the foreground; `false` if that is not possible.
pub(crate) fn signal(terminal: &Terminal, signal: Signal) -> bool {
    let Some(group) = terminal.foreground() else {
        return false;
    };
    let Some(signal) = rustix::process::Signal::from_named_raw(signal.number()) else {
        return false;
    };
    // The id of an empty group may have been reused.
    #[cfg(target_os = "linux")]
    if !crate::linux::is_theirs(group, terminal.keeper) {
        return false;
    }
    rustix::process::kill_process_group(group, signal).is_ok()
}
