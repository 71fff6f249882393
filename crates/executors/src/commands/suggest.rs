//! The pattern that "always" remembers for a command.

use windlass_runtime::{SubjectPattern, UNKNOWN};

/// Programs that only read and print, with any arguments: none can run another
/// program or write a file.
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

/// Subcommands that only read and print.
const READING: [(&str, &str); 2] = [("git", "status"), ("git", "rev-parse")];

/// The pattern to remember, if any: any arguments for a command that only
/// reads, the exact text otherwise. Text with a wildcard has no pattern,
/// because it would match more.
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
