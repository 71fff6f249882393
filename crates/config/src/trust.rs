//! Trust in a project's files.
//!
//! Start at [`ProjectTrust`], the method of the decision, and
//! [`ProjectContent`], its subject: the exact texts and programs. A
//! [`TrustQuestion`] has the information that a person needs to decide.
//! Decisions are made and stored elsewhere.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::error::Problem;

/// Decides whether a project's files count.
pub trait TrustDecision: Send + Sync {
    /// The user has trusted exactly this content.
    fn is_trusted(&self, content: &ProjectContent) -> bool;
}

/// The method by which the use of a project's files is decided.
#[derive(Clone, Default)]
pub enum ProjectTrust {
    /// No project is trusted; the caller of the loader may change this.
    #[default]
    Unsaid,
    /// The project is trusted, whatever its content and owner. For programs
    /// that created it themselves, or have asked their user.
    Always,
    /// By its content.
    By(Arc<dyn TrustDecision>),
}

impl fmt::Debug for ProjectTrust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unsaid => "Unsaid",
            Self::Always => "Always",
            Self::By(_) => "By(…)",
        })
    }
}

/// The files of a project that were or would be loaded, and its programs that
/// would start without a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectContent {
    /// The project's folder, without links.
    pub root: PathBuf,
    /// Configuration files and tool files, in the order of loading.
    pub texts: Vec<ProjectText>,
    /// Files in the project that commands name and that would run without a
    /// call.
    pub programs: Vec<ProjectProgram>,
}

/// A file of the project as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectText {
    /// Its path within the project.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
}

/// A program in the project, or a file in the project that a program is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectProgram {
    /// Its path within the project.
    pub path: PathBuf,
    /// The SHA-256 of its content in hexadecimal; `None` if the file does not
    /// exist.
    pub digest: Option<String>,
}

impl ProjectContent {
    /// The SHA-256 of everything in hexadecimal, including the path of the
    /// folder.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(self.root.as_os_str().as_encoded_bytes());
        for text in &self.texts {
            add(b"text");
            add(text.path.as_os_str().as_encoded_bytes());
            add(text.text.as_bytes());
        }
        for program in &self.programs {
            add(b"program");
            add(program.path.as_os_str().as_encoded_bytes());
            add(program.digest.as_deref().unwrap_or("missing").as_bytes());
        }
        hexadecimal(&hash.finalize())
    }
}

/// Two letters for each byte.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Information that a person needs before trusting a project. Each entry is one
/// line that is safe to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustQuestion {
    /// The content that would be trusted.
    pub content: ProjectContent,
    /// Programs and connections that start without a call of the assistant.
    pub starts: Vec<String>,
    /// Calls allowed without a question, replaced tools and changed settings.
    pub wants: Vec<String>,
    /// The tools that are offered.
    pub offers: Vec<String>,
    /// Keys without effect, since they belong to the user.
    pub ignored: Vec<String>,
    /// The error that prevents loading even if the project is trusted.
    pub broken: Option<String>,
}

/// The state of a project's files in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ProjectState {
    /// There are none.
    #[default]
    Empty,
    /// They count.
    Trusted(Box<ProjectContent>),
    /// They have no effect until the user trusts them.
    Untrusted(Box<TrustQuestion>),
    /// They have no effect, for this reason, and cannot be trusted.
    Refused(String),
}

/// The reason of a refusal, in one text.
pub(crate) fn refusal(problems: &[Problem]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("\n")
}
