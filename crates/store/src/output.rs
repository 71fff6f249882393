//! Output that is too large for a row: the whole output is in a file, and the
//! part contains its beginning.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_protocol::{PartState, ToolPart};

/// The maximum size of an output in a row.
const LIMIT: usize = 64 << 10;
/// The size of the beginning that the row keeps of a larger output.
const KEPT: usize = 4 << 10;

/// The part to write, and the file with its whole output if that is too large.
/// Without a file the part stays whole.
pub(crate) fn shorten(outputs: &Path, part: &Arc<ToolPart>) -> (Arc<ToolPart>, Option<PathBuf>) {
    let text = match &part.state {
        PartState::Completed(state) => &state.output,
        PartState::Error(state) => &state.error,
        PartState::Pending(_) | PartState::Running(_) => return (Arc::clone(part), None),
    };
    if text.len() <= LIMIT {
        return (Arc::clone(part), None);
    }
    let path = folder_of(outputs, part.session_id.as_str()).join(format!("{}.txt", part.id));
    if let Err(error) = write(&path, text) {
        tracing::error!(%error, path = %path.display(), "an output could not be put into a file");
        return (Arc::clone(part), None);
    }
    let beginning = &text[..text.floor_char_boundary(KEPT)];
    let (bytes, place) = (text.len(), path.display());
    let kept = format!("{beginning}\n[{bytes} bytes in all: {place}]");
    let mut part = ToolPart::clone(part);
    match &mut part.state {
        PartState::Completed(state) => state.output = kept,
        PartState::Error(state) => state.error = kept,
        PartState::Pending(_) | PartState::Running(_) => {}
    }
    (Arc::new(part), Some(path))
}

/// The folder with the outputs of a session. Any session id maps to a single
/// folder name.
pub(crate) fn folder_of(outputs: &Path, session: &str) -> PathBuf {
    let name: String = session
        .chars()
        .map(|letter| match letter {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => letter,
            _ => '-',
        })
        .collect();
    outputs.join(name)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?
        .write_all(text.as_bytes())
}
