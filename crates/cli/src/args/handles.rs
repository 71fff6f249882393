//! Arguments of the commands about handles.

use clap::Args as ClapArgs;
use clap_complete::engine::ArgValueCompleter;
use windlass_protocol::LineRange;

use crate::complete;

#[derive(ClapArgs)]
pub(crate) struct PsArgs {
    /// Redraw the list whenever it changes, until Ctrl-C
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// List only kept handles whose runtime has ended
    #[arg(long, conflicts_with = "watch")]
    pub(crate) held: bool,
}

#[derive(ClapArgs)]
pub(crate) struct RunArgs {
    /// Give the command a terminal of its own
    #[arg(long, short)]
    pub(crate) terminal: bool,
    /// Run it in the running `windlass serve`, with the current folder and environment
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// The handle's id; default: the name of the program
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub(crate) command: Vec<String>,
}

#[derive(ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command")]
pub(crate) struct LogsArgs {
    /// The handle's id, or SESSION/HANDLE
    #[arg(add = ArgValueCompleter::new(complete::handles))]
    pub(crate) handle: String,
    /// Print new output until the handle has stopped
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Print only the last N lines
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) last: Option<usize>,
    /// Print only output that is newer than this, such as 90s, 5m or 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Print only lines that match this regular expression
    #[arg(long, value_name = "PATTERN")]
    pub(crate) grep: Option<String>,
    /// Remove colours too
    #[arg(long)]
    pub(crate) plain: bool,
    /// Print the raw bytes, including control sequences for the terminal
    #[arg(long, conflicts_with_all = ["plain", "grep", "last"])]
    pub(crate) raw: bool,
    /// Print only these lines, such as 4-98, as the assistant would fetch them
    #[arg(long, value_name = "LINES", conflicts_with_all = ["follow", "raw", "last", "since", "grep"])]
    pub(crate) lines: Option<LineRange>,
    /// Print the line number before each line; markers of omitted lines use these numbers
    #[arg(long, conflicts_with_all = ["raw", "last", "since", "grep"])]
    pub(crate) numbers: bool,
}

#[derive(ClapArgs)]
pub(crate) struct AttachArgs {
    /// The handle's id, or SESSION/HANDLE
    #[arg(add = ArgValueCompleter::new(complete::running_handles))]
    pub(crate) handle: String,
    /// Watch only: neither take over nor resize
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(ClapArgs)]
pub(crate) struct SendArgs {
    /// The handle's id, or SESSION/HANDLE
    #[arg(add = ArgValueCompleter::new(complete::running_handles))]
    pub(crate) handle: String,
    /// The text to type
    pub(crate) text: Option<String>,
    /// Do not press Enter after the text
    #[arg(long)]
    pub(crate) no_enter: bool,
    /// Press this key after the text, such as ctrl-c
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<String>,
}

#[derive(ClapArgs)]
pub(crate) struct KillArgs {
    /// The handles' ids, or SESSION/HANDLE
    #[arg(
        required_unless_present = "all",
        add = ArgValueCompleter::new(complete::running_handles)
    )]
    pub(crate) handles: Vec<String>,
    /// End every handle and one-shot of every runtime on this machine
    #[arg(long, conflicts_with = "handles")]
    pub(crate) all: bool,
}

#[derive(ClapArgs)]
pub(crate) struct ReplyArgs {
    /// The request's id, or the last characters of it
    #[arg(add = ArgValueCompleter::new(complete::permissions))]
    pub(crate) permission: String,
    /// Allow once, allow always, or reject
    #[arg(value_enum)]
    pub(crate) reply: ReplyChoice,
    /// A message to the assistant, with a rejection
    #[arg(long)]
    pub(crate) message: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct AnswerArgs {
    /// The question's id, or the last characters of it
    #[arg(add = ArgValueCompleter::new(complete::questions))]
    pub(crate) question: String,
    /// The answer; without it, you are prompted on a terminal, otherwise stdin is read
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum ReplyChoice {
    Once,
    Always,
    Reject,
}

impl ReplyChoice {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Reject => "reject",
        }
    }
}
