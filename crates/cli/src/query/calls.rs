//! The calls of a turn as shown to a person: running ones with the last lines
//! of their output, completed ones in a line that can be expanded.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use windlass_protocol::{
    Arguments, BatchReply, CallReply, PartState, ReplyContent, ToolCall, ToolPart, visible_line,
};

/// How many of the last lines are shown under a running call.
const UNDER: usize = 4;
/// The maximum number of lines of an expanded call.
const OPENED: usize = 400;
/// How many calls can be expanded.
const KEPT: usize = 100;

/// The calls of a turn.
#[derive(Default)]
pub(super) struct ShownCalls {
    running: Vec<RunningCall>,
    /// Completed calls with their output, newest last.
    done: VecDeque<DoneCall>,
}

struct RunningCall {
    id: String,
    title: String,
    /// When the tool started to run, excluding the wait for permission.
    began: Option<SystemTime>,
    /// The time that the user took to answer it.
    asked: Duration,
    output: String,
}

struct DoneCall {
    id: String,
    title: String,
    output: String,
}

/// The summary of a completed call.
pub(super) struct CallEnd {
    pub(super) title: String,
    pub(super) took: String,
    pub(super) is_error: bool,
    /// The number of lines of its output.
    pub(super) lines: usize,
}

/// A running call.
pub(super) struct CallUnderWay<'a> {
    pub(super) title: &'a str,
    /// The time since its tool started; `None` while it waits for permission.
    pub(super) took: Option<String>,
    pub(super) last_lines: Vec<String>,
}

impl ShownCalls {
    pub(super) fn start(&mut self, calls: Vec<ToolCall>) {
        self.running = calls
            .into_iter()
            .map(|call| RunningCall {
                title: title(&call.tool, &call.arguments),
                id: call.id,
                began: None,
                asked: Duration::ZERO,
                output: String::new(),
            })
            .collect();
    }

    /// Handles a change of a call: its start, its arguments or its output. `at`
    /// is the time of the change, which may be handled later.
    pub(super) fn note(&mut self, part: &ToolPart, at: SystemTime) {
        let mut running = self.running.iter_mut();
        let Some(call) = running.find(|call| call.id == part.call_id) else {
            return;
        };
        if let PartState::Running(state) = &part.state {
            call.began.get_or_insert(at);
            call.title = title(&part.tool, &state.input);
            let output = state
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.get("output"));
            if let Some(output) = output.and_then(Value::as_str) {
                output.clone_into(&mut call.output);
            }
        }
    }

    /// Adds the time that the user took to answer a request of a call.
    pub(super) fn asked(&mut self, id: &str, took: Duration) {
        for call in self.running.iter_mut().filter(|call| call.id == id) {
            if call.began.is_some() {
                call.asked += took;
            }
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Completes a call, at this time.
    pub(super) fn end(&mut self, id: &str, is_error: bool, at: SystemTime) -> Option<CallEnd> {
        let place = self.running.iter().position(|call| call.id == id)?;
        let call = self.running.remove(place);
        let end = CallEnd {
            took: elapsed(call.time(at)),
            title: call.title.clone(),
            is_error,
            lines: call.output.lines().count(),
        };
        if self.done.len() == KEPT {
            self.done.pop_front();
        }
        self.done.push_back(DoneCall {
            id: call.id,
            title: call.title,
            output: call.output,
        });
        Some(end)
    }

    /// Handles the replies, which contain the whole output.
    pub(super) fn answered(&mut self, reply: &BatchReply) {
        for answer in &reply.replies {
            let mut done = self.done.iter_mut();
            if let Some(done) = done.find(|done| done.id == answer.id) {
                done.output = text(answer);
            }
        }
        self.running.clear();
    }

    pub(super) fn under_way(&self) -> impl Iterator<Item = CallUnderWay<'_>> {
        self.running.iter().map(|call| {
            let lines = call.output.lines().filter(|line| !line.trim().is_empty());
            let lines: Vec<&str> = lines.collect();
            let last = lines.len().saturating_sub(UNDER);
            CallUnderWay {
                title: &call.title,
                took: call.began.map(|_| elapsed(call.time(SystemTime::now()))),
                last_lines: lines[last..]
                    .iter()
                    .map(|line| visible_line(line))
                    .collect(),
            }
        })
    }

    /// Every completed call, with its output.
    pub(super) fn opened(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for call in &self.done {
            lines.push(format!("▾ {}", call.title));
            lines.extend(open_lines(&call.output));
        }
        lines
    }

    /// The output of the call that ended last.
    pub(super) fn last_output(&self) -> Vec<String> {
        self.done
            .back()
            .map_or_else(Vec::new, |call| open_lines(&call.output))
    }
}

impl RunningCall {
    /// How long its tool had run at that time.
    fn time(&self, then: SystemTime) -> Duration {
        let ran = self.began.and_then(|began| then.duration_since(began).ok());
        ran.unwrap_or_default().saturating_sub(self.asked)
    }
}

fn open_lines(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().collect();
    let more = lines.len().saturating_sub(OPENED);
    let mut shown: Vec<String> = Vec::new();
    if more > 0 {
        shown.push(format!("  … {more} lines before"));
    }
    shown.extend(
        lines[more..]
            .iter()
            .map(|line| format!("  {}", visible_line(line))),
    );
    shown
}

/// The text of a reply for the user.
fn text(reply: &CallReply) -> String {
    match &reply.content {
        ReplyContent::Handle(view) => {
            let texts = [&view.content, &view.result];
            let text = texts.into_iter().flatten().find(|text| !text.is_empty());
            text.cloned().unwrap_or_default()
        }
        content => content.to_text(),
    }
}

/// A call on one line: its tool and the significant argument.
pub(super) fn title(tool: &str, arguments: &Arguments) -> String {
    let text = |key: &str| arguments.get(key).and_then(|value| value.as_str());
    let mut title = tool.to_owned();
    for key in ["action", "id"] {
        if let Some(value) = text(key) {
            title.push(' ');
            title.push_str(value);
        }
    }
    let telling = ["command", "task", "input"];
    let rest = telling.iter().find_map(|key| text(key)).map(str::to_owned);
    let rest = rest.or_else(|| {
        let mut rest = arguments.clone();
        rest.retain(|key, _| key != "action" && key != "id");
        (!rest.is_empty()).then(|| Value::Object(rest).to_string())
    });
    if let Some(rest) = rest {
        title.push(' ');
        let line = rest.lines().next().unwrap_or_default();
        title.extend(line.chars().filter(|letter| !letter.is_control()).take(100));
    }
    title
}

pub(super) fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{:.1}s", time.as_secs_f64()),
        seconds if seconds < 60 => format!("{seconds}s"),
        seconds => format!("{}m {:02}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
