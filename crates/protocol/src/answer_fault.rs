//! Detects typing errors in the protocol answers that tool programs print.
//!
//! Serde ignores an unknown field, so a misspelt optional field would have no
//! effect, and an object with a misspelt type would count as plain text. Both
//! are reported with the name that was probably meant.

use serde_json::{Map, Value};

/// Minimum similarity for one word to count as a misspelling of another.
const LIKE: f64 = 0.7;

/// The types of answers, each with its fields.
const TYPES: [(&str, &[&str]); 8] = [
    ("running", &["content"]),
    ("spawned", &["content"]),
    ("waiting", &["content", "question"]),
    ("stopped", &["result"]),
    ("success", &["content"]),
    ("error", &["message", "trace", "transient"]),
    ("needs_input", &["question"]),
    ("exec", &["program", "args", "io", "cwd", "env"]),
];

const QUESTION: &[&str] = &[
    "id",
    "text",
    "pre_amble",
    "answer_type",
    "default",
    "secret",
];
const RESULT: &[&str] = &["Ok", "Err", "ok", "err"];
const TOOL_ERROR: &[&str] = &["message", "trace", "transient"];

/// An answer that was meant as protocol and cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AnswerFault {
    /// The type is like one of the protocol.
    #[error("its `type` is `{got}`; did you mean `{meant}`?")]
    Type {
        /// The type as it is written.
        got: String,
        /// The type that was probably meant.
        meant: &'static str,
    },
    /// A field is like one of its type.
    #[error("it has a field `{got}`; did you mean `{meant}`?")]
    Field {
        /// The field as it is written.
        got: String,
        /// The field that was probably meant.
        meant: &'static str,
    },
    /// A required field is missing, or a field has the wrong type.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
}

/// The type is one of the protocol.
pub(crate) fn is_type(kind: &str) -> bool {
    TYPES.iter().any(|(name, _)| *name == kind)
}

/// Returns the probable type if `kind` is misspelt and every other field
/// belongs to that type.
pub(crate) fn type_slip(kind: &str, object: &Map<String, Value>) -> Option<AnswerFault> {
    let names = TYPES.iter().map(|(name, _)| *name);
    let meant = meant(kind, names)?;
    let fields = fields(meant);
    let is_ours = |field: &String| {
        field == "type"
            || fields.contains(&field.as_str())
            || self::meant(field, fields.iter().copied()).is_some()
    };
    object.keys().all(is_ours).then(|| AnswerFault::Type {
        got: kind.to_owned(),
        meant,
    })
}

/// Returns the first misspelt field of the object or of its nested objects.
pub(crate) fn field_slip(kind: &str, object: &Map<String, Value>) -> Option<AnswerFault> {
    let inner = |holder: &Map<String, Value>, field: &str, known| {
        slip_in(holder.get(field)?.as_object()?, known)
    };
    slip_in_answer(kind, object)
        .or_else(|| inner(object, "question", QUESTION))
        .or_else(|| {
            let result = object.get("result")?.as_object()?;
            slip_in(result, RESULT)
                .or_else(|| inner(result, "Err", TOOL_ERROR))
                .or_else(|| inner(result, "err", TOOL_ERROR))
        })
}

fn slip_in_answer(kind: &str, object: &Map<String, Value>) -> Option<AnswerFault> {
    let mut fields: Vec<&'static str> = fields(kind).to_vec();
    fields.push("type");
    slip_in(object, &fields)
}

/// An unknown field is a misspelling only if the field it resembles is absent.
fn slip_in(object: &Map<String, Value>, known: &[&'static str]) -> Option<AnswerFault> {
    let mut unknown = object
        .keys()
        .filter(|field| !known.contains(&field.as_str()));
    unknown.find_map(|field| {
        let missing = known
            .iter()
            .copied()
            .filter(|name| !object.contains_key(*name));
        meant(field, missing).map(|meant| AnswerFault::Field {
            got: field.clone(),
            meant,
        })
    })
}

fn fields(kind: &str) -> &'static [&'static str] {
    let found = TYPES.iter().find(|(name, _)| *name == kind);
    found.map_or(&[], |(_, fields)| fields)
}

/// The candidate nearest to a misspelt word.
pub(crate) fn meant<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
    let word = plain(word);
    candidates
        .map(|candidate| {
            let likeness = strsim::normalized_damerau_levenshtein(&word, &plain(candidate));
            (likeness, candidate)
        })
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}
