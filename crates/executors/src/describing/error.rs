//! Errors of programs that do not describe a tool.

use std::fmt::Write as _;
use std::time::Duration;

use windlass_process::StartError;

use windlass_template::RenderError;

/// The reason why a program did not describe a tool. The messages suggest no
/// remedy: the caller, who knows the configuration, does.
#[derive(Debug, thiserror::Error)]
pub enum SelfDescriptionError {
    /// The program has no way to know that it is asked.
    #[error(
        "its command passes no `{{{{context}}}}`, so its program cannot describe the tool's \
         parameters"
    )]
    NoContext,
    #[error(transparent)]
    Template(#[from] RenderError),
    #[error("`{program}` could not be run for its description")]
    Start {
        program: String,
        #[source]
        source: StartError,
    },
    #[error("`{program}`, asked for its tools, {how}")]
    Failed { program: String, how: String },
    #[error(
        "`{program}`, asked for its tools, did not answer within {} s and was ended",
        .limit.as_secs_f64()
    )]
    TimedOut { program: String, limit: Duration },
    /// The program printed more than the limit.
    #[error(
        "`{program}`, asked for its tools, printed more than {} MiB and was ended",
        .limit >> 20
    )]
    TooMuch {
        program: String,
        /// In bytes.
        limit: usize,
    },
    #[error("`{program}`, asked for its tools, printed nothing")]
    Nothing { program: String },
    #[error("`{program}`, asked for its tools, printed `{beginning}`, which is not JSON")]
    NotJson {
        program: String,
        /// The start of the output.
        beginning: String,
        #[source]
        source: serde_json::Error,
    },
    /// The program printed JSON without a list of tools.
    #[error(
        "`{program}`, asked for its tools, printed `{beginning}`, which is not an object with a \
         list `tools`"
    )]
    NoTools {
        program: String,
        /// The start of the output.
        beginning: String,
    },
    /// The program answered with a protocol error.
    #[error("`{program}`, asked for its tools, replied as to a call: {message}")]
    Refused { program: String, message: String },
    /// The program lists other tools.
    #[error("`{program}` does not list `{name}`; {}", listing(.listed, .nearest.as_deref()))]
    NotListed {
        program: String,
        /// The requested tool.
        name: String,
        /// The tools of the program.
        listed: Vec<String>,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// The tool's entry is invalid.
    #[error("`{program}` {}", .why.of(.name))]
    Entry {
        program: String,
        name: String,
        why: BadEntry,
    },
}

/// The fault of a tool's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadEntry {
    /// It occurs this many times.
    Twice(usize),
    Unreadable(String),
    /// It has actions, but none that starts a handle.
    NoSpawn,
    /// Its parameters are a JSON Schema.
    SchemaParameters,
}

impl BadEntry {
    fn of(&self, name: &str) -> String {
        match self {
            Self::Twice(times) => format!("lists `{name}` {times} times"),
            Self::Unreadable(problem) => {
                format!("gives an invalid description of `{name}`: {problem}")
            }
            Self::SchemaParameters => format!(
                "gives `{name}` a JSON Schema as `parameters`, where an entry for each parameter \
                 is expected: {{\"NAME\": {{\"type\": \"string\", \"required\": true}}}}"
            ),
            Self::NoSpawn => format!(
                "gives `{name}` actions without \"spawn\", so no handle of it could be started"
            ),
        }
    }
}

/// The maximum number of names in a message.
const TOLD: usize = 12;

fn listing(listed: &[String], nearest: Option<&str>) -> String {
    if listed.is_empty() {
        return "it lists no tools".to_owned();
    }
    let names: Vec<String> = listed
        .iter()
        .take(TOLD)
        .map(|name| format!("`{name}`"))
        .collect();
    let mut text = format!("it lists {}", names.join(", "));
    if listed.len() > TOLD {
        let _ = write!(text, " and {} more", listed.len() - TOLD);
    }
    if let Some(nearest) = nearest {
        let _ = write!(
            text,
            "; if it is `{nearest}`, set source = \"local.{nearest}\""
        );
    }
    text
}
