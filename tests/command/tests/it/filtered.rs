//! Texts without the parts that differ from run to run, for snapshots.

use std::sync::LazyLock;

use regex::Regex;

/// What differs, and the words instead.
static DIFFERING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let temporary = std::env::temp_dir();
    let real = temporary.canonicalize().unwrap();
    let folder = |folder: &std::path::Path| {
        let folder = regex::escape(folder.to_str().unwrap());
        (format!(r"{folder}/\.tmp\w{{6}}"), "[folder]")
    };
    [
        folder(&real),
        folder(&temporary),
        (r"\b(127\.0\.0\.1|localhost):\d+".to_owned(), "$1:[port]"),
        (
            r"\b(ses|per|msg|prt|lck|q)_[0-9A-Za-z]{6,}".to_owned(),
            "${1}_[id]",
        ),
    ]
    .map(|(pattern, words)| (Regex::new(&pattern).unwrap(), words))
    .into()
});

/// The text with temporary folders as `[folder]`, ports of this machine as `[port]`, and the IDs of sessions,
/// questions and the like as `[id]`.
pub(crate) fn filtered(text: &str) -> String {
    let mut filtered = text.to_owned();
    for (pattern, words) in DIFFERING.iter() {
        filtered = pattern.replace_all(&filtered, *words).into_owned();
    }
    filtered
}
