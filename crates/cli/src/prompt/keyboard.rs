//! The keyboard of this terminal.
//!
//! Start at [`KeyReader`]. While it is open, the terminal delivers single keys
//! without echo, and Ctrl-C is an ordinary key. Callers interpret the keys.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::process::{Signal as SignalNumber, getpgrp};
use rustix::termios::{self, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use termina::event::{KeyCode, KeyEvent, KeyEventKind, Modifiers};
use termina::{Event, Parser};
use tokio::signal::unix::{Signal, SignalKind, signal};
use windlass_process::TypedBytes;

/// The time limit that distinguishes Esc from a sequence.
const ESCAPE_TIME: Duration = Duration::from_millis(50);
/// Ctrl-C, as the terminal sends it.
const CTRL_C: u8 = 3;

/// A key, by its function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyPress {
    Char(char),
    /// Pasted text.
    Paste(String),
    Enter,
    Tab,
    Escape,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    WordLeft,
    WordRight,
    EraseWord,
    EraseBefore,
    EraseAfter,
    /// Alt-Enter or Ctrl-J: a line break within a text.
    LineBreak,
    /// Ctrl-O: expands or collapses the output of all calls.
    Unfold,
    /// Ctrl-G: opens the user's editor.
    Editor,
    /// Ctrl-R: searches the history for the text.
    Search,
    /// Ctrl-D.
    EndOfInput,
    /// Ctrl-C.
    Interrupt,
    /// The process continues in the foreground after a stop.
    Continued,
}

/// The keyboard of the terminal. Dropping this releases it.
pub(crate) struct KeyReader {
    input: TypedBytes,
    mode: Mode,
    typing: KeyParser,
    continued: Signal,
}

impl KeyReader {
    /// Opens the keyboard of the terminal on stdin.
    pub(crate) fn open() -> io::Result<Self> {
        let continued = signal(SignalKind::from_raw(SignalNumber::CONT.as_raw()))?;
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let mode = Mode::enter(input.as_fd(), Termios::key_by_key)?;
        Ok(Self {
            input: TypedBytes::new(input)?,
            mode,
            typing: KeyParser::default(),
            continued,
        })
    }

    /// [`KeyReader::open`], unless another program is in the foreground.
    pub(crate) fn open_in_foreground() -> Option<Self> {
        in_foreground(io::stdin()).then(Self::open)?.ok()
    }

    /// The next key; an error if there will be none. Cancel-safe.
    pub(crate) async fn next(&mut self) -> io::Result<KeyPress> {
        loop {
            if let Some(key) = self.typing.keys.pop_front() {
                return Ok(key);
            }
            tokio::select! {
                bytes = self.input.read() => self.typing.take(&bytes?),
                () = tokio::time::sleep(ESCAPE_TIME), if self.typing.at_escape => {
                    self.typing.complete_pending();
                }
                Some(()) = self.continued.recv() => {
                    if in_foreground(&self.input) {
                        self.mode.apply(&self.input)?;
                        return Ok(KeyPress::Continued);
                    }
                }
            }
        }
    }

    /// The raw typed bytes, for a program in the foreground. Keys that were
    /// read before are dropped.
    pub(crate) async fn bytes(&mut self) -> io::Result<Vec<u8>> {
        self.typing.keys.clear();
        self.input.read().await
    }

    /// Guard: switches to raw mode until it is dropped.
    pub(crate) fn raw(&self) -> io::Result<impl Drop + use<>> {
        Mode::enter(self.input.as_fd(), Termios::make_raw)
    }
}

/// Parses bytes into keys.
#[derive(Default)]
struct KeyParser {
    parser: Parser,
    /// Whether the last byte may be the key Esc.
    at_escape: bool,
    keys: VecDeque<KeyPress>,
}

impl KeyParser {
    fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == CTRL_C) {
            // Ctrl-C ends an incomplete sequence before it.
            if let Some(before) = part.strip_suffix(&[CTRL_C]) {
                self.parser.parse(before, false);
                self.collect();
                self.parser = Parser::default();
                self.keys.push_back(KeyPress::Interrupt);
            } else {
                self.parser.parse(part, true);
                self.collect();
            }
        }
        self.at_escape = bytes.ends_with(b"\x1b");
    }

    /// Completes a pending key.
    fn complete_pending(&mut self) {
        self.at_escape = false;
        self.parser.parse(&[], false);
        self.collect();
    }

    fn collect(&mut self) {
        while let Some(event) = self.parser.pop() {
            match event {
                Event::Key(event) if event.kind != KeyEventKind::Release => {
                    self.keys.extend(meaning(event));
                }
                Event::Paste(text) => self.keys.push_back(KeyPress::Paste(text)),
                _ => {}
            }
        }
    }
}

fn meaning(event: KeyEvent) -> Option<KeyPress> {
    let control = event.modifiers.contains(Modifiers::CONTROL);
    let alt = event.modifiers.contains(Modifiers::ALT);
    Some(match event.code {
        KeyCode::Char(letter) if control => match letter {
            'c' => KeyPress::Interrupt,
            'd' => KeyPress::EndOfInput,
            'j' => KeyPress::LineBreak,
            'm' => KeyPress::Enter,
            'o' => KeyPress::Unfold,
            'g' => KeyPress::Editor,
            'r' => KeyPress::Search,
            'h' => KeyPress::Backspace,
            'a' => KeyPress::Home,
            'e' => KeyPress::End,
            'b' => KeyPress::Left,
            'f' => KeyPress::Right,
            'p' => KeyPress::Up,
            'n' => KeyPress::Down,
            'w' => KeyPress::EraseWord,
            'u' => KeyPress::EraseBefore,
            'k' => KeyPress::EraseAfter,
            _ => return None,
        },
        KeyCode::Char('b') if alt => KeyPress::WordLeft,
        KeyCode::Char('f') if alt => KeyPress::WordRight,
        KeyCode::Char(_) if alt => return None,
        KeyCode::Char(letter) => KeyPress::Char(letter),
        KeyCode::Left if control || alt => KeyPress::WordLeft,
        KeyCode::Right if control || alt => KeyPress::WordRight,
        KeyCode::Backspace if control || alt => KeyPress::EraseWord,
        KeyCode::Enter if alt => KeyPress::LineBreak,
        KeyCode::Enter => KeyPress::Enter,
        KeyCode::Tab => KeyPress::Tab,
        KeyCode::Escape => KeyPress::Escape,
        KeyCode::Backspace => KeyPress::Backspace,
        KeyCode::Delete => KeyPress::Delete,
        KeyCode::Left => KeyPress::Left,
        KeyCode::Right => KeyPress::Right,
        KeyCode::Up => KeyPress::Up,
        KeyCode::Down => KeyPress::Down,
        KeyCode::Home => KeyPress::Home,
        KeyCode::End => KeyPress::End,
        _ => return None,
    })
}

/// Whether this process is in the foreground of the terminal.
fn in_foreground(terminal: impl AsFd) -> bool {
    termios::tcgetpgrp(terminal).map_or(true, |group| group == getpgrp())
}

/// The mode of a terminal. Dropping it restores the previous mode.
struct Mode {
    terminal: OwnedFd,
    before: Termios,
    now: Termios,
}

impl Mode {
    fn enter(terminal: BorrowedFd<'_>, change: impl FnOnce(&mut Termios)) -> io::Result<Self> {
        let before = termios::tcgetattr(terminal)?;
        let mut now = before.clone();
        change(&mut now);
        let mode = Self {
            terminal: terminal.try_clone_to_owned()?,
            before,
            now,
        };
        mode.apply(terminal)?;
        Ok(mode)
    }

    fn apply(&self, terminal: impl AsFd) -> io::Result<()> {
        // Keeps type-ahead.
        Ok(termios::tcsetattr(
            terminal,
            OptionalActions::Now,
            &self.now,
        )?)
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        // Another process in the foreground has set its own mode.
        if in_foreground(&self.terminal) {
            let _ = termios::tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
        }
    }
}

trait KeyByKey {
    fn key_by_key(&mut self);
}

impl KeyByKey for Termios {
    /// Disables line mode and echo, and makes Ctrl-C a key; Ctrl-Z still stops.
    fn key_by_key(&mut self) {
        self.local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        self.input_modes
            .remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IXON);
        self.special_codes[SpecialCodeIndex::VINTR] = DISABLED;
        self.special_codes[SpecialCodeIndex::VMIN] = 1;
        self.special_codes[SpecialCodeIndex::VTIME] = 0;
    }
}

/// `_POSIX_VDISABLE`: disables a special character.
const DISABLED: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

#[cfg(test)]
#[path = "keyboard_tests.rs"]
mod tests;
