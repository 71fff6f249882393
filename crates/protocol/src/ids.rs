//! Identifiers, each checked where it is made.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A handle's id, chosen by the assistant: 1 to 64 of `A-Z a-z 0-9 _ . -`.
///
/// Cloning is cheap.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[A-Za-z0-9_.-]{1,64}$"))]
pub struct HandleId(Arc<str>);

/// A string that cannot be a handle's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be a handle ID; use 1 to 64 of A-Z a-z 0-9 _ . -", shorten(.0))]
pub struct InvalidHandleId(pub String);

impl HandleId {
    /// Checks the characters and the length.
    pub fn new(id: &str) -> Result<Self, InvalidHandleId> {
        let fits = (1..=64).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
        if fits {
            Ok(Self(id.into()))
        } else {
            Err(InvalidHandleId(id.to_owned()))
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HandleId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Borrow<str> for HandleId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for HandleId {
    type Error = InvalidHandleId;

    fn try_from(id: String) -> Result<Self, Self::Error> {
        Self::new(&id)
    }
}

impl From<HandleId> for String {
    fn from(id: HandleId) -> Self {
        (*id.0).to_owned()
    }
}

/// Cuts a string to at most 40 characters.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// An id without the prefix of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an ID of this kind; it must begin with `{prefix}`", shorten(.id))]
pub struct InvalidId {
    /// The given id.
    pub id: String,
    /// The required prefix.
    pub prefix: &'static str,
}

macro_rules! prefixed_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $pattern:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String", extend("pattern" = $pattern))]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks the prefix.
            pub fn new(id: impl Into<String>) -> Result<Self, InvalidId> {
                let id = id.into();
                if id.starts_with($prefix) {
                    Ok(Self(id.into()))
                } else {
                    Err(InvalidId { id, prefix: $prefix })
                }
            }

            /// The prefix followed by `_` and `rest`.
            pub fn from_suffix(rest: &str) -> Self {
                Self(format!(concat!($prefix, "_{}"), rest).into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(id: String) -> Result<Self, Self::Error> {
                Self::new(id)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                (*id.0).to_owned()
            }
        }
    };
}

prefixed_id!(
    /// Names a permission request; begins with `per`.
    PermissionId,
    "per",
    "^per"
);
prefixed_id!(
    /// Names a session; begins with `ses`.
    SessionId,
    "ses",
    "^ses"
);
prefixed_id!(
    /// Names a message of a session; begins with `msg`.
    MessageId,
    "msg",
    "^msg"
);
prefixed_id!(
    /// Names a part of a message; begins with `prt`.
    PartId,
    "prt",
    "^prt"
);

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
