//! Stored results of stopped handles.
//!
//! The newest stopped handles are kept whole. An older one drops its job, and
//! its views are stored ([`StoredResult`]) in a file of the session's folder,
//! or in memory if there is none. The file is removed with the handle.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use windlass_output::LoggedOutput;
use windlass_protocol::{Attachment, Ending, HandleId, HandleState, HandleView, View};

/// The approximate maximum memory usage of a stored handle.
const OVERHEAD: u64 = 4096;

/// A stored result. Dropping it removes its file.
#[derive(Debug)]
pub(crate) struct StoredResult {
    at: StoredAt,
    bytes: u64,
    /// The length of [`StoredResult::output`].
    output_bytes: u64,
    last_line: Option<String>,
    /// The log, if it has more than the views.
    logged: Option<LoggedOutput>,
}

#[derive(Debug)]
enum StoredAt {
    /// There are no views: the output is read from its log.
    Log,
    File(PathBuf),
    Memory(Vec<u8>),
}

/// The views of a stopped handle: the first one, the one for repeated reads if
/// it differs, and its attachments.
pub(crate) type Views = (HandleView, Option<HandleView>, Vec<Attachment>);

impl StoredResult {
    /// Stores only the location of the log.
    pub(crate) fn of_log(logged: LoggedOutput) -> Self {
        Self {
            at: StoredAt::Log,
            bytes: OVERHEAD,
            output_bytes: logged.written(),
            last_line: None,
            logged: Some(logged),
        }
    }

    /// Stores the views in the file, or in memory if there is none or it
    /// cannot be written.
    pub(crate) fn new(views: &Views, file: Option<PathBuf>, logged: Option<LoggedOutput>) -> Self {
        let json = serde_json::to_vec(views)
            .expect("views hold only strings, numbers, lists and string-keyed maps");
        let bytes = json.len() as u64 + OVERHEAD;
        let file = file.filter(|file| match write(file, &json) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, file = %file.display(), "a result stays in memory");
                false
            }
        });
        let at = file.map_or_else(|| StoredAt::Memory(json), StoredAt::File);
        let output = output_of(views);
        Self {
            at,
            bytes,
            output_bytes: output.len() as u64,
            last_line: last_line(output),
            logged,
        }
    }

    /// Whether views are stored.
    pub(crate) fn has_views(&self) -> bool {
        !matches!(self.at, StoredAt::Log)
    }

    /// The log, if it has more than the views.
    pub(crate) fn logged(&self) -> Option<&LoggedOutput> {
        self.logged.as_ref()
    }

    /// The output in the views, for an observer. It lacks omitted parts.
    pub(crate) fn output(&self) -> String {
        self.views()
            .map_or_else(String::new, |views| output_of(&views).to_owned())
    }

    /// The length of the output in the views.
    pub(crate) fn output_bytes(&self) -> u64 {
        self.output_bytes
    }

    /// The last line of that output which is not empty.
    pub(crate) fn last_line(&self) -> Option<&str> {
        self.last_line.as_deref()
    }

    /// Its size, on disk and in memory together.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The view of the handle: the first one, or the one for repeated reads.
    pub(crate) fn view(&self, id: &HandleId, view: View) -> HandleView {
        match self.views() {
            Some((first, again, _)) => match view {
                View::New => first,
                View::Screen | View::All => again.unwrap_or(first),
            },
            None => HandleView {
                result: Some("its stored result can no longer be read".to_owned()),
                error: Some(windlass_protocol::ErrorView::default()),
                ..HandleView::new(id.clone(), HandleState::Stopped)
            },
        }
    }

    /// The attachments that came with its end.
    pub(crate) fn attachments(&self) -> Vec<Attachment> {
        self.views()
            .map_or_else(Vec::new, |(_, _, attachments)| attachments)
    }

    fn views(&self) -> Option<Views> {
        match &self.at {
            StoredAt::Log => None,
            StoredAt::File(file) => serde_json::from_slice(&fs::read(file).ok()?).ok(),
            StoredAt::Memory(json) => serde_json::from_slice(json).ok(),
        }
    }
}

impl Drop for StoredResult {
    fn drop(&mut self) {
        if let StoredAt::File(file) = &self.at {
            // Nothing is lost when it has been removed with its folder.
            let _ = fs::remove_file(file);
        }
    }
}

/// The output in the views. For a plain tool that finished successfully, it is
/// the result.
fn output_of((first, again, _): &Views) -> &str {
    let view = again.as_ref().unwrap_or(first);
    let result = view.result.as_ref().filter(|_| view.error.is_none());
    view.content.as_ref().or(result).map_or("", String::as_str)
}

fn last_line(output: &str) -> Option<String> {
    let mut lines = output.lines().rev().map(str::trim_end);
    let line = lines.find(|line| !line.is_empty())?;
    Some(line[..line.floor_char_boundary(1024)].to_owned())
}

/// The ending without the stored texts.
pub(crate) fn outline(ending: &Ending) -> Ending {
    let brief = |text: &String| text[..text.floor_char_boundary(1024)].to_owned();
    Ending {
        result: match &ending.result {
            Ok(result) => Ok(result.as_ref().map(brief)),
            Err(error) => Err(windlass_protocol::ToolError::new(brief(&error.message))),
        },
        attachments: Vec::new(),
        structured: None,
        ..ending.clone()
    }
}

fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
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
        .open(file)?
        .write_all(bytes)
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
