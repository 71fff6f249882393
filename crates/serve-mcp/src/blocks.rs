//! Converts attachments of a tool's output to blocks of a result.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{ContentBlock, ResourceContents};
use windlass_protocol::Attachment;

/// The largest file that is included in a result. The text names its path
/// anyway.
const LARGEST: u64 = 4 << 20;

/// Blocks for the images, audio and resources among the attachments. Logs are
/// skipped.
pub(crate) fn blocks(attachments: &[Attachment]) -> Vec<ContentBlock> {
    attachments.iter().filter_map(block).collect()
}

fn block(attachment: &Attachment) -> Option<ContentBlock> {
    let mime = attachment.mime.as_str();
    let address = attachment.filename.as_deref();
    let address = address.filter(|name| name.contains("://"));
    let is_image = mime.starts_with("image/");
    let is_audio = mime.starts_with("audio/");
    if !is_image && !is_audio && address.is_none() {
        return None;
    }
    let path = path(&attachment.url)?;
    let size = std::fs::metadata(&path).ok()?.len();
    if size > LARGEST {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    Some(match address {
        Some(address) => resource(address, mime, bytes),
        None if is_image => ContentBlock::image(STANDARD.encode(bytes), mime),
        None => ContentBlock::audio(STANDARD.encode(bytes), mime),
    })
}

fn resource(address: &str, mime: &str, bytes: Vec<u8>) -> ContentBlock {
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, address),
        Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), address),
    };
    ContentBlock::resource(contents.with_mime_type(mime))
}

/// The path of a `file:` URL, with escaped bytes decoded.
fn path(url: &str) -> Option<PathBuf> {
    let escaped = url.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
