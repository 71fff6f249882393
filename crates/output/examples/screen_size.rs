//! How much memory screens take and how fast they draw: `cargo run --release --example screen_size`.
//!
//! Prints the resident memory of a thousand screens that wait at a prompt, as a shell's do, and of the same after each
//! has scrolled and was resized; then the speed of drawing plain and coloured lines, with their collection.

use std::time::Instant;

use windlass_output::{Screen, ScreenReader, ScreenView};

const COUNT: usize = 1000;

fn main() {
    let before = resident_kib();
    let mut screens: Vec<(Screen, ScreenReader)> = (0..COUNT)
        .map(|_| (Screen::new(24, 80), ScreenReader::default()))
        .collect();
    each(&mut screens, b"\x1b[?2004huser@host:~$ ");
    report("at a prompt", before);
    each(&mut screens, &b"a line of output\r\n".repeat(100));
    report("after a hundred lines", before);
    each(&mut screens, b"\x1b[?1049h\x1b[2J\x1b[Hfull\x1b[?1049l");
    for (screen, _) in &mut screens {
        screen.resize(30, 100);
        screen.resize(24, 80);
    }
    each(&mut screens, &b"a line of output\r\n".repeat(100));
    report("after full screen and resizes", before);
    drop(screens);
    let noise: Vec<u8> = (0..32_768_u32)
        .map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()[1])
        .collect();
    speed("noise", &noise);
    speed(
        "plain",
        b"a line of about eighty characters, as programs that build other programs write\r\n",
    );
    speed("coloured", b"\x1b[32m+\x1b[m\x1b[32madded line\x1b[m \x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m\r\n");
}

fn each(screens: &mut [(Screen, ScreenReader)], bytes: &[u8]) {
    for (screen, reader) in screens {
        screen.feed(bytes);
        screen.read(reader, ScreenView::New, 32 * 1024);
    }
}

#[expect(
    clippy::print_stdout,
    reason = "an example's way to say what it measured"
)]
fn report(what: &str, before: usize) {
    println!("{what}: {} KiB each", (resident_kib() - before) / COUNT);
}

#[expect(
    clippy::print_stdout,
    reason = "an example's way to say what it measured"
)]
fn speed(what: &str, line: &[u8]) {
    let bytes = line.repeat(32 * 1024 / line.len());
    let mut screen = Screen::new(24, 80);
    let start = Instant::now();
    for _ in 0..2000 {
        screen.feed(&bytes);
    }
    let megabytes = (bytes.len() * 2000 / 1_000_000) as u64;
    let millis = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    println!("{what}: {} MB/s", megabytes * 1000 / millis.max(1));
}

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok())
        .unwrap_or(0)
}
