//! Why a program's tools cannot be described.

/// A program's tools cannot be described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    /// The arguments of a tool are not a struct with named fields.
    #[error(
        "the arguments of tool `{tool}` are not a struct with named fields; wrap them in one, and put \
         enums into its fields"
    )]
    NotStruct {
        /// The tool.
        tool: String,
    },
    /// An argument of an interactive tool has the name of the parameter for its
    /// commands.
    #[error(
        "the arguments of tool `{tool}` have a field `command`, which is reserved for the \
             choice of the command; rename it"
    )]
    CommandTaken {
        /// The tool.
        tool: String,
    },
    /// Two tools have one name.
    #[error("two tools are named `{0}`; rename one of them")]
    Twice(String),
    /// A model could not be given the tool.
    #[error("tool `{tool}`: {problem}")]
    Unfit {
        /// The tool.
        tool: String,
        /// The problem.
        problem: windlass_schema::SchemaError,
    },
}
