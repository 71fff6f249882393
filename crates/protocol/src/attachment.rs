//! Non-text parts of a tool's output: images, audio, files.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A file that belongs to a tool's output. The assistant sees a mention of it
/// in the text; the record stores its URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The location of the content.
    pub url: String,
    /// Its media type.
    pub mime: String,
    /// The file's name or the resource's address, if known.
    pub filename: Option<String>,
}

impl Attachment {
    /// A file on this machine, which must exist for as long as the session's
    /// logs.
    pub fn file(path: &Path, mime: impl Into<String>) -> Self {
        let name = path.file_name();
        Self {
            url: file_url(path),
            mime: mime.into(),
            filename: name.map(|name| name.to_string_lossy().into()),
        }
    }

    /// The complete output of a call whose reply was cut.
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
