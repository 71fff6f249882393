//! A tool that prints 200 MB, compared with the same program and a reader that only counts; and the growth of our
//! memory.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde_json::json;
use windlass_runtime::Session;

use super::fixture::{Fixture, call};
use super::plan::Pace;
use super::samples::Samples;
use super::table::{Goal, Line, Quantity, Unit};
use super::{bare, proc};

/// The maximum growth of the peak, in KiB: the stored output of one handle, buffers and the reply, with a margin, but
/// far less than the output.
const FLAT: f64 = 4096.0;
/// The maximum growth while both ends are digested: two MiB of text, and the data about each line.
const FLAT_DIGESTED: f64 = 24_576.0;

pub(super) async fn measure(pace: Pace) -> Vec<Line> {
    let fixture = Fixture::new().await;
    let session = fixture.session();
    let path = fixture.folder().join("text");
    let megabytes = pace.pick(200, 20);
    let size = write_text(&path, megabytes as u64 * 1_000_000);
    let (mut floor, mut printed) = (Samples::default(), Samples::default());
    // Once before, to load the file and us into memory.
    print(&session, &path).await;
    let before = proc::resident();
    proc::forget_peak();
    for _ in 0..pace.pick(9, 3) {
        let start = Instant::now();
        assert_eq!(bare::count(&path), size);
        floor.push_time(start.elapsed());
        fixture.free_pages(size);
        let start = Instant::now();
        print(&session, &path).await;
        printed.push_time(start.elapsed());
    }
    let grown = (proc::peak() - before).max(0.0);
    let (mut again, mut digested) = (Samples::default(), Samples::default());
    proc::forget_peak();
    for _ in 0..pace.pick(9, 3) {
        fixture.free_pages(size);
        let start = Instant::now();
        print(&session, &path).await;
        again.push_time(start.elapsed());
        fixture.free_pages(size);
        let start = Instant::now();
        digest(&session, &path).await;
        digested.push_time(start.elapsed());
    }
    let grown_digested = (proc::peak() - before).max(0.0);
    session.close().await;
    vec![
        Line {
            what: format!("a tool that prints {megabytes} MB, against counting"),
            measured: Quantity::of(&printed, Unit::Millis),
            floor: Some(Quantity::of(&floor, Unit::Millis)),
            goal: Goal::Times(1.5),
        },
        Line {
            what: "… growth of our peak memory meanwhile".to_owned(),
            measured: Quantity::once(grown, Unit::KiB),
            floor: None,
            goal: Goal::AtMost(FLAT),
        },
        Line {
            what: "… shown as a digest, against without".to_owned(),
            measured: Quantity::of(&digested, Unit::Millis),
            floor: Some(Quantity::of(&again, Unit::Millis)),
            goal: Goal::Times(1.5),
        },
        Line {
            what: "… growth of our peak memory meanwhile".to_owned(),
            measured: Quantity::once(grown_digested, Unit::KiB),
            floor: None,
            goal: Goal::AtMost(FLAT_DIGESTED),
        },
    ]
}

async fn print(session: &Session, path: &Path) {
    let answer = call(session, "print", json!({ "path": path })).await;
    assert!(answer.to_text().contains("all of it: "), "it was logged");
}

/// Prints the file by a tool whose long output is digested.
async fn digest(session: &Session, path: &Path) {
    let command = format!("cat {}", path.display());
    let answer = call(session, "shell", json!({ "command": command })).await;
    assert!(answer.to_text().contains("lines: "), "it was digested");
}

/// Writes lines of about eighty characters; returns the number of bytes.
pub(super) fn write_text(path: &Path, at_least: u64) -> u64 {
    let file = std::fs::File::create(path).expect("a file can be made");
    let mut file = std::io::BufWriter::new(file);
    let mut written = 0;
    for number in 0.. {
        let line = format!(
            "{number:08} a line of a log that a build writes, of about eighty characters or so\n"
        );
        file.write_all(line.as_bytes()).expect("there is room");
        written += line.len() as u64;
        if written >= at_least {
            break;
        }
    }
    file.flush().expect("there is room");
    written
}
