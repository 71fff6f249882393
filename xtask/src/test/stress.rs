//! `cargo xtask stress`: runs tests many times, on request beside other load.
//!
//! A test that waits for a condition passes however slow the machine is; one that waits for a while fails here first.

use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail, ensure};

use crate::test::pool::{TestResult, Verdict};
use crate::test::{PreparedTests, Tally, TestOptions};

const USAGE: &str = "\
`stress` takes

  --times N            run the tests N times; default: 10
  --load               run them beside two busy loops and a writer of the disk
  and the arguments of `test`";

/// The size of the file that is written again and again.
const FILE: usize = 64 << 20;

/// How often the tests run, and beside what.
#[derive(Debug, PartialEq, Eq)]
struct StressOptions {
    times: usize,
    load: bool,
    tests: TestOptions,
}

/// Runs the selected tests again and again, and names those that failed at least once.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let options = StressOptions::read(arguments)?;
    let tests = PreparedTests::prepare(options.tests.packages())?;
    let _load = options.load.then(Load::start).transpose()?;
    let mut tally = Tally::default();
    let mut failures: BTreeMap<String, usize> = BTreeMap::new();
    for round in 1..=options.times {
        println!("\n== round {round} of {}", options.times);
        for result in tests.run_rust_tests(&options.tests, &[])? {
            tally.add(&result);
            if let TestResult {
                test,
                verdict: Verdict::Failed(_),
                ..
            } = result
            {
                *failures.entry(test).or_default() += 1;
            }
        }
    }
    println!();
    for (test, count) in &failures {
        println!("failed {count} of {} times: {test}", options.times);
    }
    println!("{tally}");
    ensure!(tally.ran(), "no test was run");
    ensure!(failures.is_empty(), "not all tests passed each time");
    Ok(())
}

impl StressOptions {
    fn read(arguments: &[String]) -> anyhow::Result<Self> {
        let (mut times, mut load, mut others) = (10, false, Vec::new());
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--load" => load = true,
                "--times" => {
                    let value = rest.next().map_or("", String::as_str);
                    let number = value.parse().ok().filter(|times| *times > 0);
                    times = number.with_context(|| {
                        format!("`{value}` is not a number of times\n\n{USAGE}")
                    })?;
                }
                "--help" => bail!("{USAGE}"),
                other => others.push(other.to_owned()),
            }
        }
        Ok(Self {
            times,
            load,
            tests: TestOptions::read(&others)?,
        })
    }
}

/// Busy threads; they end when this is dropped.
struct Load(&'static AtomicBool);

impl Load {
    fn start() -> anyhow::Result<Self> {
        let ended: &AtomicBool = Box::leak(Box::default());
        for _ in 0..2 {
            std::thread::spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let mut file = tempfile::tempfile().context("cannot create a file to write")?;
        let content = vec![1; FILE];
        std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                // A full disk fails the tests already.
                let _ = file.write_all(&content).and_then(|()| file.sync_all());
                let _ = file.seek(SeekFrom::Start(0));
            }
        });
        Ok(Self(ended))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> anyhow::Result<StressOptions> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        StressOptions::read(&words)
    }

    #[test]
    fn other_arguments_are_those_of_test() {
        let options = read("sweep:: --times 3 --load --jobs 2").unwrap();
        assert_eq!((options.times, options.load), (3, true));
        let words = ["sweep::", "--jobs", "2"].map(str::to_owned);
        assert_eq!(options.tests, TestOptions::read(&words).unwrap());
    }

    #[test]
    fn a_wrong_number_is_refused() {
        for words in ["--times", "--times 0", "--times few"] {
            let error = read(words).unwrap_err().to_string();
            assert!(error.contains("--times N"), "{error}");
        }
    }
}
