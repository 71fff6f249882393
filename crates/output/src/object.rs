//! Whether bytes so far may be exactly one JSON object.
//!
//! Only braces, brackets and strings are followed: enough to know where an
//! object ends. Whether it is valid JSON is for whoever parses it.

/// What is held at most.
pub(super) const OBJECT_LIMIT: usize = 1 << 20;

/// Standard output, held while it may be one JSON object.
#[derive(Debug, Default)]
pub(super) struct HeldObject {
    bytes: Vec<u8>,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
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
    /// Holds more bytes; false, and nothing is added, if it cannot be one object.
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
        if self.place == Place::After {
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

fn step(place: Place, byte: u8) -> Option<Place> {
    let place = match (place, byte) {
        (Place::Before | Place::After, b' ' | b'\t' | b'\r' | b'\n') => place,
        (Place::Before, b'{') => Place::Inside { depth: 1 },
        (Place::Before | Place::After, _) => return None,
        (Place::Inside { depth }, b'{' | b'[') => Place::Inside { depth: depth + 1 },
        (Place::Inside { depth: 1 }, b'}' | b']') => Place::After,
        (Place::Inside { depth }, b'}' | b']') => Place::Inside { depth: depth - 1 },
        (Place::Inside { depth }, b'"') => Place::Text {
            depth,
            escaped: false,
        },
        (Place::Inside { .. }, _) => place,
        (Place::Text { depth, escaped }, _) => match byte {
            b'"' if !escaped => Place::Inside { depth },
            _ => Place::Text {
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
