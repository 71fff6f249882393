//! Finding in a program's output what a confinement has denied.
//!
//! The kernel reports a denial only to the program. So denials are found in the program's output: a line with the text
//! of such an error, and a path in it (or in the three lines before). A path counts only if the confinement denies it and the
//! user could have had it without. Programs that print nothing, or no path, are not found.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::{Confinement, FileAccess, NetworkRule};

/// Access that a confinement has denied.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Denial {
    /// Reading a file.
    Read(PathBuf),
    /// Making, changing or removing a file.
    Write(PathBuf),
    /// A connection.
    Network,
    /// A connection to this host.
    Host(String),
}

impl fmt::Display for Denial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(formatter, "reading {}", shown(path)),
            Self::Write(path) => write!(formatter, "write to {}", shown(path)),
            Self::Network => formatter.write_str("the network"),
            Self::Host(host) => write!(formatter, "connection to {host}"),
        }
    }
}

/// A path in which nothing is invisible: it is the program's word, and people decide by it.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain =
        |letter: char| !letter.is_control() && (letter == ' ' || !letter.is_whitespace());
    text.chars()
        .map(|letter| if is_plain(letter) { letter } else { '?' })
        .collect()
}

/// Whether the user would have had access without a sandbox.
pub trait UserAccess {
    /// The file exists, and the user could read it.
    fn reads(&self, path: &Path) -> bool;
    /// The user could write the file, or make it.
    fn writes(&self, path: &Path) -> bool;
}

/// The most denials that are reported.
const MOST: usize = 4;

const FILE_ERRORS: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "device or resource busy",
    "cross-device link",
    "eacces",
    "eperm",
    "erofs",
    "ebusy",
    "exdev",
    "access denied",
    "not writable",
    "unwritable",
    "is a directory",
    "not a directory",
];

/// A file that is hidden by a mount does not exist for the program.
const MISSING_ERRORS: &[&str] = &[
    "no such file",
    "enoent",
    "cannot find",
    "not found",
    "does not exist",
];

const NETWORK_ERRORS: &[&str] = &[
    "network is unreachable",
    "could not resolve",
    "couldn't resolve",
    "name or service not known",
    "temporary failure in name resolution",
    "name resolution",
    "enetunreach",
    "eai_again",
    "failed to lookup address",
    "address family not supported",
    "can't create a socket",
    "failed to open socket",
];

/// Errors of connections, which cannot be anything else if there is no network.
const CONNECTION_ERRORS: &[&str] = &["couldn't connect to server"];

/// The denials reported in these lines of output, of a program that ran in
/// `cwd`.
pub fn denials(
    output: &str,
    cwd: &Path,
    confinement: &Confinement,
    user: &impl UserAccess,
) -> Vec<Denial> {
    let mut found: Vec<Denial> = Vec::new();
    let lines: Vec<&str> = output.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let lower = line.to_lowercase();
        let has = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
        let judged = if has(FILE_ERRORS) {
            let near = lines[index.saturating_sub(3)..=index].iter().rev();
            let mut near = near.map(|line| in_line(line, cwd, confinement, user, true));
            near.find(|denials| !denials.is_empty()).unwrap_or_default()
        } else if has(MISSING_ERRORS) {
            in_line(line, cwd, confinement, user, false)
        } else {
            Vec::new()
        };
        let near = lines[index.saturating_sub(3)..=index].iter();
        let near_socket = near.clone().any(|line| {
            let line = line.to_lowercase();
            ["socket", "connect", "urlopen"]
                .iter()
                .any(|it| line.contains(it))
        });
        let denied_socket = near_socket && has(FILE_ERRORS);
        let has_none = confinement.network == NetworkRule::None;
        let network = confinement.network != NetworkRule::Full
            && (has(NETWORK_ERRORS)
                || has_none && has(CONNECTION_ERRORS)
                || judged.is_empty() && denied_socket);
        for denial in judged.into_iter().chain(network.then_some(Denial::Network)) {
            if !found.contains(&denial) {
                found.push(denial);
            }
        }
    }
    found.truncate(MOST);
    found
}

/// The denied paths that a line names. With `may_write`, the error may be about writing.
fn in_line(
    line: &str,
    cwd: &Path,
    confinement: &Confinement,
    user: &impl UserAccess,
    may_write: bool,
) -> Vec<Denial> {
    let mut denials = Vec::new();
    if is_stack_frame(line) {
        return denials;
    }
    let mut words = words(line);
    words.extend(bare_name(line));
    // A file that is copied is only read.
    let is_copied = line.contains("copy");
    let last = words.last().copied();
    // Many programs begin a message with their own name.
    let is_name = |word: &str| {
        line.strip_prefix(word)
            .is_some_and(|rest| rest.starts_with(':'))
    };
    if words.len() > 1 || is_of_shell(line) {
        words.retain(|word| !is_name(word));
    }
    for word in words {
        let path = clean(&cwd.join(word));
        if path.starts_with("/dev") || path.starts_with("/proc") || path.starts_with("/sys") {
            continue;
        }
        if !confinement.allows(&path, FileAccess::Read) && user.reads(&path) {
            denials.push(Denial::Read(path));
        } else if may_write
            && (!is_copied || last == Some(word))
            && !confinement.allows(&path, FileAccess::Write)
            && user.writes(&path)
        {
            denials.push(Denial::Write(path));
        }
    }
    denials
}

/// A file name without a slash or quotes, which some shells print before this error. Other errors are too common to be
/// about a file of the working directory.
fn bare_name(line: &str) -> Option<&str> {
    let end = line.to_lowercase().find(": read-only file system")?;
    let name = line.get(..end)?.rsplit([' ', ':']).next()?;
    let is_bare = !name.is_empty() && !name.contains(['/', '\'', '"', '`', '’', '”']);
    (is_bare && !name.starts_with('.')).then_some(name)
}

/// Whether a line begins with the name of a shell and the number of a line of its script.
fn is_of_shell(line: &str) -> bool {
    let mut parts = line.split(": ").skip(1);
    let number = parts.next().map(|it| it.trim_start_matches("line "));
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    number.is_some_and(is_number) && parts.next().is_some()
}

/// Whether a line is a stack frame, which names a source location and no file
/// that the program accessed.
fn is_stack_frame(line: &str) -> bool {
    let line = line.trim_start();
    let python = line.starts_with("File \"") && line.contains("\", line ");
    python || line.starts_with("at ")
}

/// The words of a line that may be paths: those with a slash or a leading dot, and all that stand in quotes.
fn words(line: &str) -> Vec<&str> {
    let is_quote = |letter: char| matches!(letter, '\'' | '"' | '`' | '‘' | '’' | '“' | '”');
    let mut words = Vec::new();
    for (index, piece) in line.split(is_quote).enumerate() {
        // An apostrophe is no quotation mark, and what follows it is not a path as a whole.
        if index % 2 == 1 && !piece.is_empty() && !piece.contains(": ") {
            words.push(piece);
            continue;
        }
        let separates = |letter: char| {
            letter.is_whitespace()
                || matches!(letter, ':' | ',' | ';' | '(' | ')' | '<' | '>' | '=')
        };
        let paths = piece.split(separates).filter(|word| {
            let named = word.len() > 1 && word.starts_with('.') && *word != "..";
            word.contains('/') || named
        });
        words.extend(paths.filter(|word| !word.contains("//")));
    }
    words
}

fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
#[path = "denial_tests.rs"]
mod tests;
