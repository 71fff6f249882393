use super::*;

fn output() -> JobOutput {
    JobOutput::new(OutputOptions::default())
}

fn push(output: &JobOutput, text: &str) {
    output.bytes().push(Stream::Stdout, text.as_bytes());
}

fn read(output: &JobOutput, view: View) -> String {
    output.read(view, 4096).text
}

#[test]
fn offsets_go_on_across_the_runs_of_a_job() {
    let output = output();
    push(&output, "first\n");
    output.bytes().end_run();
    push(&output, "lost between the runs");
    output.bytes().begin_run(false);
    push(&output, "second\n");
    output.finish();
    assert_eq!(output.written(), 13);
    assert_eq!(output.log(0..13), b"first\nsecond\n");
    assert_eq!(output.log(6..12), b"second");
    assert_eq!(read(&output, View::New), "first\nsecond\n");
    assert_eq!(read(&output, View::New), "");
    assert_eq!(read(&output, View::All), "first\nsecond\n");
}

#[test]
fn held_protocol_is_no_output() {
    let output = JobOutput::new(OutputOptions {
        hold_object: true,
        ..OutputOptions::default()
    });
    push(&output, r#"{"type":"stopped"}"#);
    output.bytes().end_run();
    assert!(output.bytes().take_object().is_some());
    assert_eq!(output.written(), 0);
    output.bytes().begin_run(false);
    push(&output, "{}");
    output.finish();
    assert_eq!(read(&output, View::New), "{}");
}

#[tokio::test]
async fn a_search_outlasts_a_run_and_ends_with_the_job() {
    let output = output();
    let found = output.find(Regex::new("second").unwrap(), Since::LastInput);
    let missed = output.find(Regex::new("third").unwrap(), Since::LastInput);
    push(&output, "first\n");
    output.bytes().end_run();
    output.bytes().begin_run(false);
    push(&output, "second\n");
    assert_eq!(found.await.as_deref(), Some("second"));
    output.finish();
    assert_eq!(missed.await, None);
}

#[tokio::test]
async fn a_search_since_the_last_input_does_not_see_what_was_before() {
    let output = output();
    push(&output, "ready 1\n");
    output.note_input(output.written());
    let found = output.find(Regex::new("ready").unwrap(), Since::LastInput);
    push(&output, "ready 2\n");
    assert_eq!(found.await.as_deref(), Some("ready 2"));
}

#[test]
fn the_newline_after_the_last_message_is_not_read() {
    let output = JobOutput::of_messages(OutputOptions::default());
    assert_eq!(output.say("one"), 4);
    output.say("two");
    assert_eq!(read(&output, View::New), "one\ntwo");
    output.say("three");
    assert_eq!(read(&output, View::New), "three");
    assert_eq!(output.written(), 14);
    assert_eq!(output.last_line().as_deref(), Some("three"));
}

#[test]
fn text_from_before_the_screen_is_read_once_and_first() {
    let output = output();
    push(&output, "starting\n");
    let screen = Arc::new(Mutex::new(Screen::new(4, 20)));
    output.attach_screen(Arc::clone(&screen));
    screen.lock().feed(b"$ ");
    push(&output, "$ ");
    let text = read(&output, View::New);
    assert!(text.starts_with("starting\n"), "{text:?}");
    assert!(text.contains('$'), "{text:?}");
    assert!(!read(&output, View::Screen).contains("starting"));
    assert_eq!(output.written(), 11);
}

#[test]
fn a_preview_and_a_log_move_nothing() {
    let output = output();
    push(&output, "a\nb\n");
    assert_eq!(output.preview(100), "a\nb\n");
    assert_eq!(output.log(0..u64::MAX), b"a\nb\n");
    assert_eq!(read(&output, View::New), "a\nb\n");
}

#[test]
fn messages_are_read_as_they_came() {
    let output = JobOutput::of_messages(OutputOptions::default());
    let odd = "\u{1b}[31mred\u{1b}[0m\r50%\r100%\n\n  indented\t\n";
    output.say(odd);
    assert_eq!(output.read(View::New, 1000).text, odd);
    output.say("one");
    output.say("two");
    assert_eq!(output.read(View::New, 1000).text, "one\ntwo");
    assert_eq!(output.read(View::New, 1000).text, "");
    assert_eq!(
        output.read(View::All, 1000).text,
        format!("{odd}\none\ntwo")
    );
    output.say(&"long\n".repeat(1000));
    let cut = output.read(View::New, 1000);
    assert!(cut.text.len() <= 1000 && cut.omitted_bytes > 0);
    assert_eq!(output.read(View::New, 1000).text, "");
}

#[test]
fn a_full_screen_is_previewed_as_it_stands() {
    let output = output();
    let screen = Arc::new(Mutex::new(Screen::new(4, 20)));
    output.attach_screen(Arc::clone(&screen));
    let bytes = b"\x1b[?1049h\x1b[2J\x1b[3;1H\x1b[7mstatus\x1b[m: ok\x1b[1;1Htop\x1b[?25l";
    push(&output, &String::from_utf8_lossy(bytes));
    screen.lock().feed(bytes);
    assert_eq!(output.preview(1000), "top\n\nstatus: ok");
    assert_eq!(output.preview(5), "status: ok");
    assert_eq!(output.last_line().as_deref(), Some("status: ok"));
    screen.lock().feed(b"\x1b[?1049l");
    assert_eq!(output.last_line(), None);
}
