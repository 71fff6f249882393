//! The dialect of Ollama, without the keywords that it would drop.

use serde_json::Value;

use crate::subschema::{const_to_enum, map_subschemas};

/// A parameter without `default` and `additionalProperties`, and with an enum
/// of one value instead of `const`.
pub(crate) fn plain(schema: Value) -> Value {
    let mut schema = map_subschemas(schema, &mut plain);
    if let Value::Object(map) = &mut schema {
        map.shift_remove("default");
        map.shift_remove("additionalProperties");
        const_to_enum(map);
    }
    schema
}

#[cfg(test)]
#[path = "ollama_tests.rs"]
mod tests;
