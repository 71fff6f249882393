//! A stream in segments: data to send, and pauses.

use serde_json::Value;

use super::script::Fault;

/// A piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// One event, with its terminator.
    Event(String),
    /// Wait until this is released.
    Hold(String),
    /// Wait this many milliseconds.
    Pause(u64),
}

/// Collects the events of a stream and applies faults.
pub(crate) struct Segments {
    list: Vec<Segment>,
    twice: bool,
    noise: Option<String>,
}

impl Segments {
    /// `noise` is an event that no reader knows.
    pub(crate) fn new(fault: Option<&Fault>, noise: impl Into<String>) -> Self {
        Self {
            list: Vec::new(),
            twice: fault == Some(&Fault::Duplicate),
            noise: (fault == Some(&Fault::Noise)).then(|| noise.into()),
        }
    }

    /// An event of server-sent events, under its own name.
    pub(crate) fn named(&mut self, name: &str, mut data: Value) {
        if self.noise.is_some() {
            data["unheard_of"] = Value::from("field");
        }
        self.raw(format!("event: {name}\ndata: {data}\n\n"));
    }

    /// An event of server-sent events without a name.
    pub(crate) fn data(&mut self, mut data: Value) {
        if self.noise.is_some() {
            data["unheard_of"] = Value::from("field");
        }
        self.raw(format!("data: {data}\n\n"));
    }

    /// Anything, unchanged.
    pub(crate) fn raw(&mut self, text: String) {
        if let Some(noise) = &self.noise {
            self.list.push(Segment::Event(noise.clone()));
        }
        if self.twice {
            self.list.push(Segment::Event(text.clone()));
        }
        self.list.push(Segment::Event(text));
    }

    pub(crate) fn hold(&mut self, name: &str) {
        self.list.push(Segment::Hold(name.to_owned()));
    }

    pub(crate) fn pause(&mut self, millis: u64) {
        self.list.push(Segment::Pause(millis));
    }

    pub(crate) fn finish(self) -> Vec<Segment> {
        self.list
    }
}

/// Splits a text into words, as a model streams it.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Splits JSON into a few characters each, as a model streams it.
pub(crate) fn crumbs(arguments: &Value) -> Vec<String> {
    let text = arguments.to_string();
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(9)
        .map(|crumb| crumb.iter().collect())
        .collect()
}

/// The arguments as an object; empty if the script omitted them.
pub(crate) fn object(arguments: &Value) -> Value {
    match arguments {
        Value::Null => Value::Object(serde_json::Map::new()),
        other => other.clone(),
    }
}
