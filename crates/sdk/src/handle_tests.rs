use std::io::{BufRead, BufReader, PipeReader, PipeWriter, pipe};
use std::process::ExitCode;
use std::thread::{self, JoinHandle};

use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::{Tool, Tools};

/// A tool that does what its script says.
#[derive(Deserialize, JsonSchema)]
struct Script {
    does: String,
}

impl Stateful for Script {
    async fn run(self, handle: ToolHandle) -> Result<String, Error> {
        match self.does.as_str() {
            "ask" => {
                let sure = handle.ask(TypedQuestion::boolean("sure", "Sure?")).await?;
                let name = handle.ask(TypedQuestion::text("name", "Who?")).await?;
                Ok(format!("{sure} {name}"))
            }
            "default" => {
                let question = TypedQuestion::text("name", "Who?").default("nobody");
                handle.ask(question).await
            }
            "echo" => {
                while let Some(input) = handle.input().await {
                    handle.report(format!("got {input}"));
                }
                Ok("no more".to_owned())
            }
            "wait" => {
                handle.report("waiting");
                handle.unless_aborted(std::future::pending()).await
            }
            "sleep" => {
                handle.report("sleeping");
                handle.sleep(Duration::from_hours(1)).await?;
                Ok("awake".to_owned())
            }
            "threads" => {
                let asked = ["a", "b"].map(|id| {
                    let handle = handle.clone();
                    let ask = move || async move { handle.ask(TypedQuestion::text(id, "?")).await };
                    thread::spawn(move || future::block_on(ask()))
                });
                let answers = asked.map(|thread| thread.join().unwrap());
                let [a, b] = answers;
                Ok(format!("{} {}", a?, b?))
            }
            other => Err(Error::new(format_args!("cannot {other}"))),
        }
    }
}

/// A tool that runs on a thread, and the ends of its pipes.
struct Running {
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    thread: JoinHandle<ExitCode>,
}

fn start(does: &str) -> Running {
    let (input_reader, input) = pipe().unwrap();
    let (output, output_writer) = pipe().unwrap();
    let context = json!({"action": "run", "root": "/", "handle_id": "h"}).to_string();
    let tool = json!({"name": "script", "arguments": {"does": does}}).to_string();
    let thread = thread::spawn(move || {
        Tools::new().add(Tool::stateful::<Script>("script")).run_on(
            &[context, tool],
            BufReader::new(input_reader),
            output_writer,
        )
    });
    Running {
        input: Some(input),
        output: BufReader::new(output),
        thread,
    }
}

impl Running {
    fn send(&mut self, line: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Its last state, after which nothing comes.
    fn last(mut self) -> (Value, ExitCode) {
        let last = self.next();
        let code = self.thread.join().unwrap();
        let mut rest = String::new();
        assert_eq!(self.output.read_line(&mut rest).unwrap(), 0, "{rest}");
        (last, code)
    }
}

fn stopped(result: &str) -> (Value, ExitCode) {
    let state = json!({"type": "stopped", "result": {"Ok": result}});
    (state, ExitCode::SUCCESS)
}

fn failed(message: &str) -> (Value, ExitCode) {
    let error = json!({"message": message, "trace": [], "transient": false});
    let state = json!({"type": "stopped", "result": {"Err": error}});
    (state, ExitCode::FAILURE)
}

fn waiting(question: &Value) -> Value {
    json!({"type": "waiting", "question": question})
}

#[test]
fn questions_are_answered_in_place() {
    let mut tool = start("ask");
    let sure = json!({"id": "sure", "text": "Sure?", "answer_type": "Boolean"});
    assert_eq!(tool.next(), waiting(&sure));
    tool.send(&json!({"type": "answer", "question": "sure", "answer": true}));
    assert_eq!(tool.next(), json!({"type": "running"}));
    let who = json!({"id": "name", "text": "Who?", "answer_type": "Text"});
    assert_eq!(tool.next(), waiting(&who));
    tool.send(&json!({"type": "answer", "question": "name", "answer": "me"}));
    assert_eq!(tool.next(), json!({"type": "running"}));
    assert_eq!(tool.last(), stopped("true me"));
}

#[test]
fn an_abort_ends_a_question() {
    let mut tool = start("ask");
    assert_eq!(tool.next()["type"], json!("waiting"));
    tool.send(&json!({"type": "abort"}));
    assert_eq!(tool.last(), failed("aborted"));
}

#[test]
fn where_nobody_is_left_the_default_is_the_answer() {
    let mut tool = start("default");
    assert_eq!(tool.next()["type"], json!("waiting"));
    tool.input = None;
    assert_eq!(tool.next(), json!({"type": "running"}));
    assert_eq!(tool.last(), stopped("nobody"));
}

#[test]
fn without_a_default_the_error_says_what_was_asked() {
    let mut tool = start("ask");
    assert_eq!(tool.next()["type"], json!("waiting"));
    tool.input = None;
    assert_eq!(
        tool.last(),
        failed("question `sure` can no longer be answered: Sure?")
    );
}

#[test]
fn input_comes_in_order_until_no_more_can() {
    let mut tool = start("echo");
    for input in [json!("a"), json!({"b": 1}), json!(null)] {
        tool.send(&json!({"type": "apply", "input": input}));
        let content = format!("got {input}");
        assert_eq!(tool.next(), json!({"type": "running", "content": content}));
    }
    tool.input = None;
    assert_eq!(tool.last(), stopped("no more"));
}

#[test]
fn an_abort_ends_whatever_is_waited_for() {
    for does in ["wait", "sleep"] {
        let mut tool = start(does);
        assert_eq!(tool.next()["type"], json!("running"));
        tool.send(&json!({"type": "abort"}));
        assert_eq!(tool.last(), failed("aborted"));
    }
    let mut tool = start("echo");
    tool.send(&json!({"type": "abort"}));
    assert_eq!(tool.last(), stopped("no more"));
}

#[test]
fn questions_of_several_threads_are_asked_one_after_the_other() {
    let mut tool = start("threads");
    for _ in 0..2 {
        let asked = tool.next();
        assert_eq!(asked["type"], json!("waiting"), "{asked}");
        let id = &asked["question"]["id"];
        tool.send(&json!({"type": "answer", "question": id, "answer": id}));
        assert_eq!(tool.next(), json!({"type": "running"}));
    }
    assert_eq!(tool.last(), stopped("a b"));
}

#[test]
fn wrong_arguments_stop_it_at_once() {
    let (state, _) = start("juggle").last();
    assert_eq!(state["result"]["Err"]["message"], json!("cannot juggle"));
}
