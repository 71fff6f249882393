//! Why a program did not describe a tool.

use std::fmt::Write as _;
use std::time::Duration;

use windlass_process::StartError;

use windlass_template::RenderError;

/// Why a program did not describe a tool. None of these says what would work:
/// whoever knows the configuration does.
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// The program could not know that it is asked.
    #[error(
        "its command passes no `{{{{context}}}}`, so its program cannot be asked what the tool takes"
    )]
    NoContext,
    /// The command cannot be rendered.
    #[error(transparent)]
    Template(#[from] RenderError),
    /// The program cannot be started.
    #[error("`{program}` cannot be asked what the tool takes")]
    Start {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: StartError,
    },
    /// The program ended badly.
    #[error("`{program}`, asked for its tools, {how}")]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        how: String,
    },
    /// The program did not answer in time.
    #[error(
        "`{program}`, asked for its tools, did not answer within {} s and was ended",
        .limit.as_secs_f64()
    )]
    TimedOut {
        /// The program.
        program: String,
        /// How long it had.
        limit: Duration,
    },
    /// The program printed more than anybody could read.
    #[error(
        "`{program}`, asked for its tools, printed more than {} MiB and was ended",
        .limit >> 20
    )]
    TooMuch {
        /// The program.
        program: String,
        /// How much it may print, in bytes.
        limit: usize,
    },
    /// The program printed nothing.
    #[error("`{program}`, asked for its tools, printed nothing")]
    Nothing {
        /// The program.
        program: String,
    },
    /// The program printed something else.
    #[error("`{program}`, asked for its tools, printed `{beginning}`, which is not JSON")]
    NotJson {
        /// The program.
        program: String,
        /// How it begins.
        beginning: String,
        /// Where it is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// The program printed JSON that lists no tools.
    #[error(
        "`{program}`, asked for its tools, printed `{beginning}`, which is no object with a list `tools`"
    )]
    NoTools {
        /// The program.
        program: String,
        /// How it begins.
        beginning: String,
    },
    /// The program answered as it answers calls.
    #[error("`{program}`, asked for its tools, answered as if it were called: {message}")]
    Refused {
        /// The program.
        program: String,
        /// What it said.
        message: String,
    },
    /// The program lists other tools.
    #[error("`{program}` does not list `{name}`; {}", listing(.listed, .nearest.as_deref()))]
    NotListed {
        /// The program.
        program: String,
        /// What was looked for.
        name: String,
        /// What there is.
        listed: Vec<String>,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// The tool's entry is no use.
    #[error("`{program}` {}", .why.of(.name))]
    Entry {
        /// The program.
        program: String,
        /// The tool.
        name: String,
        /// What is wrong with it.
        why: BadEntry,
    },
}

/// What is wrong with a tool's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadEntry {
    /// It is there so many times.
    Twice(usize),
    /// It cannot be read.
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
            Self::Unreadable(problem) => format!("describes `{name}` wrongly: {problem}"),
            Self::SchemaParameters => format!(
                "gives `{name}` a JSON Schema as `parameters`, where an entry for each parameter is wanted: {{\"NAME\": {{\"type\": \"string\", \"required\": true}}}}"
            ),
            Self::NoSpawn => format!(
                "gives `{name}` actions without \"spawn\", so that no handle of it could ever be started"
            ),
        }
    }
}

/// At most so many names are told.
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
