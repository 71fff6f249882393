//! The pattern that an "always" remembers of a command.

use windlass_runtime::{SubjectPattern, UNKNOWN};

/// Programs that only read and print, whatever their arguments are: none of
/// them can be told to run another program or to write a file.
pub(super) const READERS: [&str; 24] = [
    "basename",
    "cat",
    "cksum",
    "cmp",
    "cut",
    "df",
    "dirname",
    "du",
    "echo",
    "false",
    "grep",
    "head",
    "id",
    "ls",
    "md5sum",
    "nproc",
    "pwd",
    "realpath",
    "seq",
    "sha256sum",
    "tail",
    "true",
    "uname",
    "wc",
];

/// Subcommands of which the same holds.
const READING: [(&str, &str); 2] = [("git", "status"), ("git", "rev-parse")];

/// The pattern to remember, if there is one: any arguments for a command that
/// only reads, and the very same text for anything else. A text with a
/// wildcard in it would stand for more than it says.
pub(crate) fn suggestion(command: &SubjectPattern) -> Option<String> {
    if !command.exact && !command.known.contains('\'') {
        let mut words = command.known.split(' ');
        let program = words.next().unwrap_or_default();
        if READERS.contains(&program) {
            return Some(format!("{program} *"));
        }
        if let Some(subcommand) = words.next()
            && READING.contains(&(program, subcommand))
        {
            return Some(format!("{program} {subcommand} *"));
        }
    }
    let is_literal = !command.text.contains(['*', '?', UNKNOWN]);
    is_literal.then(|| command.text.clone())
}
