//! The rendering of a request to a person, common to all front ends.
//!
//! Start at [`RequestRendering::of_permission`] and
//! [`RequestRendering::of_question`]. The author of a request may try to
//! deceive the person. So everything here is plain text without invisible
//! characters, reordering, terminal control sequences or text that imitates a
//! field. Long text is cut, with a note on how much. Pure; nothing here makes a
//! decision.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Arguments, Ask, PermissionRequest};

/// Maximum number of lines of one text.
const LINES: usize = 20;
/// Maximum number of lines of a question's subject. It is larger, because a
/// person must see a hunk whole to decide on it.
const CONTEXT_LINES: usize = 200;
/// Of those, so many are its end.
const LAST_LINES: usize = 6;
/// Maximum number of characters of one line.
const WIDTH: usize = 600;
/// Of those, so many are its end.
const LAST_WIDTH: usize = 150;
/// A longer run of spaces is replaced by its length.
const SPACES: usize = 16;
/// Maximum number of arguments, variables or patterns.
const ENTRIES: usize = 30;

/// A request in plain text that is safe to show. Every string is a single line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestRendering {
    /// The tool, and the kind of request.
    pub title: String,
    /// The tool's own text, before the request itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lead: Vec<String>,
    /// The command that would run, or the question.
    pub body: Vec<String>,
    /// The folder and mode in which it would run, and its other arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<RenderedField>,
    /// The patterns that an "always" would remember.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<String>,
}

/// One thing beside the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RenderedField {
    /// `cwd`, `env`, or another argument's name.
    pub name: String,
    /// Its value.
    pub lines: Vec<String>,
}

impl RequestRendering {
    /// A request for permission.
    pub fn of_permission(request: &PermissionRequest) -> Self {
        let metadata = &request.metadata;
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        let none = Arguments::new();
        let arguments = metadata.get("arguments").and_then(Value::as_object);
        let arguments = arguments.unwrap_or(&none);
        let command = arguments.get("command").and_then(Value::as_str);
        // With words beside it, it is only the first of them.
        let command = command.filter(|_| !arguments.contains_key("args"));
        let whole = serde_json::to_string(arguments).ok();
        let mut fields = Vec::new();
        if let Some(handle) = text("handle").filter(|_| text("action") == Some("spawn")) {
            fields.push(field("as handle", &Value::from(handle)));
        }
        if let Some(secs) = metadata.get("keep_secs").and_then(Value::as_u64) {
            let text = format!("it outlives this runtime by up to {}", duration(secs));
            fields.push(field("kept", &Value::from(text)));
        }
        for (key, name) in [("host", "on host"), ("sandbox", "in sandbox")] {
            let value = metadata.get(key).map(|value| field(name, value));
            fields.extend(value);
        }
        let body = match command {
            Some(command) => visible_lines(command),
            None => visible_lines(&request.patterns.join("\n")),
        };
        // Some tools are known by all of their arguments.
        if command.is_some() || whole.as_deref() != request.patterns.first().map(String::as_str) {
            fields.extend(argument_fields(arguments, command.is_some()));
        }
        let mut run = format!("`{}`", visible_line(&request.permission));
        if let Some(handle) = text("handle").filter(|_| text("action") != Some("spawn")) {
            let _ = write!(run, " on handle `{}`", visible_line(handle));
        }
        let outside = metadata.get("outside") == Some(&Value::Bool(true));
        if outside {
            let tool = visible_line(text("tool").unwrap_or(&request.permission));
            run = format!("`{tool}` again, outside of its sandbox");
        }
        if metadata.get("widens") == Some(&Value::Bool(true)) {
            let text = "runs it again inside instead, and lets its programs do this from now on";
            fields.push(field("always", &Value::from(text)));
        }
        Self {
            title: match text("agent") {
                Some(agent) => {
                    let agent = visible_line(agent);
                    format!("Agent `{agent}` wants to run {run}. Run it?")
                }
                None => format!("Run {run}?"),
            },
            lead: text("display").map(visible_lines).unwrap_or_default(),
            body,
            fields,
            always: entries(request.always.iter(), |pattern| visible_line(pattern)),
        }
    }

    /// A tool's question.
    pub fn of_question(ask: &Ask) -> Self {
        let tool = visible_line(&ask.tool);
        let question = &ask.question;
        Self {
            title: match &ask.handle {
                Some(handle) => format!("{tool} ({handle}) asks:"),
                None => format!("{tool} asks:"),
            },
            lead: [&ask.content, &question.pre_amble]
                .into_iter()
                .flatten()
                .flat_map(|text| visible_within(text, CONTEXT_LINES))
                .collect(),
            body: visible_lines(&question.text),
            fields: Vec::new(),
            always: Vec::new(),
        }
    }

    /// The whole rendering as text. Only the title and the names of fields
    /// start at the beginning of a line. A question of one line follows its
    /// title.
    pub fn to_text(&self) -> String {
        if let ([], [only]) = (&*self.lead, &*self.body)
            && self.title.ends_with(':')
        {
            return format!("{} {only}", self.title);
        }
        let mut text = format!("{}\n", self.title);
        text.push_str(&self.details());
        text.truncate(text.trim_end().len());
        text
    }

    /// The text without the title; each line ends with a newline.
    pub fn details(&self) -> String {
        let mut text = String::new();
        for line in self.lead.iter().chain(&self.body) {
            push_line(&mut text, &format!("  {line}"));
        }
        let always = (!self.always.is_empty()).then(|| RenderedField {
            name: "always would remember".to_owned(),
            lines: self.always.clone(),
        });
        for field in self.fields.iter().chain(&always) {
            match &*field.lines {
                [line] => push_line(&mut text, &format!("{}: {line}", field.name)),
                lines => {
                    push_line(&mut text, &format!("{}:", field.name));
                    for line in lines {
                        push_line(&mut text, &format!("  {line}"));
                    }
                }
            }
        }
        text
    }
}

/// Makes a text visible on a single line, with hidden characters escaped.
pub fn visible_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => shown.push_str("\\n"),
            letter => push_visible(&mut shown, letter),
        }
    }
    cut_line(&collapse_spaces(&shown))
}

/// Makes a text visible line by line, with hidden characters escaped. Runs of
/// blank lines and excess lines are cut, with a note.
pub fn visible_lines(text: &str) -> Vec<String> {
    visible_within(text, LINES)
}

fn visible_within(text: &str, most: usize) -> Vec<String> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let mut shown: Vec<String> = Vec::new();
    let mut blank = 0;
    for line in text.split('\n') {
        let line = visible_line(line.strip_suffix('\r').unwrap_or(line));
        if line.trim().is_empty() {
            blank += 1;
            continue;
        }
        push_blanks(&mut shown, std::mem::take(&mut blank));
        shown.push(line);
    }
    push_blanks(&mut shown, blank);
    if shown.len() > most {
        let last = shown.split_off(shown.len() - LAST_LINES);
        let cut = shown.split_off(most - LAST_LINES - 1);
        let characters: usize = cut.iter().map(|line| line.chars().count()).sum();
        let lines = cut.len();
        shown.push(format!("[{lines} lines of {characters} characters cut]"));
        shown.extend(last);
    }
    shown
}

fn push_blanks(shown: &mut Vec<String>, blank: usize) {
    match blank {
        0 => {}
        1 => shown.push(String::new()),
        blank => shown.push(format!("[{blank} blank lines]")),
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn argument_fields(arguments: &Arguments, without_command: bool) -> Vec<RenderedField> {
    let first = ["cwd", "env", "terminal"];
    let known = first
        .iter()
        .filter_map(|&name| arguments.get_key_value(name));
    let rest = arguments.iter().filter(|(name, _)| {
        let shown = without_command && *name == "command" || *name == "action";
        !shown && !first.contains(&name.as_str())
    });
    let all: Vec<_> = known.chain(rest).collect();
    let more = all.len().saturating_sub(ENTRIES);
    let mut fields: Vec<_> = all
        .into_iter()
        .take(ENTRIES)
        .map(|(name, value)| field(name, value))
        .collect();
    if more > 0 {
        fields.push(RenderedField {
            name: "[more]".to_owned(),
            lines: vec![format!("[{more} arguments cut]")],
        });
    }
    fields
}

/// A time in the largest unit that gives a whole number.
fn duration(secs: u64) -> String {
    match secs {
        secs if secs > 0 && secs.is_multiple_of(3600) => format!("{} h", secs / 3600),
        secs if secs > 0 && secs.is_multiple_of(60) => format!("{} min", secs / 60),
        secs => format!("{secs} s"),
    }
}

fn field(name: &str, value: &Value) -> RenderedField {
    RenderedField {
        name: visible_line(name),
        lines: match value {
            Value::String(text) => visible_lines(text),
            Value::Bool(true) => vec!["yes".to_owned()],
            Value::Bool(false) => vec!["no".to_owned()],
            Value::Object(object) => entries(object.iter(), |(key, value)| match value {
                Value::String(text) => format!("{}={}", visible_line(key), visible_line(text)),
                other => format!("{}={}", visible_line(key), visible_line(&other.to_string())),
            }),
            other => vec![visible_line(&other.to_string())],
        },
    }
}

fn entries<T>(items: impl ExactSizeIterator<Item = T>, show: impl Fn(T) -> String) -> Vec<String> {
    let more = items.len().saturating_sub(ENTRIES);
    let mut shown: Vec<String> = items.take(ENTRIES).map(show).collect();
    if more > 0 {
        shown.push(format!("[{more} more cut]"));
    }
    shown
}

/// Shortens runs of spaces, which could push text out of sight or imitate the
/// start of a line.
fn collapse_spaces(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut run = 0;
    for letter in line.chars().map(Some).chain([None]) {
        if letter == Some(' ') {
            run += 1;
            continue;
        }
        match std::mem::take(&mut run) {
            spaces if spaces > SPACES => {
                // Writing into a string does not fail.
                let _ = write!(shown, "[{spaces} spaces]");
            }
            spaces => shown.extend(std::iter::repeat_n(' ', spaces)),
        }
        shown.extend(letter);
    }
    shown
}

fn cut_line(line: &str) -> String {
    let length = line.chars().count();
    if length <= WIDTH {
        return line.to_owned();
    }
    let first: String = line.chars().take(WIDTH - LAST_WIDTH).collect();
    let last: String = line.chars().skip(length - LAST_WIDTH).collect();
    let cut = length - WIDTH;
    format!("{first}[{cut} characters cut]{last}")
}

fn push_visible(shown: &mut String, letter: char) {
    match letter {
        '\t' => shown.push_str("    "),
        letter if is_hidden(letter) => shown.extend(letter.escape_unicode()),
        letter => shown.push(letter),
    }
}

/// Whether a character controls a terminal, reorders text, is invisible, or
/// looks like an ordinary space.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || letter.is_whitespace() && letter != ' '
        || matches!(
            letter,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
#[path = "rendering_tests.rs"]
mod tests;
