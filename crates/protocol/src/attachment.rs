//! What came with a tool's output and is no text: pictures, sound, files.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Something that came with a tool's output. The assistant reads of it in the
/// text; the record holds it by its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Where it is.
    pub url: String,
    /// Its media type.
    pub mime: String,
    /// Its name, if it has one: that of a file, or the address of a resource.
    pub filename: Option<String>,
}

impl Attachment {
    /// A file of this machine, which must be kept for as long as the session's
    /// logs.
    pub fn file(path: &Path, mime: impl Into<String>) -> Self {
        let name = path.file_name();
        Self {
            url: file_url(path),
            mime: mime.into(),
            filename: name.map(|name| name.to_string_lossy().into()),
        }
    }

    /// All of an output that did not fit into a reply.
    pub fn log(path: &Path) -> Self {
        Self::file(path, "text/plain")
    }
}

fn file_url(path: &Path) -> String {
    use std::fmt::Write as _;
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut url = "file://".to_owned();
    for byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                url.push(char::from(*byte));
            }
            // Writing to a string cannot fail.
            other => drop(write!(url, "%{other:02X}")),
        }
    }
    url
}

#[cfg(test)]
#[path = "attachment_tests.rs"]
mod tests;
