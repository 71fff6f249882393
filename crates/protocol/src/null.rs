//! Optional fields that clients send as `null`.

use serde::{Deserialize, Deserializer};

/// Reads an optional field and treats `null` as absent: many clients write
/// every field that they know.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
#[path = "null_tests.rs"]
mod tests;
