//! Tools of many shapes, with values that fit their parameters.

use indexmap::IndexMap;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use windlass_protocol::{ActionSet, HandleAction, Parameters, ToolShape};
use windlass_schema::Dialect;

/// What a parameter takes.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Text,
    Whole,
    Fraction,
    Flag,
    /// One of these strings; the type is said or not.
    Choice(Vec<String>, bool),
    Numbers(Vec<i64>),
    Fixed(String),
    Nullable,
    List(Box<Kind>),
    Object(Vec<Field>),
    /// A boolean or an object.
    Either(Vec<Field>),
    /// Two objects, told apart by `tag`.
    Tagged(Vec<Field>, Vec<Field>),
    /// The same under `$defs`, with a description beside the reference.
    Referenced(Box<Kind>),
    /// An object about which nothing is known.
    FreeObject,
    Anything,
}

/// A parameter, or a property of an object.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

/// A tool.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) fields: Vec<Field>,
    pub(crate) shape: ToolShape,
}

/// Any tool.
pub(crate) fn samples() -> impl Strategy<Value = Sample> {
    let actions = subsequence(HandleAction::ALL.to_vec(), 0..=4);
    (fields(0..5), actions, any::<bool>(), any::<bool>()).prop_map(
        |(fields, actions, one_shot, typing)| {
            let shape = ToolShape {
                parameters: Parameters {
                    properties: fields
                        .iter()
                        .map(|field| (field.name.clone(), field.kind.schema()))
                        .collect::<IndexMap<_, _>>(),
                    required: fields
                        .iter()
                        .filter(|field| field.required)
                        .map(|field| field.name.clone())
                        .collect(),
                    ..Parameters::default()
                },
                actions: actions.into_iter().collect::<ActionSet>(),
                one_shot,
                typing,
                lines: false,
                keep: false,
            };
            Sample { fields, shape }
        },
    )
}

fn fields(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Field>> {
    // Some are keywords of JSON Schema, which must not be mistaken for them.
    const NAMES: [&str; 10] = [
        "command",
        "args",
        "path",
        "const",
        "default",
        "type",
        "required",
        "properties",
        "items",
        "enum",
    ];
    (
        subsequence(NAMES.to_vec(), count.clone()),
        vec((kinds(), any::<bool>()), count),
    )
        .prop_map(|(names, kinds)| {
            names
                .into_iter()
                .zip(kinds)
                .map(|(name, (kind, required))| Field {
                    name: name.to_owned(),
                    kind,
                    required,
                })
                .collect()
        })
}

fn kinds() -> BoxedStrategy<Kind> {
    let words = || subsequence(vec!["stage", "commit", "rebase", "log"], 1..=4);
    let leaf = prop_oneof![
        Just(Kind::Text),
        Just(Kind::Whole),
        Just(Kind::Fraction),
        Just(Kind::Flag),
        (words(), any::<bool>()).prop_map(|(words, typed)| {
            Kind::Choice(words.into_iter().map(str::to_owned).collect(), typed)
        }),
        subsequence(vec![1_i64, 2, 5, 8], 1..=4).prop_map(Kind::Numbers),
        select(vec!["v1", "v2"]).prop_map(|text| Kind::Fixed(text.to_owned())),
        Just(Kind::Nullable),
        Just(Kind::FreeObject),
        Just(Kind::Anything),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let fields = || {
            let names = subsequence(vec!["type", "const", "depth", "default"], 1..=3);
            (names, vec((inner.clone(), any::<bool>()), 3)).prop_map(|(names, kinds)| {
                names
                    .into_iter()
                    .zip(kinds)
                    .map(|(name, (kind, required))| Field {
                        name: name.to_owned(),
                        kind,
                        required,
                    })
                    .collect::<Vec<_>>()
            })
        };
        prop_oneof![
            inner.clone().prop_map(|kind| Kind::List(Box::new(kind))),
            inner
                .clone()
                .prop_map(|kind| Kind::Referenced(Box::new(kind))),
            fields().prop_map(Kind::Object),
            fields().prop_map(Kind::Either),
            (fields(), fields()).prop_map(|(one, other)| Kind::Tagged(one, other)),
        ]
    })
    .boxed()
}

impl Kind {
    /// The schema, as an author of a tool would write it.
    pub(crate) fn schema(&self) -> Value {
        match self {
            Self::Text => json!({ "type": "string", "default": "x", "description": "A text" }),
            Self::Whole => json!({ "type": "integer", "minimum": -9, "maximum": 9 }),
            Self::Fraction => json!({ "type": "number" }),
            Self::Flag => json!({ "type": "boolean", "default": false }),
            Self::Choice(words, true) => json!({ "type": "string", "enum": words }),
            Self::Choice(words, false) => json!({ "enum": words }),
            Self::Numbers(numbers) => json!({ "type": "integer", "enum": numbers }),
            Self::Fixed(text) => json!({ "const": text }),
            Self::Nullable => json!({ "type": ["string", "null"] }),
            Self::List(kind) => json!({ "type": "array", "items": kind.nested_schema() }),
            Self::Object(fields) => object_schema(fields, None),
            Self::Either(fields) => {
                json!({ "anyOf": [{ "type": "boolean" }, object_schema(fields, None)] })
            }
            Self::Tagged(one, other) => json!({
                "description": "Either",
                "oneOf": [object_schema(one, Some("one")), object_schema(other, Some("other"))]
            }),
            Self::Referenced(kind) => json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$ref": "#/$defs/Kind",
                "description": "Elsewhere",
                "$defs": { "Kind": kind.nested_schema() }
            }),
            Self::FreeObject => json!({ "type": "object", "additionalProperties": true }),
            Self::Anything => json!({}),
        }
    }

    /// A reference is only written at the root of a parameter.
    fn nested_schema(&self) -> Value {
        match self {
            Self::Referenced(kind) => kind.nested_schema(),
            kind => kind.schema(),
        }
    }

    /// Values that fit the schema.
    pub(crate) fn values(&self) -> BoxedStrategy<Value> {
        match self {
            Self::Text => "[a-z\"{1 ]{0,8}".prop_map(Value::from).boxed(),
            Self::Whole => (-9_i64..=9).prop_map(Value::from).boxed(),
            Self::Fraction => (-9_i32..=9)
                .prop_map(|quarters| json!(f64::from(quarters) / 4.0))
                .boxed(),
            Self::Flag => any::<bool>().prop_map(Value::from).boxed(),
            Self::Choice(words, _) => select(words.clone()).prop_map(Value::from).boxed(),
            Self::Numbers(numbers) => select(numbers.clone()).prop_map(Value::from).boxed(),
            Self::Fixed(text) => Just(json!(text)).boxed(),
            Self::Nullable => select(vec![json!("text"), Value::Null]).boxed(),
            Self::List(kind) => vec(kind.values(), 0..3).prop_map(Value::from).boxed(),
            Self::Object(fields) => object_values(fields, None),
            Self::Either(fields) => prop_oneof![
                any::<bool>().prop_map(Value::from),
                object_values(fields, None)
            ]
            .boxed(),
            Self::Tagged(one, other) => prop_oneof![
                object_values(one, Some("one")),
                object_values(other, Some("other"))
            ]
            .boxed(),
            Self::Referenced(kind) => kind.values(),
            Self::FreeObject => {
                select(vec![json!({}), json!({ "a": 1, "b": [null, "c"] })]).boxed()
            }
            Self::Anything => anything(),
        }
    }

    /// The value as a model would write it under the dialect's schema.
    pub(crate) fn encode(&self, dialect: Dialect, value: &Value) -> Value {
        let as_text = match self {
            Self::Anything => matches!(
                dialect,
                Dialect::OpenAiStrict | Dialect::Gemini | Dialect::GeminiLegacy
            ),
            Self::FreeObject => {
                matches!(dialect, Dialect::OpenAiStrict | Dialect::GeminiLegacy)
            }
            _ => false,
        };
        match (self, value) {
            _ if as_text => json!(value.to_string()),
            (Self::List(kind), Value::Array(items)) => items
                .iter()
                .map(|item| kind.encode(dialect, item))
                .collect(),
            (Self::Object(fields) | Self::Either(fields), Value::Object(object)) => {
                encode_object(fields, dialect, object)
            }
            (Self::Tagged(one, other), Value::Object(object)) => {
                let fields = if object["tag"] == "one" { one } else { other };
                encode_object(fields, dialect, object)
            }
            (Self::Referenced(kind), value) => kind.encode(dialect, value),
            _ => value.clone(),
        }
    }

    /// Null is a value of its own here, so it cannot stand for absence.
    pub(crate) fn admits_null(&self) -> bool {
        match self {
            Self::Nullable => true,
            Self::Referenced(kind) => kind.admits_null(),
            _ => false,
        }
    }
}

/// Any JSON value, null too.
pub(crate) fn anything() -> BoxedStrategy<Value> {
    select(vec![
        Value::Null,
        json!(true),
        json!(5),
        json!("5"),
        json!("plain"),
        json!("\"quoted\""),
        json!([1, null]),
        json!({ "type": "x", "b": null }),
    ])
    .boxed()
}

fn object_schema(fields: &[Field], tag: Option<&str>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some(tag) = tag {
        properties.insert("tag".into(), json!({ "const": tag }));
        required.push("tag");
    }
    for field in fields {
        properties.insert(field.name.clone(), field.kind.nested_schema());
        if field.required {
            required.push(&field.name);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false
    })
}

fn object_values(fields: &[Field], tag: Option<&'static str>) -> BoxedStrategy<Value> {
    field_values(fields)
        .prop_map(move |mut object| {
            if let Some(tag) = tag {
                object.insert("tag".into(), json!(tag));
            }
            Value::Object(object)
        })
        .boxed()
}

/// Values for the required fields and some of the others.
pub(crate) fn field_values(fields: &[Field]) -> impl Strategy<Value = Map<String, Value>> + use<> {
    let values: Vec<_> = fields
        .iter()
        .map(|field| {
            let name = field.name.clone();
            let always = field.required || field.kind.admits_null();
            (any::<bool>(), field.kind.values())
                .prop_map(move |(given, value)| (given || always).then(|| (name.clone(), value)))
        })
        .collect();
    values.prop_map(|values| values.into_iter().flatten().collect())
}

fn encode_object(fields: &[Field], dialect: Dialect, object: &Map<String, Value>) -> Value {
    let mut encoded = object.clone();
    for field in fields {
        match object.get(&field.name) {
            Some(value) => {
                encoded.insert(field.name.clone(), field.kind.encode(dialect, value));
            }
            None if dialect == Dialect::OpenAiStrict => {
                encoded.insert(field.name.clone(), Value::Null);
            }
            None => {}
        }
    }
    Value::Object(encoded)
}
