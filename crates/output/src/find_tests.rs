use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use tokio::time::{Duration, timeout};

use super::super::{OutputOptions, Stream};
use super::*;

fn plain() -> Output {
    Output::new(OutputOptions::default())
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// The answer, if it is there already.
fn now(search: impl Future<Output = Option<String>>) -> Poll<Option<String>> {
    let mut search = std::pin::pin!(search);
    let mut context = Context::from_waker(std::task::Waker::noop());
    // What is scanned in the log is scanned a chunk for each poll.
    (0..10_000)
        .map(|_| search.as_mut().poll(&mut context))
        .find(Poll::is_ready)
        .unwrap_or(Poll::Pending)
}

fn found(line: &str) -> Poll<Option<String>> {
    Poll::Ready(Some(line.to_owned()))
}

#[test]
fn history_is_searched_from_the_mark() {
    let output = plain();
    output.push(Stream::Stdout, b"ready 1\n");
    let mark = output.position();
    output.push(Stream::Stdout, b"ready 2\nready 3\n");
    assert_eq!(now(output.find(pattern("ready"), 0)), found("ready 1"));
    assert_eq!(now(output.find(pattern("ready"), mark)), found("ready 2"));
    assert_eq!(now(output.find(pattern("^$"), 0)), Poll::Pending);
}

#[test]
fn what_comes_is_searched() {
    let output = plain();
    let search = output.find(pattern("listening on .*[0-9]$"), 0);
    output.push(Stream::Stderr, b"starting\nlist");
    output.push(Stream::Stderr, b"ening on \x1b[1m80\x1b[0m\nmore\n");
    assert_eq!(now(search), found("listening on 80"));
    assert_eq!(output.shared.state.lock().watchers.len(), 0);
}

#[test]
fn a_prompt_without_a_newline_is_found() {
    let output = plain();
    let search = output.find(pattern("> $"), 0);
    output.push(Stream::Stdout, b"mysql");
    output.push(Stream::Stdout, b"> ");
    assert_eq!(now(search), found("mysql> "));
    assert_eq!(now(output.find(pattern("> $"), 0)), found("mysql> "));
}

#[test]
fn an_empty_line_is_a_line() {
    let output = plain();
    let search = output.find(pattern("^$"), 0);
    output.push(Stream::Stdout, b"a");
    output.push(Stream::Stdout, b"\n\n");
    assert_eq!(now(search), found(""));
}

#[test]
fn every_form_of_a_redrawn_line_is_a_candidate() {
    let output = plain();
    let search = output.find(pattern("^50%$"), 0);
    output.push(Stream::Stdout, b"10%\r50%\r90%\r100%\n");
    assert_eq!(now(search), found("50%"));
    assert_eq!(now(output.find(pattern("^90%$"), 0)), found("90%"));
    output.push(Stream::Stdout, b"wait\x1b[2K\rdone\n");
    assert_eq!(now(output.find(pattern("wait"), 0)), found("wait"));
}

#[test]
fn finish_ends_a_search() {
    let output = plain();
    let search = output.find(pattern("x"), 0);
    let prompt = output.find(pattern("\u{fffd}$"), 0);
    output.push(Stream::Stdout, b"abc\xe9");
    output.finish();
    assert_eq!(now(search), Poll::Ready(None));
    assert_eq!(now(prompt), found("abc\u{fffd}"));
    assert_eq!(now(output.find(pattern("x"), 0)), Poll::Ready(None));
    assert_eq!(now(output.find(pattern("b"), 0)), found("abc\u{fffd}"));
}

#[test]
fn dropping_the_output_ends_a_search() {
    let output = plain();
    let search = output.find(pattern("x"), 0);
    drop(output);
    assert_eq!(now(search), Poll::Ready(None));
}

#[test]
fn dropping_a_search_removes_its_watcher() {
    let output = plain();
    let search = output.find(pattern("x"), 0);
    let other = output.find(pattern("y"), 0);
    assert_eq!(output.shared.state.lock().watchers.len(), 2);
    drop(search);
    assert_eq!(output.shared.state.lock().watchers.len(), 1);
    output.push(Stream::Stdout, b"y");
    assert_eq!(now(other), found("y"));
}

#[test]
fn held_output_is_searched_when_it_is_shown() {
    let output = Output::new(OutputOptions {
        hold_object: true,
        ..OutputOptions::default()
    });
    let search = output.find(pattern("\"a\""), 0);
    output.push(Stream::Stdout, b"{\"a\":1}\n");
    assert_eq!(output.shared.state.lock().watchers.len(), 1);
    output.push(Stream::Stdout, b"x");
    assert_eq!(now(search), found("{\"a\":1}"));
}

#[test]
fn a_long_line_is_matched_in_pieces() {
    let output = plain();
    let search = output.find(pattern("needle$"), 0);
    let mut line = vec![b'x'; 200_000];
    line.extend(b"needle");
    for chunk in line.chunks(100) {
        output.push(Stream::Stdout, chunk);
    }
    output.push(Stream::Stdout, b"\n");
    let Poll::Ready(Some(line)) = now(search) else {
        panic!("the line is found");
    };
    assert!(line.ends_with("needle") && line.len() <= 64 << 10);
}

#[test]
fn what_outgrew_memory_is_searched_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        memory: 1000,
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    });
    for number in 0..100_000 {
        output.push(Stream::Stdout, format!("line {number} end\n").as_bytes());
    }
    for wanted in [
        "line 0 end",
        "line 16383 end",
        "line 50000 end",
        "line 99999 end",
    ] {
        let search = output.find(pattern(&format!("^{wanted}$")), 0);
        assert_eq!(now(search), found(wanted));
    }
    let search = output.find(pattern("^line 100000 end$"), 3);
    output.push(Stream::Stdout, b"line 100000");
    output.push(Stream::Stdout, b" end\n");
    assert_eq!(now(search), found("line 100000 end"));
}

#[test]
fn what_the_log_dropped_is_not_searched() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        memory: 1000,
        log_limit: 32 << 10,
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    });
    for number in 0..20_000 {
        output.push(Stream::Stdout, format!("line {number} end\n").as_bytes());
    }
    output.finish();
    let gap = output.shared.state.lock().store.gap();
    assert!(!gap.is_empty());
    for wanted in [
        "line 7 end",
        "line 900 end",
        "line 19500 end",
        "line 19999 end",
    ] {
        let search = output.find(pattern(&format!("^{wanted}$")), 0);
        assert_eq!(now(search), found(wanted));
    }
    let text = |range| String::from_utf8(output.raw(range)).unwrap();
    let (before, after) = (text(0..gap.start), text(gap.end..gap.end + 100));
    let before = before.rsplit('\n').next().unwrap();
    let after = after.split('\n').next().unwrap();
    assert!(!before.is_empty(), "a line was cut by the hole");
    // Neither the dropped lines, nor the note that the log has in their place,
    // nor a line made of what stands on either side of it.
    for gone in ["^line 9000 end$", "dropped", &format!("^{before}{after}$")] {
        assert_eq!(now(output.find(pattern(gone), 0)), Poll::Ready(None));
    }
}

#[test]
fn without_a_log_the_search_begins_with_what_is_left() {
    let output = Output::new(OutputOptions {
        memory: 10,
        ..OutputOptions::default()
    });
    output.push(Stream::Stdout, b"gone\nleft\nx\n");
    assert_eq!(now(output.find(pattern("left"), 0)), found("left"));
    assert_eq!(now(output.find(pattern("gone"), 0)), Poll::Pending);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_line_is_missed_however_bytes_come(
        before in proptest::collection::vec("[a-z]{0,20}", 0..30),
        after in proptest::collection::vec("[a-z]{0,20}", 0..30),
        sizes in proptest::collection::vec(1_usize..40, 1..30),
        // Where in the bytes the search begins, in percent.
        begins in 0_usize..=100,
        memory in 0_usize..400,
    ) {
        let text = format!("{}\nNEEDLE 7\n{}\n", before.join("\n"), after.join("\n"));
        let folder = tempfile::tempdir().unwrap();
        let output = Output::new(OutputOptions { memory, log: Some(folder.path().join("log")), ..OutputOptions::default() });
        let begins = text.len() * begins / 100;
        let mut search = None;
        let mut rest = text.as_bytes();
        for size in sizes.into_iter().cycle() {
            if text.len() - rest.len() >= begins && search.is_none() {
                search = Some(output.find(pattern("^NEEDLE 7$"), 0));
            }
            if rest.is_empty() { break; }
            let (chunk, after) = rest.split_at(rest.len().min(size));
            output.push(Stream::Stdout, chunk);
            rest = after;
        }
        let search = search.unwrap_or_else(|| output.find(pattern("^NEEDLE 7$"), 0));
        prop_assert_eq!(now(search), found("NEEDLE 7"));
    }
}

/// One thread pushes, others search and read all the while.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_missed_while_others_push_and_read() {
    const LINES: usize = 30_000;
    let folder = tempfile::tempdir().unwrap();
    let output = Output::new(OutputOptions {
        memory: 4096,
        log: Some(folder.path().join("log")),
        ..OutputOptions::default()
    });
    let stop = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (output, stop) = (output.clone(), Arc::clone(&stop));
        move || {
            let mut cursor = super::super::Cursor::default();
            let mut text = String::new();
            loop {
                let is_last = stop.load(Ordering::Acquire);
                text.push_str(&output.read(&mut cursor, usize::MAX).text);
                if is_last {
                    return text;
                }
            }
        }
    });
    let pusher = std::thread::spawn({
        let output = output.clone();
        move || {
            let lines: Vec<_> = (0..LINES)
                .map(|number| format!("line {number}.\n"))
                .collect();
            let text = lines.concat();
            for (index, chunk) in text.as_bytes().chunks(37).enumerate() {
                let stream = [Stream::Stdout, Stream::Stderr][index % 2];
                output.push(stream, chunk);
            }
            output.finish();
            text
        }
    });
    let mut searches = tokio::task::JoinSet::new();
    for number in (0..LINES).step_by(LINES / 50) {
        let output = output.clone();
        searches.spawn(async move {
            let line = format!("line {number}.");
            let search = output.find(pattern(&format!("^{}$", regex::escape(&line))), 0);
            assert_eq!(search.await, Some(line));
        });
    }
    let never = output.find(pattern("^never$"), 0);
    let all_found = async {
        while let Some(result) = searches.join_next().await {
            result.unwrap();
        }
        assert_eq!(never.await, None);
    };
    // Only a failure takes this long.
    timeout(Duration::from_mins(1), all_found).await.unwrap();
    let text = pusher.join().unwrap();
    stop.store(true, Ordering::Release);
    assert!(
        reader.join().unwrap() == text,
        "a read lost or repeated something"
    );
    assert_eq!(output.shared.state.lock().watchers.len(), 0);
}
