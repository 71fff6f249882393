//! Digests a rendered text: `digest TEXT [TIMES]`, TIMES with the milliseconds of
//! arrival of each line. The digest goes to standard output.

use std::fs::read_to_string;
use std::io::Write as _;
use std::time::{Duration, Instant};

use windlass_digest::{DigestSettings, Digester};

fn main() -> std::io::Result<()> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let text = read_to_string(paths.first().expect("the path of a text"))?;
    let times = match paths.get(1) {
        Some(path) => read_to_string(path)?,
        None => String::new(),
    };
    let mut times = times.lines().map(|line| line.trim().parse().unwrap_or(0));
    let start = Instant::now();
    let mut digester = Digester::default();
    for line in text.lines() {
        digester.push(line, Duration::from_millis(times.next().unwrap_or(0)));
    }
    let outcome = digester.digest(DigestSettings {
        from: 2 << 10,
        limit: 32 << 10,
    });
    let digest = outcome.text();
    let took = start.elapsed();
    std::io::stdout().write_all(digest.as_bytes())?;
    let state = if outcome.is_whole() {
        "whole"
    } else {
        "digest"
    };
    writeln!(
        std::io::stderr(),
        "{state}: {} -> {} bytes in {took:?}",
        text.len(),
        digest.len()
    )
}
