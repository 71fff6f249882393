//! A program that prints 100 MB on a terminal, compared with the same program
//! and a reader that discards everything. Windlass keeps the screen up to date
//! meanwhile.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_output::Screen;
use windlass_process::{Command, Launcher, TerminalSize};
use windlass_runtime::Session;

use super::bare_terminal::BareTerminal;
use super::fixture::{Fixture, call, launcher};
use super::flood::write_text;
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};

/// The file's last line, which is on the screen at the end.
const LAST: &str = "nothing follows";

/// The maximum number of bytes per read of a terminal.
const PER_READ: usize = 4095;

pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    let launcher = launcher();
    let path = fixture.folder().join("text");
    let megabytes = pace.pick(100, 10);
    let size = write_text(&path, megabytes as u64 * 1_000_000);
    let command = format!("cat '{}'; echo '{LAST}'", path.display());
    let mut floor = Samples::default();
    let mut kept = Samples::default();
    let mut fed = Samples::default();
    let mut drawn = Samples::default();
    let text = std::fs::read_to_string(&path).expect("it was written");
    // The text as a terminal outputs it.
    let text = text.replace('\n', "\r\n");
    // Once before, to load the file and us into memory.
    draw(&session, &command).await;
    for _ in 0..pace.pick(7, 3) {
        let start = Instant::now();
        let discarded = BareTerminal::start(&command).discard();
        floor.push(rate(size, start.elapsed()));
        assert!(discarded > size, "all of it, and each line's end is longer");
        fixture.free_pages(size);
        let start = Instant::now();
        keep(&launcher, &path).await;
        kept.push(rate(size, start.elapsed()));
        let start = Instant::now();
        feed(&text);
        fed.push(rate(size, start.elapsed()));
        fixture.free_pages(size);
        let start = Instant::now();
        draw(&session, &command).await;
        drawn.push(rate(size, start.elapsed()));
    }
    session.close().await;
    let floor = Quantity::of(&floor, Unit::MegabytesPerSecond);
    let line = |what, samples, goal| Line {
        what,
        measured: Quantity::of(samples, Unit::MegabytesPerSecond),
        floor: Some(floor),
        goal,
    };
    vec![
        line(
            format!("{megabytes} MB through a terminal of process, no screen"),
            &kept,
            Goal::Nothing,
        ),
        line(
            "… the screen alone, fed from memory".to_owned(),
            &fed,
            Goal::Nothing,
        ),
        line(
            "… with the screen kept up to date, against discarding".to_owned(),
            &drawn,
            Goal::TimesAtLeast(0.8),
        ),
    ]
}

async fn draw(session: &Session, command: &str) {
    let arguments = json!({"command": command, "terminal": true});
    let answer = call(session, "shell", arguments).await.to_text();
    // At most one line follows the last line of the text.
    let is_last = answer.lines().rev().take(2).any(|line| line == LAST);
    assert!(is_last, "the end is on it");
}

async fn keep(launcher: &Launcher, path: &Path) {
    let command = Command::new("/bin/cat")
        .arg(path)
        .terminal(TerminalSize::default());
    let process = launcher.start(command).await.expect("it starts");
    assert!(process.wait().await.success());
}

/// Feeds the text to a screen, in pieces as a terminal outputs them.
fn feed(text: &str) {
    let TerminalSize { rows, cols } = TerminalSize::default();
    let mut screen = Screen::new(rows, cols);
    for piece in text.as_bytes().chunks(PER_READ) {
        screen.feed(piece);
    }
    assert!(
        screen.rows().iter().any(|row| !row.is_empty()),
        "it is drawn"
    );
}

/// Megabytes per second.
#[expect(clippy::cast_precision_loss, reason = "it is about a hundred million")]
fn rate(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}
