//! The person at the terminal: their keyboard, and the message that they write.

use tokio::sync::mpsc;

use crate::chat::composer::Composer;
use crate::prompt::{Askable, KeyPress, KeyReader, NoAnswer};

/// The person at the terminal.
pub(crate) struct TerminalSeat {
    /// Their keyboard. Without it, the terminal's is taken when something is asked.
    pub(crate) keyboard: Option<KeyReader>,
    /// Where each Ctrl-C goes.
    pub(crate) interrupts: mpsc::UnboundedSender<()>,
    /// The next message, in a chat.
    pub(crate) writing: Option<MessageEditor>,
}

/// A message that is being written, and where it goes.
pub(crate) struct MessageEditor {
    pub(crate) composer: Composer,
    pub(crate) messages: mpsc::UnboundedSender<Message>,
}

/// Something that a person at a chat wants.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Say(String),
    Leave,
}

impl TerminalSeat {
    /// The next key; never, where there is no keyboard.
    pub(super) async fn next(&mut self) -> KeyPress {
        let key = match &mut self.keyboard {
            Some(keyboard) => keyboard.next().await,
            None => std::future::pending().await,
        };
        match key {
            Ok(key) => key,
            // Its terminal has gone.
            Err(_) => std::future::pending().await,
        }
    }

    pub(super) fn interrupt(&self) {
        // The turn is over when nobody hears it.
        let _ = self.interrupts.send(());
    }

    /// Asks. Ctrl-C is the turn's to decide on, which then takes this away.
    pub(super) async fn ask<A: Askable>(&mut self, asking: &A) -> Option<A::Answer> {
        let mut own;
        let keyboard = if let Some(keyboard) = &mut self.keyboard {
            keyboard
        } else {
            own = KeyReader::open().ok()?;
            &mut own
        };
        match asking.ask(keyboard).await {
            Ok(answer) => Some(answer),
            Err(NoAnswer::Declined | NoAnswer::NoTerminal) => None,
            Err(NoAnswer::Interrupted) => {
                self.interrupt();
                std::future::pending().await
            }
        }
    }
}
