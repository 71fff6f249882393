//! The valid values of keys, as named in errors.

use windlass_template::nearest;

/// The valid values of a key. It is the error for an invalid value and
/// completes "the key must be …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpectedValue {
    #[error("a string")]
    String,
    #[error("true or false")]
    Boolean,
    #[error("a table")]
    Table,
    /// An array of strings.
    #[error("an array of strings")]
    Strings,
    /// A table whose values are strings.
    #[error("a table of strings")]
    StringMap,
    /// Names of environment variables.
    #[error("an array of names of variables, with `*` as a wildcard, without `WINDLASS_TOKEN`")]
    VariableNames,
    /// The command of a host.
    #[error(
        "an array with the command that runs `windlass host` there, such as [\"ssh\", \"-T\", \
         \"NAME\", \"windlass\", \"host\"]"
    )]
    Via,
    /// The brokers of a pool.
    #[error(
        "an address such as \"nats://broker:4222\", or several separated by commas, without a \
         user or a password (put them into the file `credentials`)"
    )]
    Nats,
    #[error("a name of letters, digits, `_` and `-`, at most 48")]
    PoolName,
    /// A file for the connection to a broker.
    #[error("the name of a file; its content does not belong into the configuration")]
    SecretFile,
    /// The number of copies in a pool's store.
    #[error("1, 3 or 5")]
    Replicas,
    /// The project's folder on a host.
    #[error("an absolute path of the host")]
    FarRoot,
    /// An array of any values.
    #[error("an array of values")]
    Values,
    /// A string or an array of values: a parameter's examples.
    #[error("a string or an array")]
    StringOrArray,
    /// One of these strings.
    #[error("one of {}", quoted(.0))]
    OneOf(Vec<String>),
    /// An array of these strings.
    #[error("made of {}", quoted(.0))]
    MadeOf(Vec<String>),
    /// One or several of these JSON types.
    #[error("one of {}, or an array of them", quoted(.0))]
    JsonTypes(Vec<String>),
    /// A value of one of these JSON types: a parameter's default.
    #[error("of the parameter's type, {}", quoted(.0))]
    OfTypes(Vec<String>),
    /// One of the values of a parameter's `enum`.
    #[error("one of the values of `enum`, {}", .0.join(", "))]
    OptionOf(Vec<String>),
    /// A run mode, or a table with a run mode for each action.
    #[error("one of {}, or a table per action", quoted(.0))]
    RunModes(Vec<String>),
    /// A kind of sandbox, or a table.
    #[error(
        "one of {}, or a table with `read`, `write`, `deny`, `network` and `unavailable`",
        quoted(.0)
    )]
    Sandboxes(Vec<String>),
    /// The network of a sandbox.
    #[error(
        "\"none\", \"loopback\", \"full\" or a table such as {{ allow = [\"*.example.com\"] }}"
    )]
    Network,
    /// Patterns of hosts.
    #[error(
        "an array of hosts such as \"example.com\", \"*.example.com\" or \"127.0.0.1:8080\", without `http://`"
    )]
    Hosts,
    /// Files and folders.
    #[error("an array of paths: absolute, below `~/`, or relative to the project; without `*`")]
    Paths,
    /// A count that is not zero.
    #[error("a number of at least 1")]
    SomeCount,
    /// A duration.
    #[error("a number of seconds from 0 to 31536000 (a year)")]
    Seconds,
    /// A duration that is not zero.
    #[error("a number of seconds above 0 and at most 31536000 (a year)")]
    SomeSeconds,
    /// The time for which a handle outlives its runtime.
    #[error("a number of seconds from 0 to 86400 (a day)")]
    Lease,
    /// The time between heartbeats of a link.
    #[error("a number of seconds from 0.1 to 3600 (an hour)")]
    Heartbeat,
    /// The condition on which calls become tasks.
    #[error("\"auto\", \"never\" or a number of seconds")]
    Tasks,
    /// A number of bytes.
    #[error("a number of bytes above 0, or a string such as \"32KiB\" or \"1GiB\"")]
    Size,
    /// A number of bytes, or 0 for none.
    #[error("a number of bytes, a string such as \"4MiB\", or 0 for none")]
    SizeOrNone,
    /// Rows of a terminal.
    #[error("a whole number from 1 to 512")]
    Rows,
    /// Columns of a terminal.
    #[error("a whole number from 2 to 1024")]
    Columns,
    /// A count that may be zero.
    #[error("a number of at least 0")]
    Count,
    /// A number of tokens.
    #[error("a number of tokens")]
    Tokens,
    /// An integer that TOML's 64 bits hold.
    #[error("a number of at most 64 bits")]
    Integer,
    /// A floating-point number.
    #[error("a floating-point number")]
    Float,
    /// A value that JSON can hold.
    #[error("a value without `inf` and `nan`")]
    Json,
    /// A model's name.
    #[error("a model as \"provider/name\"")]
    Model,
    /// An HTTP address.
    #[error("an address that begins with http:// or https://")]
    Address,
    #[error("a string, or a table with `program`, `args` and `shell`")]
    Command,
    /// The actions that a tool's handles take.
    #[error("an array of actions, such as [\"spawn\", \"fetch\", \"abort\"]")]
    Actions,
    /// Names of an MCP server's tools.
    #[error("\"all\", or an array of names of its tools")]
    McpTools,
    /// A tool's source, as a string.
    #[error(
        "\"local\", \"builtin\" or \"mcp\", followed by `.NAME` if the source has another name for the tool (\"mcp.SERVER.TOOL\")"
    )]
    Source,
    /// A tool's source, as a table.
    #[error("a table with a `type` of \"local\", \"builtin\" or \"mcp\"")]
    SourceTable,
}

impl ExpectedValue {
    /// Whether a wrong value in its place may contain a secret, which is not repeated in the error.
    pub(crate) fn may_be_secret(&self) -> bool {
        matches!(self, Self::Nats | Self::SecretFile)
    }

    /// A suggestion for a misspelt value, as the end of a sentence; empty
    /// without a near match.
    pub(crate) fn hint(&self, got: &str) -> String {
        let (Self::OneOf(words) | Self::RunModes(words) | Self::Sandboxes(words)) = self else {
            return String::new();
        };
        let words = words.iter().map(String::as_str);
        match nearest(got.trim_matches('"'), words) {
            Some(near) => format!("; did you mean \"{near}\"?"),
            None => String::new(),
        }
    }
}

fn quoted(words: &[String]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    quoted.join(", ")
}
