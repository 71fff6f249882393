//! The reply of a server, converted for the assistant.
//!
//! Text is passed on unchanged. Images, audio and files are written beside the
//! session's logs and mentioned by a line with their path, because a reply is
//! text. The record holds them as attachments.

use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;
use windlass_protocol::ToolError;
use windlass_runtime::Attachment;

/// The media type of data without one.
const UNKNOWN: &str = "application/octet-stream";

/// The largest structured result that is passed on.
const LARGEST_STRUCTURE: usize = 256 << 10;

/// The reply of a server.
pub(crate) struct ServerReply {
    /// The result as text, or the reported error.
    pub(crate) result: Result<String, ToolError>,
    /// Files of the reply.
    pub(crate) attachments: Vec<Attachment>,
    /// The result as data.
    pub(crate) structured: Option<Value>,
}

impl From<ToolError> for ServerReply {
    fn from(error: ToolError) -> Self {
        Self {
            result: Err(error),
            attachments: Vec::new(),
            structured: None,
        }
    }
}

/// Reads a result. Data is written to files named after `log`, if set.
pub(crate) fn read(result: CallToolResult, log: Option<&Path>) -> ServerReply {
    let mut files = Files {
        log,
        count: 0,
        attachments: Vec::new(),
    };
    let has_text = result
        .content
        .iter()
        .any(|block| matches!(block, ContentBlock::Text(_)));
    let blocks = result.content.into_iter();
    let mut parts: Vec<_> = blocks.map(|block| files.show(block)).collect();
    // Servers repeat what is structured as text; those that do not mean it to
    // be read all the same.
    let structured = result.structured_content;
    if let Some(structured) = structured.as_ref().filter(|_| !has_text) {
        parts.push(structured.to_string());
    }
    let text = parts.join("\n");
    let result = if result.is_error != Some(true) {
        Ok(text)
    } else if text.is_empty() {
        Err(ToolError::new("the tool failed without a message"))
    } else {
        Err(ToolError::new(text))
    };
    let is_small = |value: &Value| value.to_string().len() <= LARGEST_STRUCTURE;
    let structured = structured.filter(|_| result.is_ok());
    let result = match &structured {
        Some(value) if !is_small(value) => Err(ToolError::new(format!(
            "the tool's structured result has more than {} KiB; ask it for less",
            LARGEST_STRUCTURE >> 10
        ))),
        _ => result,
    };
    ServerReply {
        structured: structured.filter(|_| result.is_ok()),
        result,
        attachments: files.attachments,
    }
}

/// The destination of data.
struct Files<'a> {
    log: Option<&'a Path>,
    count: usize,
    attachments: Vec<Attachment>,
}

impl Files<'_> {
    fn show(&mut self, block: ContentBlock) -> String {
        match block {
            ContentBlock::Text(text) => text.text,
            ContentBlock::Image(image) => self.data("image", &image.mime_type, &image.data),
            ContentBlock::Audio(audio) => self.data("audio", &audio.mime_type, &audio.data),
            ContentBlock::Resource(resource) => match resource.resource {
                ResourceContents::TextResourceContents {
                    uri,
                    mime_type,
                    text,
                    ..
                } => {
                    self.count += 1;
                    let mime_type = mime_type.unwrap_or_else(|| "text/plain".to_owned());
                    if let Some(path) = self.write(&mime_type, text.as_bytes()) {
                        self.keep(&path, &mime_type, Some(&uri));
                    }
                    format!("[resource {uri}]\n{text}")
                }
                ResourceContents::BlobResourceContents {
                    uri,
                    mime_type,
                    blob,
                    ..
                } => {
                    let mime_type = mime_type.unwrap_or_else(|| UNKNOWN.to_owned());
                    let told = self.data(&format!("resource {uri}"), &mime_type, &blob);
                    if let Some(last) = self.attachments.last_mut() {
                        last.filename = Some(uri);
                    }
                    told
                }
                _ => "[a resource of an unknown kind]".to_owned(),
            },
            ContentBlock::ResourceLink(link) => {
                let told = format!("[resource {}: {}]", link.name, link.uri);
                self.attachments.push(Attachment {
                    url: link.uri,
                    mime: link.mime_type.unwrap_or_else(|| UNKNOWN.to_owned()),
                    filename: Some(link.name),
                });
                told
            }
            _ => "[content of an unknown kind]".to_owned(),
        }
    }

    fn data(&mut self, what: &str, mime_type: &str, base64: &str) -> String {
        let Ok(bytes) = STANDARD.decode(base64) else {
            return format!("[{what}, {mime_type}, which cannot be read]");
        };
        self.count += 1;
        let size = bytes.len();
        match self.write(mime_type, &bytes) {
            Some(path) => {
                self.keep(&path, mime_type, None);
                format!("[{what}, {mime_type}, {size} bytes: {}]", path.display())
            }
            None => format!("[{what}, {mime_type}, {size} bytes]"),
        }
    }

    /// Attaches a file, named by its URI if it has one.
    fn keep(&mut self, path: &Path, mime_type: &str, address: Option<&str>) {
        let mut attachment = Attachment::file(path, mime_type);
        if let Some(address) = address {
            attachment.filename = Some(address.to_owned());
        }
        self.attachments.push(attachment);
    }

    /// Stores the data for as long as the session's logs. Without a folder, the
    /// data is only mentioned.
    fn write(&self, mime_type: &str, bytes: &[u8]) -> Option<PathBuf> {
        let path = self
            .log?
            .with_extension(format!("{}.{}", self.count, extension(mime_type)));
        private_folder(path.parent()?)?;
        let mut options = std::fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).ok()?.write_all(bytes).ok()?;
        Some(path)
    }
}

#[cfg(unix)]
fn private_folder(path: &Path) -> Option<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(path).ok()
}

#[cfg(not(unix))]
fn private_folder(path: &Path) -> Option<()> {
    std::fs::create_dir_all(path).ok()
}

/// The file extension, such as `png` for `image/png`, without characters that
/// could leave the folder.
fn extension(mime_type: &str) -> String {
    let subtype = mime_type.rsplit('/').next().unwrap_or_default();
    let word = subtype.chars().take_while(char::is_ascii_alphanumeric);
    let word: String = word.take(16).collect();
    if word.is_empty() {
        "bin".to_owned()
    } else {
        word
    }
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;
