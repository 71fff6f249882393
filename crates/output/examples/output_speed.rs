//! How fast output can be pushed, with and without a log.
//!
//! Run with `cargo run --release -p windlass-process --example output_speed`.

use std::time::{Duration, Instant};

use regex::Regex;
use windlass_output::{Cursor, Output, OutputOptions, Stream};

const TOTAL: usize = 1 << 30;

fn main() {
    let folder = std::env::temp_dir().join(format!("windlass-output-speed-{}", std::process::id()));
    let lines: Vec<u8> = (0..)
        .flat_map(|number| format!("{number:>8} a line of a program's output\n").into_bytes())
        .take(1 << 20)
        .collect();
    for size in [1 << 20, 64 << 10, 4 << 10, 64, 1] {
        // Small chunks are a question of calls, not of bytes.
        let total = TOTAL.min(size * 20_000_000);
        for log in [None, Some(folder.join("log"))] {
            let what = if log.is_some() { "with log" } else { "no log" };
            let output = Output::new(OutputOptions {
                log,
                ..OutputOptions::default()
            });
            report(size, what, total, push(&output, &lines, size, total));
        }
    }
    let output = Output::new(OutputOptions::default());
    let search = output.find(Regex::new("never [0-9]+ there").expect("it is valid"), 0);
    let total = TOTAL / 8;
    report(
        64 << 10,
        "searched",
        total,
        push(&output, &lines, 64 << 10, total),
    );
    drop(search);

    let output = Output::new(OutputOptions {
        log: Some(folder.join("log")),
        ..OutputOptions::default()
    });
    push(&output, &lines, 64 << 10, TOTAL);
    let start = Instant::now();
    let excerpt = output.read(&mut Cursor::default(), 32 << 10);
    println!(
        "read of {} MiB: {:?}, {} bytes of text",
        TOTAL >> 20,
        start.elapsed(),
        excerpt.text.len()
    );
    drop(output);
    // Only the folder is left; should it not be empty, it is worth a look.
    let _ = std::fs::remove_dir(&folder);
}

fn push(output: &Output, lines: &[u8], size: usize, total: usize) -> Duration {
    let start = Instant::now();
    let mut pushed = 0;
    'all: loop {
        for chunk in lines.chunks(size) {
            output.push(Stream::Stdout, chunk);
            pushed += chunk.len();
            if pushed >= total {
                break 'all;
            }
        }
    }
    output.finish();
    start.elapsed()
}

fn report(size: usize, what: &str, total: usize, time: Duration) {
    #[expect(clippy::cast_precision_loss, reason = "it is printed in whole MB")]
    let speed = total as f64 / 1e6 / time.as_secs_f64();
    println!("{size:>8} bytes a push, {what:<8}: {speed:>6.0} MB/s");
}
