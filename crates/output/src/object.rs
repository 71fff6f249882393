//! Detects whether the bytes so far can be exactly one JSON object.
//!
//! Only braces, brackets and strings are tracked, which is enough to find the
//! end of the object. The caller's parser validates the JSON.

/// The maximum number of bytes held.
pub(super) const OBJECT_LIMIT: usize = 1 << 20;

/// Standard output, held while it may be one JSON object.
#[derive(Debug, Default)]
pub(super) struct HeldObject {
    bytes: Vec<u8>,
    place: ObjectPosition,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ObjectPosition {
    #[default]
    Before,
    Inside {
        depth: u32,
    },
    Text {
        depth: u32,
        escaped: bool,
    },
    After,
}

impl HeldObject {
    /// Appends bytes. Returns false and appends nothing if the result cannot be
    /// one object.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        if self.bytes.len() + bytes.len() > OBJECT_LIMIT {
            return false;
        }
        let mut place = self.place;
        for &byte in bytes {
            match step(place, byte) {
                Some(next) => place = next,
                None => return false,
            }
        }
        self.place = place;
        self.bytes.extend_from_slice(bytes);
        true
    }

    /// Whether nothing was held yet.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The object, if it is complete.
    pub(super) fn object(&self) -> Option<&str> {
        if self.place == ObjectPosition::After {
            std::str::from_utf8(&self.bytes).ok()
        } else {
            None
        }
    }

    /// Everything that was held.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn step(place: ObjectPosition, byte: u8) -> Option<ObjectPosition> {
    let place = match (place, byte) {
        (ObjectPosition::Before | ObjectPosition::After, b' ' | b'\t' | b'\r' | b'\n') => place,
        (ObjectPosition::Before, b'{') => ObjectPosition::Inside { depth: 1 },
        (ObjectPosition::Before | ObjectPosition::After, _) => return None,
        (ObjectPosition::Inside { depth }, b'{' | b'[') => {
            ObjectPosition::Inside { depth: depth + 1 }
        }
        (ObjectPosition::Inside { depth: 1 }, b'}' | b']') => ObjectPosition::After,
        (ObjectPosition::Inside { depth }, b'}' | b']') => {
            ObjectPosition::Inside { depth: depth - 1 }
        }
        (ObjectPosition::Inside { depth }, b'"') => ObjectPosition::Text {
            depth,
            escaped: false,
        },
        (ObjectPosition::Inside { .. }, _) => place,
        (ObjectPosition::Text { depth, escaped }, _) => match byte {
            b'"' if !escaped => ObjectPosition::Inside { depth },
            _ => ObjectPosition::Text {
                depth,
                escaped: byte == b'\\' && !escaped,
            },
        },
    };
    Some(place)
}

#[cfg(test)]
#[path = "object_tests.rs"]
mod tests;
