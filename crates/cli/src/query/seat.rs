//! The user at the terminal: their keyboard, and the message being written.

use tokio::sync::mpsc;

use crate::chat::composer::Composer;
use crate::prompt::{Askable, KeyPress, KeyReader, NoAnswer};

/// The user at the terminal.
pub(crate) struct TerminalSeat {
    /// Their keyboard. If `None`, it is opened for each prompt.
    pub(crate) keyboard: Option<KeyReader>,
    /// Receives each Ctrl-C.
    pub(crate) interrupts: mpsc::UnboundedSender<()>,
    /// The next message, in a chat.
    pub(crate) writing: Option<MessageEditor>,
}

/// A message being written, and its destination.
pub(crate) struct MessageEditor {
    pub(crate) composer: Composer,
    pub(crate) messages: mpsc::UnboundedSender<Message>,
}

/// A user's input in a chat.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Say(String),
    Leave,
}

impl TerminalSeat {
    /// The next key; pending forever without a keyboard.
    pub(super) async fn next(&mut self) -> KeyPress {
        let key = match &mut self.keyboard {
            Some(keyboard) => keyboard.next().await,
            None => std::future::pending().await,
        };
        match key {
            Ok(key) => key,
            // The terminal is gone.
            Err(_) => std::future::pending().await,
        }
    }

    pub(super) fn interrupt(&self) {
        // Fails only after the end of the turn.
        let _ = self.interrupts.send(());
    }

    /// Asks. Ctrl-C goes to the turn, which then removes the prompt.
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
