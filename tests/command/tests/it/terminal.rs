//! A terminal as a person has one, and a program on it.
//!
//! The screen is Alacritty's and not our own: a fault of ours must not hide
//! itself.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::sync::watch;

/// The size of a terminal in cells.
#[derive(Clone, Copy)]
pub(crate) struct TerminalSize {
    pub(crate) rows: u16,
    pub(crate) cols: u16,
}

/// A terminal with a program on it. Dropped, it kills the program.
pub(crate) struct Terminal {
    pid: Pid,
    keyboard: File,
    screen: Arc<Mutex<Term<Replies>>>,
    state: watch::Receiver<TerminalState>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TerminalState {
    /// So many times was something printed.
    Open(u64),
    /// The program has ended, and everything that was printed is on the screen.
    Ended(Option<i32>),
}

/// Gives a program the terminal's replies to its queries.
struct Replies(File);

impl EventListener for Replies {
    fn send_event(&self, event: Event) {
        if let Event::PtyWrite(text) = event {
            // A program that has ended reads none.
            let _ = (&self.0).write_all(text.as_bytes());
        }
    }
}

impl Dimensions for TerminalSize {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        self.rows.into()
    }

    fn columns(&self) -> usize {
        self.cols.into()
    }
}

impl Terminal {
    /// Starts a command on a terminal of its own, which it controls.
    pub(crate) fn start(command: &Command, size: TerminalSize) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let master = File::from(master.unwrap());
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        set_size(&master, size);
        let child = spawn(command, &master);
        let pid = Pid::from_child(&child);
        let replies = Replies(master.try_clone().unwrap());
        let screen = Term::new(Config::default(), &size, replies);
        let screen = Arc::new(Mutex::new(screen));
        let (sender, state) = watch::channel(TerminalState::Open(0));
        let (printed, drawn) = (master.try_clone().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            draw(printed, &drawn, &sender);
            sender.send_replace(TerminalState::Ended(wait(child)));
        });
        Self {
            pid,
            keyboard: master,
            screen,
            state,
        }
    }

    /// The text on the screen, without what is empty at the ends.
    pub(crate) fn rows(&self) -> String {
        let screen = self.screen.lock().unwrap();
        let grid = screen.grid();
        let row = |row: usize| {
            let row = &grid[Line(i32::try_from(row).unwrap())];
            let cells = (0..grid.columns()).map(|column| &row[Column(column)]);
            let shown = cells.filter(|cell| !cell.flags.contains(Flags::WIDE_CHAR_SPACER));
            let text = shown.flat_map(|cell| {
                let more = cell.zerowidth().unwrap_or_default();
                std::iter::once(cell.c).chain(more.iter().copied())
            });
            text.collect::<String>().trim_end().to_owned()
        };
        let rows: Vec<String> = (0..grid.screen_lines()).map(row).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Resolves when the screen looks as wanted.
    pub(crate) async fn until(&self, wanted: impl Fn(&str) -> bool) -> String {
        let mut state = self.state.clone();
        loop {
            state.borrow_and_update();
            let rows = self.rows();
            if wanted(&rows) {
                return rows;
            }
            if state.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Types.
    pub(crate) fn write(&self, bytes: &[u8]) {
        (&self.keyboard).write_all(bytes).unwrap();
    }

    /// Changes the size, as a person does who pulls at the window.
    pub(crate) fn resize(&self, size: TerminalSize) {
        self.screen.lock().unwrap().resize(size);
        set_size(&self.keyboard, size);
    }

    /// Resolves with the program's exit code.
    pub(crate) async fn ended(&self) -> Option<i32> {
        let mut state = self.state.clone();
        let is_over = |state: &TerminalState| matches!(state, TerminalState::Ended(_));
        match *state.wait_for(is_over).await.unwrap() {
            TerminalState::Ended(code) => code,
            TerminalState::Open(_) => unreachable!("it was waited for"),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if matches!(*self.state.borrow(), TerminalState::Open(_)) {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

fn set_size(master: &File, size: TerminalSize) {
    let size = Winsize {
        ws_row: size.rows,
        ws_col: size.cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(master, size).unwrap();
}

/// Starts the command as the first process of a session whose terminal this is.
fn spawn(command: &Command, master: &File) -> Child {
    let path = ptsname(master, Vec::new()).unwrap();
    let slave = rustix::fs::open(
        path.as_c_str(),
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let slave = slave.unwrap();
    let again = || -> OwnedFd { slave.try_clone().unwrap() };
    let mut session = Command::new("setsid");
    session
        .arg("--ctty")
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .env("TERM", "xterm-256color")
        .stdin(again())
        .stdout(again())
        .stderr(again());
    for (name, value) in command.get_envs() {
        session.env(name, value.unwrap_or_default());
    }
    if let Some(folder) = command.get_current_dir() {
        session.current_dir(folder);
    }
    session.spawn().unwrap()
}

/// Puts everything that is printed on the screen, until nobody can print any
/// more.
fn draw(mut printed: File, screen: &Mutex<Term<Replies>>, state: &watch::Sender<TerminalState>) {
    let mut parser: Processor = Processor::new();
    let mut bytes = [0; 4096];
    let mut times = 0;
    // An error says that the other side is closed.
    while let Ok(count @ 1..) = printed.read(&mut bytes) {
        parser.advance(&mut *screen.lock().unwrap(), &bytes[..count]);
        times += 1;
        state.send_replace(TerminalState::Open(times));
    }
}

fn wait(mut child: Child) -> Option<i32> {
    child.wait().unwrap().code()
}
