use windlass_protocol::{Ending, ToolError};

use super::*;

const LIMIT: usize = 400;

fn cut(ending: &Ending) -> Ending {
    shorter_ending(ending, LIMIT, || None).unwrap_or_else(|| ending.clone())
}

#[test]
fn what_fits_is_passed_on_exactly() {
    let ending = Ending::reported(Ok("a\u{1b}[31m\r\n".repeat(10)));
    assert_eq!(cut(&ending), ending);
}

#[test]
fn a_long_result_has_its_head_its_tail_and_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("1.result.log");
    let lines: Vec<String> = (0..500).map(|line| format!("line {line}")).collect();
    let ending = Ending::reported(Ok(lines.join("\n")));
    let cut = shorter_ending(&ending, LIMIT, || Some(log.clone())).expect("it is too long");
    let result = cut.result.unwrap().unwrap();
    assert!(result.len() <= LIMIT, "{}", result.len());
    assert!(result.starts_with("line 0\n"));
    assert!(result.ends_with("line 499"));
    assert!(result.contains("bytes omitted"));
    let left_out = cut.cut.unwrap();
    assert!(left_out.omitted_bytes > 4000);
    assert_eq!(left_out.log.as_deref(), Some(log.as_path()));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), lines.join("\n"));
}

#[test]
fn a_long_message_and_long_causes_are_cut_together() {
    let error = ToolError {
        message: "m".repeat(3000),
        trace: vec!["c".repeat(50), "d".repeat(3000), "e".to_owned()],
        transient: true,
    };
    let cut = cut(&Ending::with(Err(error)));
    assert!(length(&cut) <= LIMIT, "{}", length(&cut));
    assert!(cut.cut.is_some());
    let error = cut.result.unwrap_err();
    assert!(error.message.starts_with("mmm"));
    assert_eq!(error.trace[0], "c".repeat(50));
    assert!(error.transient);
}

#[test]
fn many_short_causes_are_cut_too() {
    let error = ToolError {
        message: "no".to_owned(),
        trace: vec!["cause".to_owned(); 1000],
        transient: false,
    };
    let cut = cut(&Ending::with(Err(error)));
    assert!(length(&cut) <= LIMIT, "{}", length(&cut));
    assert_eq!(cut.result.unwrap_err().trace.len(), (LIMIT - 2) / 5 + 1);
}

#[test]
fn the_head_of_a_very_long_message_is_not_lost() {
    let error = ToolError::new("line\n".repeat(200_000) + "end");
    let cut = cut(&Ending::with(Err(error)));
    let message = cut.result.unwrap_err().message;
    assert!(message.starts_with("line\nline\n"), "{message}");
    assert!(message.ends_with("\nend"), "{message}");
    assert!(message.len() <= LIMIT, "{}", message.len());
}
