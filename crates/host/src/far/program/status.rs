//! Reports prompts of a program's terminal to the near side.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use windlass_hold_wire::{FarFrame, LinkPrompt, LinkReader, ProgramStatus};
use windlass_process::{InputReader, ProgramTerminal, Prompt};

use super::FarProgram;

/// The polling interval of a terminal at a prompt: initial and maximum.
const LOOK: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));
/// The maximum number of readers in a report, and of the bytes of their names and arguments. Beyond that, none is
/// reported, so that the near side takes the reader for a shell: an incomplete list could hide one.
const READERS: usize = 64;
const READER_BYTES: usize = 64 * 1024;
/// The length of a word in a frame, without its bytes.
const WORD: usize = 4;

impl FarProgram {
    /// Reports each prompt of the terminal once, with the processes that may read its input.
    pub(super) async fn tell_prompts(self: Arc<Self>) {
        let mut changes = self.process.output().changes();
        let mut settling = self.settling.subscribe();
        loop {
            changes.borrow_and_update();
            let ordered = self.ordered.notified();
            // The sender lives as long as this program.
            let _ = settling.wait_for(|count| *count == 0).await;
            if self.process.prompted(|_| true).await.is_none() {
                return;
            }
            let mut ordered = std::pin::pin!(ordered);
            let mut step = LOOK.0;
            // The program may start to wait for something else without any output.
            loop {
                if *settling.borrow() == 0
                    && let Some(status) = self.look()
                {
                    self.tell_status(status);
                }
                tokio::select! {
                    _ = changes.changed() => break,
                    () = &mut ordered => break,
                    () = tokio::time::sleep(step) => step = (step * 2).min(LOOK.1),
                }
            }
        }
    }

    /// Whether the terminal is in line mode without echo.
    pub(super) fn hides_typing(&self) -> bool {
        let modes = self.process.terminal().map(ProgramTerminal::modes);
        modes.is_some_and(|modes| modes.canonical && !modes.echo)
    }

    /// Reports the modes of the terminal, if they have changed since the last report.
    pub(super) fn tell_modes(&self) {
        let Some(modes) = self.process.terminal().map(ProgramTerminal::modes) else {
            return;
        };
        let told = self.told.lock().as_ref().map(|it| (it.canonical, it.echo));
        // The near side knows the initial modes of a terminal.
        if told.unwrap_or((true, true)) != (modes.canonical, modes.echo) {
            self.tell_status(ProgramStatus {
                offset: self.process.output().position(),
                orders: self.orders.load(Ordering::Acquire),
                prompt: None,
                canonical: modes.canonical,
                echo: modes.echo,
                readers: None,
            });
        }
    }

    /// Reports a status, unless it equals the last reported one.
    pub(super) fn tell_status(&self, status: ProgramStatus) {
        let mut told = self.told.lock();
        if told.as_ref() == Some(&status) {
            return;
        }
        *told = Some(status.clone());
        self.send(&FarFrame::Status {
            program: self.number,
            status,
        });
    }

    /// The state of the terminal, if the program is at a prompt and nothing changed during the check.
    pub(super) fn look(&self) -> Option<ProgramStatus> {
        let terminal = self.process.terminal()?;
        let orders = self.orders.load(Ordering::Acquire);
        let offset = self.process.output().position();
        let prompt = terminal.prompt()?;
        let modes = terminal.modes();
        let readers = self.process.listeners().and_then(link_readers);
        let is_same = self.orders.load(Ordering::Acquire) == orders
            && self.process.output().position() == offset;
        is_same.then_some(ProgramStatus {
            offset,
            orders,
            prompt: Some(match prompt {
                Prompt::Input => LinkPrompt::Input,
                Prompt::Secret => LinkPrompt::Secret,
            }),
            canonical: modes.canonical,
            echo: modes.echo,
            readers,
        })
    }
}

/// The readers of a report; `None` if there are too many, or if their arguments are too long.
fn link_readers(readers: Vec<InputReader>) -> Option<Vec<LinkReader>> {
    let words = |reader: &InputReader| -> usize {
        let words = reader.names.iter().chain(&reader.args);
        words.map(|word| WORD + word.len()).sum()
    };
    if readers.len() > READERS || readers.iter().map(words).sum::<usize>() > READER_BYTES {
        return None;
    }
    let readers = readers.into_iter().map(|reader| LinkReader {
        names: reader.names,
        args: reader.args,
        is_foreground: reader.is_foreground,
    });
    Some(readers.collect())
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
