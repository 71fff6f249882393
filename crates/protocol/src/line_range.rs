//! Lines of an output, by their numbers.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Consecutive lines of an output, counted from 1: `"4-98"`, or `"7"` for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    first: u64,
    last: u64,
}

/// A text that is no range of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("lines are numbered from 1; give a range such as \"4-98\"")]
pub struct InvalidLineRange;

impl LineRange {
    /// The lines from `first` to `last`, which counts too.
    pub fn new(first: u64, last: u64) -> Result<Self, InvalidLineRange> {
        if first == 0 || last < first {
            return Err(InvalidLineRange);
        }
        Ok(Self { first, last })
    }

    /// The numbers.
    pub fn numbers(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }
}

impl FromStr for LineRange {
    type Err = InvalidLineRange;

    /// Takes the dash of a marker (`4–98`) as well as a hyphen.
    fn from_str(text: &str) -> Result<Self, InvalidLineRange> {
        let number = |text: &str| text.trim().parse().map_err(|_| InvalidLineRange);
        match text.split_once(['-', '–']) {
            Some((first, last)) => Self::new(number(first)?, number(last)?),
            None => number(text).and_then(|line| Self::new(line, line)),
        }
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { first, last } if first == last => write!(formatter, "{first}"),
            Self { first, last } => write!(formatter, "{first}-{last}"),
        }
    }
}

impl Serialize for LineRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LineRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Line(u64),
            Lines(String),
        }
        let range = match Written::deserialize(deserializer)? {
            Written::Line(line) => Self::new(line, line),
            Written::Lines(lines) => lines.parse(),
        };
        range.map_err(de::Error::custom)
    }
}

impl JsonSchema for LineRange {
    fn schema_name() -> Cow<'static, str> {
        "LineRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Consecutive lines of an output, counted from 1: `\"4-98\"`, or `\"7\"` for one.",
            "type": "string",
            "pattern": "^[0-9]+([-–][0-9]+)?$"
        })
    }
}

#[cfg(test)]
#[path = "line_range_tests.rs"]
mod tests;
