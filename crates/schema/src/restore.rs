//! Converts a call's arguments back from a dialect.
//!
//! Start at [`restore()`]. It reverses the conversions of `strict` and
//! `gemini`, using the same [`SchemaForm`]. It never fails: invalid values are
//! left unchanged, and the validation of the call reports them.

use serde_json::{Map, Value};
use windlass_protocol::{Arguments, ToolShape};

use crate::Dialect;
use crate::form::{SchemaForm, admits_null, form, is_untyped, kind_of, kinds, required};
use crate::reference::inline;

/// Undoes in a call's arguments what the dialect's schema asked for.
///
/// JSON text becomes the value it stands for, where the parameter has a type
/// that the dialect could not say; text that is no JSON stays a string. Under
/// [`Dialect::OpenAiStrict`] a null inside an object counts as absent unless
/// its schema admits null. The arguments themselves are still to be read by
/// `windlass_protocol::parse`, which does the same for their own nulls. In
/// other dialects nothing changes.
pub fn restore(shape: &ToolShape, dialect: Dialect, mut arguments: Arguments) -> Arguments {
    let way = match dialect {
        Dialect::OpenAiStrict => Way {
            is_text: is_free,
            nulls_are_absent: true,
        },
        Dialect::GeminiLegacy => Way {
            is_text: is_free,
            nulls_are_absent: false,
        },
        Dialect::Gemini => Way {
            is_text: is_untyped,
            nulls_are_absent: false,
        },
        Dialect::JsonSchema
        | Dialect::Anthropic
        | Dialect::OpenAi
        | Dialect::Mcp
        | Dialect::Ollama
        | Dialect::LlamaCpp => return arguments,
    };
    for (name, value) in &mut arguments {
        if let Some(schema) = shape.parameters.properties.get(name) {
            way.back(&inline(schema), value);
        }
    }
    arguments
}

/// The conversions of a dialect.
struct Way {
    /// A value of this schema travels as JSON text.
    is_text: fn(&Value) -> bool,
    nulls_are_absent: bool,
}

fn is_free(schema: &Value) -> bool {
    form(schema) == SchemaForm::Free
}

impl Way {
    fn back(&self, schema: &Value, value: &mut Value) {
        if (self.is_text)(schema) {
            read_text(schema, value);
            return;
        }
        match (form(schema), &mut *value) {
            (SchemaForm::Object, Value::Object(object)) => self.back_in_object(schema, object),
            (SchemaForm::List, Value::Array(items)) => {
                for item in items {
                    self.back(&schema["items"], item);
                }
            }
            (SchemaForm::AnyOf(alternatives), _) => {
                if let Some(chosen) = self.choose(&alternatives, value) {
                    self.back(chosen, value);
                }
            }
            _ => {}
        }
    }

    fn back_in_object(&self, schema: &Value, object: &mut Map<String, Value>) {
        if self.nulls_are_absent {
            object.retain(|name, value| {
                let property = &schema["properties"][name];
                !value.is_null()
                    || property.is_null()
                    || required(schema).any(|required| required == name)
                    || admits_null(property) && !(self.is_text)(property)
            });
        }
        for (name, value) in object {
            if let Some(property) = schema["properties"].get(name) {
                self.back(property, value);
            }
        }
    }

    /// The alternative under which the value was written, judged by its type. A
    /// string that some alternative allows is not parsed as JSON.
    fn choose<'a>(&self, alternatives: &'a [Value], value: &Value) -> Option<&'a Value> {
        let fits = |alternative: &&Value| match form(alternative) {
            SchemaForm::Object => value
                .as_object()
                .is_some_and(|object| fits_object(alternative, object)),
            SchemaForm::List => value.is_array(),
            SchemaForm::Scalar => fits_scalar(alternative, value),
            SchemaForm::AnyOf(inner) => self.choose(&inner, value).is_some(),
            SchemaForm::Free => false,
        };
        alternatives
            .iter()
            .find(fits)
            .or_else(|| alternatives.iter().find(|schema| (self.is_text)(schema)))
    }
}

fn fits_object(schema: &Value, object: &Map<String, Value>) -> bool {
    let known = |name: &String| schema["properties"].get(name).is_some();
    let tag_fits = |(name, value): (&String, &Value)| {
        let property = &schema["properties"][name];
        form(property) != SchemaForm::Scalar || value.is_null() || fits_scalar(property, value)
    };
    object.keys().all(known)
        && required(schema).all(|name| object.contains_key(name))
        && object.iter().all(tag_fits)
}

fn fits_scalar(schema: &Value, value: &Value) -> bool {
    let kind = kind_of(value);
    let kind_fits = kinds(schema)
        .into_iter()
        .any(|known| known == kind || known == "number" && kind == "integer");
    let listed = schema.get("const").is_none_or(|only| only == value)
        && schema["enum"]
            .as_array()
            .is_none_or(|options| options.contains(value));
    kind_fits && listed
}

fn read_text(schema: &Value, value: &mut Value) {
    let Value::String(text) = value else { return };
    let Ok(read) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let kinds = kinds(schema);
    if kinds.is_empty() || kinds.contains(&kind_of(&read)) {
        *value = read;
    }
}

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
