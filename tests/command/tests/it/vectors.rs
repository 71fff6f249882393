//! The test vectors that every client shares, over `windlass drive`. `vectors/README.md` says what they mean.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::{Value, json};
use windlass_outside::needs;

use crate::processes::{kill, pids};
use crate::support::{DEADLINE, Drive, Project};

const SCENARIOS: &str = include_str!("../../../../vectors/scenarios.json");
const WRONG: &str = include_str!("../../../../vectors/wrong.json");
/// A wrong vector waits this long for what never comes, however long it waits.
const BRIEF: Duration = Duration::from_millis(500);

fn vectors(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    file["vectors"].as_array().unwrap().clone()
}

fn check(name: &str) {
    needs!("python3");
    let vectors = vectors(SCENARIOS);
    let vector = vectors.iter().find(|vector| vector["name"] == name);
    Runner::start(vector.unwrap(), DEADLINE).run();
}

macro_rules! scenarios {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        #[test]
        fn every_vector_is_run() {
            let names: Vec<String> = vectors(SCENARIOS)
                .iter()
                .map(|vector| vector["name"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

scenarios! {
    one_shot failed_one_shot flood handle terminal password permission_once permission_always permission_rejected question
    question_declined await_any await_all await_until notices abort escaped server_restart cancel two_hundred_handles lines
    concurrent turn_end driver_tool driver_handle
}

#[test]
fn a_wrong_vector_fails() {
    for vector in vectors(WRONG) {
        let name = &vector["name"];
        let run = || Runner::start(&vector, BRIEF).run();
        let Err(failure) = catch_unwind(AssertUnwindSafe(run)) else {
            panic!("{name} passes");
        };
        let failure = failure.downcast_ref::<String>().unwrap();
        let wanted = Regex::new(vector["fails"].as_str().unwrap()).unwrap();
        assert!(wanted.is_match(failure), "{name} fails with {failure}");
    }
}

struct Runner {
    vector: Value,
    project: Project,
    drive: Drive,
    marker: String,
    patience: Duration,
    sent: u64,
    /// Replies to batches and requests, and turn ends, that nobody has taken yet.
    answers: HashMap<String, Value>,
    events: Vec<Value>,
    permissions: VecDeque<Value>,
    questions: VecDeque<Value>,
    inquiries: VecDeque<Value>,
    /// The rest of the script of each run of a tool.
    runs: HashMap<String, VecDeque<Value>>,
}

impl Runner {
    fn start(vector: &Value, patience: Duration) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let marker = format!("WINDLASS_VECTOR=rust-{}-{number}", std::process::id());
        let project = Project::new();
        if let Some(config) = vector["config"].as_str() {
            project.write_own(config);
        }
        for (name, text) in vector["files"].as_object().into_iter().flatten() {
            project.write(name, text.as_str().unwrap());
        }
        let arguments: &[&str] = if vector["ask"] == true {
            &["drive", "--ask"]
        } else {
            &["drive"]
        };
        let mut command = project.windlass(arguments);
        let (name, value) = marker.split_once('=').unwrap();
        command.env(name, value);
        let queue = |key: &str| {
            vector[key]
                .as_array()
                .into_iter()
                .flatten()
                .cloned()
                .collect()
        };
        let mut runner = Self {
            vector: vector.clone(),
            drive: project.lines_of(command),
            project,
            marker,
            patience,
            sent: 0,
            answers: HashMap::new(),
            events: Vec::new(),
            permissions: queue("permissions"),
            questions: queue("questions"),
            inquiries: queue("inquiries"),
            runs: HashMap::new(),
        };
        runner.request(json!({"op": "follow", "after": 0}));
        for tool in vector["tools"].as_array().into_iter().flatten() {
            let mut request = tool["tool"].clone();
            request["op"] = json!("add_tool");
            runner.request(request);
        }
        runner
    }

    fn run(mut self) {
        for step in self.vector["steps"].as_array().unwrap().clone() {
            self.step(&step);
        }
        let (rest, code) = self.drive.finish();
        assert_eq!(code, Some(0), "{rest:?}");
        let asked = [&self.permissions, &self.questions, &self.inquiries];
        assert!(
            asked.iter().all(|rest| rest.is_empty()),
            "never asked: {asked:?}"
        );
        let left = self.vector["left"].as_u64().unwrap();
        self.wait_for_processes("", left);
    }

    fn step(&mut self, step: &Value) {
        if let Some(name) = step["begin"].as_str() {
            self.begin(name, &step["run"]);
        } else if step["run"].is_array() {
            self.begin("run", &step["run"]);
            self.finish("run", step);
        } else if let Some(name) = step["cancel"].as_str() {
            self.drive.send(&json!({"cancel": name}));
        } else if let Some(name) = step["finish"].as_str() {
            self.finish(name, step);
        } else if !step["turn_end"].is_null() {
            self.drive.send(&json!({"turn_end": true}));
            let report = self.answer("turn_end");
            expect(&step["turn_end"], &report);
        } else if !step["event"].is_null() {
            let wanted = json!({"$has": step["event"]});
            self.until(|runner| {
                let mut events = runner.events.iter();
                events.any(|event| mismatch(&wanted, event).is_none())
            });
        } else if let Some(handle) = step["lines"].as_str() {
            let lines = self.lines(handle);
            expect(&step["are"], &json!(lines));
        } else if let Some(handle) = step["screen"].as_str() {
            self.screen(handle, step["shows"].as_str().unwrap());
        } else if let Some(pattern) = step["processes"].as_str() {
            self.wait_for_processes(pattern, step["count"].as_u64().unwrap());
        } else if let Some(pattern) = step["kill"].as_str() {
            self.processes(pattern).into_iter().for_each(kill);
        } else if let Some(name) = step["touch"].as_str() {
            self.project.write(name, "");
        } else {
            panic!("no runner knows this step: {step}");
        }
    }

    fn begin(&mut self, name: &str, calls: &Value) {
        let calls = expanded(calls);
        self.drive
            .send(&json!({"batch": name, "calls": calls, "concurrent": true}));
    }

    fn finish(&mut self, name: &str, step: &Value) {
        let reply = self.answer(name);
        expect(&expanded(&step["replies"]), &reply["replies"]);
        let none = json!([]);
        let notices = step.get("notices").unwrap_or(&none);
        expect(notices, reply.get("notices").unwrap_or(&none));
    }

    fn lines(&mut self, handle: &str) -> Vec<String> {
        let mut text = String::new();
        let mut from = json!(0);
        loop {
            let piece = self.request(json!({
                "op": "output", "handle": handle, "from": from, "wait": true, "lines": true,
            }));
            text.push_str(piece["text"].as_str().unwrap());
            from = piece["to"].clone();
            if piece["ended"] == true {
                return text.lines().map(str::to_owned).collect();
            }
        }
    }

    fn screen(&mut self, handle: &str, text: &str) {
        let mut rows: HashMap<u64, String> = HashMap::new();
        let mut request = json!({"op": "screen", "handle": handle, "wait": true});
        loop {
            let screen = self.request(request.clone());
            for row in screen["changed"].as_array().unwrap() {
                let runs = row["runs"].as_array().unwrap().iter();
                let shown = runs.map(|run| run["text"].as_str().unwrap()).collect();
                rows.insert(row["row"].as_u64().unwrap(), shown);
            }
            if rows.values().any(|row| row.contains(text)) {
                return;
            }
            assert_eq!(
                screen["ended"],
                json!(false),
                "never shown: {text}: {rows:?}"
            );
            request["since"] = screen["generation"].clone();
        }
    }

    /// Sends a request and waits for the value of its reply.
    fn request(&mut self, mut request: Value) -> Value {
        self.sent += 1;
        let id = format!("request-{}", self.sent);
        request["request"] = json!(id);
        self.drive.send(&request);
        let reply = self.answer(&id);
        assert!(reply["error"].is_null(), "{request}: {reply}");
        reply["value"].clone()
    }

    fn answer(&mut self, name: &str) -> Value {
        self.until(|runner| runner.answers.contains_key(name));
        self.answers.remove(name).unwrap()
    }

    fn until(&mut self, mut holds: impl FnMut(&Self) -> bool) {
        while !holds(self) {
            let line = self.drive.next();
            self.take(line);
        }
    }

    fn take(&mut self, mut line: Value) {
        let named = |key: &str| line[key].as_str().map(str::to_owned);
        if let Some(name) = named("batch").or_else(|| named("reply")) {
            self.answers.insert(name, line);
        } else if !line["turn_end"].is_null() {
            self.answers
                .insert("turn_end".to_owned(), line["turn_end"].take());
        } else {
            assert!(line["error"].is_null(), "{line}");
            self.hear(&line);
        }
    }

    fn hear(&mut self, event: &Value) {
        match event["event"].as_str().unwrap() {
            "update" => self.events.push(event.clone()),
            "permission" => {
                let expected = self.permissions.pop_front();
                let expected = expected.unwrap_or_else(|| panic!("not expected: {event}"));
                expect(&expected["request"], &event["request"]);
                let mut reply = expected["reply"].clone();
                reply["permission"] = event["request"]["id"].clone();
                self.drive.send(&reply);
            }
            "question" => {
                let expected = self.questions.pop_front();
                let expected = expected.unwrap_or_else(|| panic!("not expected: {event}"));
                expect(&expected["ask"], event);
                let key = if expected["decline"].is_string() {
                    "decline"
                } else {
                    "value"
                };
                self.drive
                    .send(&json!({"answer": event["ask"], key: expected[key]}));
            }
            "inquire" => {
                let expected = self.inquiries.pop_front();
                let expected = expected.unwrap_or_else(|| panic!("not expected: {event}"));
                let handles = event["handles"].as_array().unwrap().iter();
                let handles: Vec<&Value> = handles.map(|handle| &handle["id"]).collect();
                expect(&expected["handles"], &json!(handles));
                self.drive
                    .send(&json!({"inquire": event["ask"], "decisions": expected["decisions"]}));
            }
            "tool_call" => {
                let tools = self.vector["tools"].as_array().unwrap();
                let tool = tools
                    .iter()
                    .find(|tool| tool["tool"]["name"] == event["tool"]);
                let script = tool.unwrap()["script"].as_array().unwrap().clone();
                let run = event["run"].as_str().unwrap();
                self.runs.insert(run.to_owned(), script.into());
                self.play(run, "");
            }
            "tool_answer" => {
                let answer = event["value"].as_str().unwrap();
                self.play(event["run"].as_str().unwrap(), answer);
            }
            "tool_abort" => {
                let report = json!({"run": event["run"], "report": "error", "error": {"message": "aborted"}});
                self.drive.send(&report);
            }
            _ => panic!("not expected: {event}"),
        }
    }

    /// Plays the script of a run until it waits or has ended.
    fn play(&mut self, run: &str, answer: &str) {
        while let Some(step) = self.runs.get_mut(run).and_then(VecDeque::pop_front) {
            let mut report = if let Some(text) = step["output"].as_str() {
                json!({"report": "output", "text": text})
            } else if step["question"].is_object() {
                json!({"report": "question", "question": step["question"], "content": step["content"]})
            } else if let Some(text) = step["result"].as_str() {
                json!({"report": "result", "text": text.replace("$answer", answer)})
            } else if step["error"].is_object() {
                json!({"report": "error", "error": step["error"]})
            } else {
                json!({"report": "running"})
            };
            report["run"] = json!(run);
            self.drive.send(&report);
            if step["question"].is_object() {
                return;
            }
        }
    }

    /// The processes of the runtime whose command line the expression matches.
    fn processes(&self, pattern: &str) -> Vec<u32> {
        let pattern = Regex::new(pattern).unwrap();
        let matches = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            variables.any(|variable| variable == self.marker.as_bytes())
                && pattern.is_match(&command)
        };
        pids().filter(matches).collect()
    }

    fn wait_for_processes(&self, pattern: &str, count: u64) {
        let start = Instant::now();
        loop {
            let found = self.processes(pattern);
            if found.len() as u64 == count {
                return;
            }
            let waited = start.elapsed() > self.patience;
            assert!(
                !waited,
                "`{pattern}`: {count} processes wanted, there are {found:?}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A list with its `times` written out.
fn expanded(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().flat_map(copies).collect(),
        Value::Object(object) => {
            let fields = object.iter();
            fields
                .map(|(key, value)| (key.clone(), expanded(value)))
                .collect()
        }
        other => other.clone(),
    }
}

fn copies(item: &Value) -> Vec<Value> {
    let (count, item) = if let Some(list) = item.get("$times") {
        (list[0].as_u64().unwrap(), list[1].clone())
    } else if let Some(count) = item.get("times").and_then(Value::as_u64) {
        let mut item = item.clone();
        item.as_object_mut().unwrap().remove("times");
        (count, item)
    } else {
        return vec![expanded(item)];
    };
    let text = item.to_string();
    let copy =
        |number: u64| serde_json::from_str(&text.replace("$i", &number.to_string())).unwrap();
    (1..=count).map(copy).collect()
}

#[track_caller]
fn expect(expected: &Value, got: &Value) {
    if let Some(why) = mismatch(expected, got) {
        panic!("{why}\nexpected {expected:#}\ngot {got:#}");
    }
}

/// The place at which a value does not fit.
fn mismatch(expected: &Value, got: &Value) -> Option<String> {
    if let Some(object) = expected.as_object()
        && let Some((key, value)) = object.iter().next()
        && key.starts_with('$')
    {
        let fits = match key.as_str() {
            "$any" => true,
            "$re" => {
                let pattern = Regex::new(value.as_str().unwrap()).unwrap();
                got.as_str().is_some_and(|text| pattern.is_match(text))
            }
            "$shorter" => {
                let length = got.as_str().map(|text| text.chars().count() as u64);
                length.is_some_and(|length| Some(length) < value.as_u64())
            }
            "$without" => !got.to_string().contains(value.as_str().unwrap()),
            "$all" => {
                return value
                    .as_array()
                    .unwrap()
                    .iter()
                    .find_map(|one| mismatch(one, got));
            }
            "$has" => {
                let mut fields = value.as_object().unwrap().iter();
                return fields.find_map(|(key, value)| {
                    let got = got.get(key).unwrap_or(&Value::Null);
                    mismatch(value, got).map(|why| format!("{key}: {why}"))
                });
            }
            _ => panic!("no runner knows `{key}`"),
        };
        return (!fits).then(|| format!("{got} does not fit {expected}"));
    }
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            let mut keys = expected.keys().chain(got.keys());
            keys.find_map(|key| match (expected.get(key), got.get(key)) {
                (Some(expected), Some(got)) => {
                    mismatch(expected, got).map(|why| format!("{key}: {why}"))
                }
                (None, _) => Some(format!("`{key}` is not expected")),
                (_, None) => Some(format!("`{key}` is missing")),
            })
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            let mut pairs = expected.iter().zip(got).enumerate();
            pairs.find_map(|(place, (expected, got))| {
                mismatch(expected, got).map(|why| format!("{place}: {why}"))
            })
        }
        _ => (expected != got).then(|| format!("{got} is not {expected}")),
    }
}
