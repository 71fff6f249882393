use std::io;

use super::*;

#[derive(Debug, thiserror::Error)]
#[error("cannot read `{name}`")]
struct Unreadable {
    name: &'static str,
    source: io::Error,
}

fn failed(error: Error) -> ToolError {
    match error.into_stop() {
        StopReason::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

fn unreadable() -> Result<(), Unreadable> {
    Err(Unreadable {
        name: "a.txt",
        source: io::Error::new(io::ErrorKind::NotFound, "no such file"),
    })
}

#[test]
fn sources_become_the_trace() {
    let run = || -> Result<(), Error> { Ok(unreadable()?) };
    let error = failed(run().unwrap_err());
    assert_eq!(error.message, "cannot read `a.txt`");
    assert_eq!(error.trace, ["no such file"]);
    assert!(!error.transient);
}

#[test]
fn text_is_an_error_too() {
    let run = || -> Result<(), Error> { Err("there is no such branch")? };
    assert_eq!(
        failed(run().unwrap_err()),
        ToolError::new("there is no such branch")
    );
}

#[test]
fn context_goes_in_front_of_the_causes() {
    let error = Error::from(unreadable().unwrap_err()).context("cannot deploy");
    let error = failed(error.transient());
    assert_eq!(error.message, "cannot deploy");
    assert_eq!(error.trace, ["cannot read `a.txt`", "no such file"]);
    assert!(error.transient);
}

#[test]
fn a_question_ends_the_run_with_itself() {
    let question = TypedQuestion::select("colour", "Which?", ["red", "blue"]).default("red");
    match Error::from(question).into_stop() {
        StopReason::Asks(question) => {
            assert_eq!(question.id, "colour");
            assert_eq!(question.default, Some("red".into()));
        }
        other => panic!("{other:?}"),
    }
}
