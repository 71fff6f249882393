//! Turns a server's elicitation into questions, one for each field of its form.
//!
//! Start at [`ElicitationForm::of`]. A form is asked field by field, because a
//! handle has one open question at a time. The form accompanies each question,
//! for front ends that can show it whole. A form without fields, and a URL to
//! visit, become a yes-or-no question; no declines.

use rmcp::model::{
    ElicitRequestParams, ElicitationSchema, EnumSchema, MultiSelectEnumSchema,
    PrimitiveSchemaDefinition, SingleSelectEnumSchema,
};
use serde_json::{Map, Value, json};
use windlass_protocol::{AnswerType, Question, QuestionForm};

/// An elicitation of a server.
#[derive(Debug)]
pub(crate) enum ElicitationForm {
    /// Only whether to go on.
    Consent(Question),
    /// The value of each field.
    Fields(FormFields),
}

/// The fields of a form, and the form as the server wrote it.
#[derive(Debug)]
pub(crate) struct FormFields {
    pub(crate) fields: Vec<Field>,
    message: String,
    schema: Value,
}

/// One field of a form.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) question: Question,
    required: bool,
    kind: FieldKind,
}

#[derive(Debug)]
enum FieldKind {
    Boolean,
    Text,
    Number,
    Integer,
    /// Pairs of label and value.
    One(Vec<(String, String)>),
    Several(Vec<(String, String)>),
}

impl ElicitationForm {
    /// The questions of an elicitation; `None` for an unknown kind.
    pub(crate) fn of(request: ElicitRequestParams) -> Option<Self> {
        match request {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } if requested_schema.properties.is_empty() => {
                Some(Self::Consent(consent("confirm", message, None)))
            }
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => Some(Self::Fields(FormFields {
                schema: serde_json::to_value(&requested_schema).unwrap_or_default(),
                fields: fields(&message, requested_schema),
                message,
            })),
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                let text = format!("{message} Open {url} and answer yes when you have done it.");
                Some(Self::Consent(consent("url", text, Some(url))))
            }
            _ => None,
        }
    }
}

impl FormFields {
    /// The form without its first `filled` fields.
    pub(crate) fn rest(&self, filled: usize) -> QuestionForm {
        let mut schema = self.schema.clone();
        for field in &self.fields[..filled] {
            if let Some(properties) = schema["properties"].as_object_mut() {
                properties.remove(&field.name);
            }
            if let Some(required) = schema["required"].as_array_mut() {
                required.retain(|name| *name != json!(field.name));
            }
        }
        QuestionForm {
            message: self.message.clone(),
            schema,
        }
    }

    /// The values of all fields after the first ones, from an object with all
    /// of them.
    pub(crate) fn values(
        &self,
        filled: usize,
        answer: &Map<String, Value>,
    ) -> Result<Map<String, Value>, FieldMisfit> {
        let mut values = Map::new();
        for field in &self.fields[filled..] {
            let given = answer.get(&field.name).filter(|value| !value.is_null());
            let value = match given {
                Some(given) => field.value(given)?,
                None if field.required => return Err(FieldMisfit::Missing(field.name.clone())),
                None => None,
            };
            if let Some(value) = value {
                values.insert(field.name.clone(), value);
            }
        }
        Ok(values)
    }
}

fn consent(id: &str, text: String, pre_amble: Option<String>) -> Question {
    Question {
        id: id.to_owned(),
        text,
        pre_amble,
        answer_type: AnswerType::Boolean,
        default: None,
        secret: false,
    }
}

fn fields(message: &str, schema: ElicitationSchema) -> Vec<Field> {
    let required = schema.required.unwrap_or_default();
    let mut properties: Vec<_> = schema.properties.into_iter().collect();
    if let Some(order) = schema.property_order {
        let place = |name: &String| order.iter().position(|known| known == name);
        properties.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    }
    let alone = properties.len() == 1;
    properties
        .into_iter()
        .map(|(name, schema)| {
            let is_required = required.contains(&name);
            field(message, alone, name, is_required, schema)
        })
        .collect()
}

fn field(
    message: &str,
    alone: bool,
    name: String,
    required: bool,
    schema: PrimitiveSchemaDefinition,
) -> Field {
    // Whatever the kind, these three have one meaning.
    let json = serde_json::to_value(&schema).unwrap_or_default();
    let word = |key: &str| json[key].as_str();
    let label = word("title").unwrap_or(&name);
    let label = match word("description") {
        Some(description) => format!("{label}: {description}"),
        None => label.to_owned(),
    };
    let text = if alone && word("description").is_none() {
        message.to_owned()
    } else {
        format!("{message} ({label})")
    };
    let kind = kind(schema);
    let optional = (!required).then(|| match kind {
        FieldKind::Boolean | FieldKind::One(_) => None,
        _ => Some(json!("")),
    });
    let default = Some(&json["default"]).filter(|default| !default.is_null());
    let default = default.map(|default| kind.shown(default));
    Field {
        question: Question {
            id: name.clone(),
            text,
            pre_amble: None,
            answer_type: kind.answer_type(),
            default: default.or(optional.flatten()),
            secret: false,
        },
        name,
        required,
        kind,
    }
}

fn kind(schema: PrimitiveSchemaDefinition) -> FieldKind {
    match schema {
        PrimitiveSchemaDefinition::Boolean(_) => FieldKind::Boolean,
        PrimitiveSchemaDefinition::Number(_) => FieldKind::Number,
        PrimitiveSchemaDefinition::Integer(_) => FieldKind::Integer,
        PrimitiveSchemaDefinition::Enum(choice) => choices(choice),
        _ => FieldKind::Text,
    }
}

fn choices(choice: EnumSchema) -> FieldKind {
    let plain = |values: Vec<String>| -> Vec<(String, String)> {
        let values = values.into_iter();
        values.map(|value| (value.clone(), value)).collect()
    };
    match choice {
        EnumSchema::Legacy(legacy) => {
            let titles = legacy
                .enum_names
                .filter(|titles| titles.len() == legacy.enum_.len());
            match titles {
                Some(titles) => FieldKind::One(titles.into_iter().zip(legacy.enum_).collect()),
                None => FieldKind::One(plain(legacy.enum_)),
            }
        }
        EnumSchema::Single(SingleSelectEnumSchema::Untitled(one)) => {
            FieldKind::One(plain(one.enum_))
        }
        EnumSchema::Single(SingleSelectEnumSchema::Titled(one)) => {
            let options = one.one_of.into_iter();
            FieldKind::One(options.map(|it| (it.title, it.const_)).collect())
        }
        EnumSchema::Multi(MultiSelectEnumSchema::Untitled(several)) => {
            FieldKind::Several(plain(several.items.enum_))
        }
        EnumSchema::Multi(MultiSelectEnumSchema::Titled(several)) => {
            let options = several.items.any_of.into_iter();
            FieldKind::Several(options.map(|it| (it.title, it.const_)).collect())
        }
        _ => FieldKind::Text,
    }
}

impl FieldKind {
    fn answer_type(&self) -> AnswerType {
        match self {
            Self::Boolean => AnswerType::Boolean,
            Self::One(options) => AnswerType::Select {
                options: options.iter().map(|(shown, _)| shown.clone()).collect(),
            },
            _ => AnswerType::Text,
        }
    }

    /// Converts a value of the form to an answer of its question.
    fn shown(&self, value: &Value) -> Value {
        let title = |options: &[(String, String)], value: &Value| {
            let known = options.iter().find(|(_, meant)| *value == json!(meant));
            known.map(|(shown, _)| shown.clone())
        };
        match (self, value) {
            (Self::One(options), value) => {
                title(options, value).map_or_else(|| value.clone(), Value::String)
            }
            (Self::Several(options), Value::Array(values)) => {
                let shown = values.iter().filter_map(|value| title(options, value));
                json!(shown.collect::<Vec<_>>().join(", "))
            }
            (Self::Number | Self::Integer, value) => json!(value.to_string()),
            _ => value.clone(),
        }
    }
}

impl Field {
    /// Converts an answer to the form's value; `None` for an omitted field.
    pub(crate) fn value(&self, answer: &Value) -> Result<Option<Value>, FieldMisfit> {
        let text = answer.as_str().map(str::trim);
        if text == Some("") && !self.required {
            return Ok(None);
        }
        match (&self.kind, text) {
            (FieldKind::Number, Some(text)) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(json!(number))),
                _ => Err(FieldMisfit::Number(text.to_owned())),
            },
            (FieldKind::Integer, Some(text)) => match text.parse::<i64>() {
                Ok(number) => Ok(Some(json!(number))),
                Err(_) => Err(FieldMisfit::Integer(text.to_owned())),
            },
            (FieldKind::One(options), Some(text)) => meant(options, text).map(Some),
            (FieldKind::Several(options), Some(text)) => {
                let words = text.split(',').map(str::trim);
                let words = words.filter(|word| !word.is_empty());
                let values: Result<Vec<_>, _> = words.map(|word| meant(options, word)).collect();
                values.map(|values| Some(Value::Array(values)))
            }
            _ => Ok(Some(answer.clone())),
        }
    }
}

fn meant(options: &[(String, String)], word: &str) -> Result<Value, FieldMisfit> {
    let known = options
        .iter()
        .find(|(shown, meant)| shown == word || meant == word);
    known
        .map(|(_, meant)| json!(meant))
        .ok_or_else(|| FieldMisfit::Option {
            word: word.to_owned(),
            options: options.iter().map(|(shown, _)| shown.clone()).collect(),
        })
}

/// An answer that is not valid for its field. The message is shown to whoever
/// answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldMisfit {
    /// The field must be filled in.
    #[error("the field `{0}` is missing")]
    Missing(String),
    /// The field requires a number.
    #[error("\"{0}\" is not a number")]
    Number(String),
    /// The field requires an integer.
    #[error("\"{0}\" is not a whole number")]
    Integer(String),
    /// The field requires one of its options.
    #[error("\"{word}\" is not one of: {}", .options.join(", "))]
    Option {
        word: String,
        /// The options, as they are shown.
        options: Vec<String>,
    },
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
