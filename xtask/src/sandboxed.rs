//! The option `--sandbox workspace` of chores that run Windlass: its tools run in that sandbox.

use anyhow::{Context, ensure};

const OPTION: &str = "--sandbox";
const MODE: &str = "workspace";

/// Sets the sandbox of all tools in `WINDLASS_SET` and with `--set`.
pub(crate) const SET_WORKSPACE: &str = r#"conversation.tools."*".sandbox = "workspace""#;
pub(crate) const SET_OFF: &str = r#"conversation.tools."*".sandbox = "off""#;

/// The sandbox of the tools that a chore runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolSandbox {
    Off,
    Workspace,
}

/// The network of sandboxed tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolNetwork {
    None,
    /// The machine's, for tools that are reached from outside.
    Full,
}

impl ToolSandbox {
    /// The sandbox that the arguments of a chore name, and the other arguments.
    pub(crate) fn read(arguments: &[String]) -> anyhow::Result<(Self, Vec<String>)> {
        let mut others = arguments.to_vec();
        let Some(index) = others.iter().position(|it| it == OPTION) else {
            return Ok((Self::Off, others));
        };
        others.remove(index);
        ensure!(index < others.len(), "`{OPTION}` needs a mode: `{MODE}`");
        let mode = others.remove(index);
        ensure!(
            mode == MODE,
            "`{mode}` cannot be used; use `{OPTION} {MODE}`"
        );
        Ok((Self::Workspace, others))
    }

    /// [`read`](Self::read) for a chore without other arguments.
    pub(crate) fn read_only_this(arguments: &[String]) -> anyhow::Result<Self> {
        let (sandbox, others) = Self::read(arguments)?;
        match others.first() {
            None => Ok(sandbox),
            Some(other) => Err(anyhow::anyhow!("`{other}` was given"))
                .context(format!("only `{OPTION} {MODE}` can be given")),
        }
    }

    /// The tables to append to a configuration.
    pub(crate) fn tables(self, network: ToolNetwork) -> &'static str {
        match (self, network) {
            (Self::Off, _) => "",
            (Self::Workspace, ToolNetwork::None) => {
                "[conversation.tools.\"*\"]\nsandbox = \"workspace\"\n"
            }
            // A table has the rules of `workspace`.
            (Self::Workspace, ToolNetwork::Full) => {
                "[conversation.tools.\"*\".sandbox]\nnetwork = \"full\"\n"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_option_may_stand_anywhere() {
        for text in ["--sandbox workspace pi", "pi --sandbox workspace"] {
            let (sandbox, others) = ToolSandbox::read(&words(text)).unwrap();
            assert_eq!(sandbox, ToolSandbox::Workspace);
            assert_eq!(others, ["pi"]);
        }
        let (sandbox, others) = ToolSandbox::read(&words("pi")).unwrap();
        assert_eq!((sandbox, others.len()), (ToolSandbox::Off, 1));
    }

    #[test]
    fn a_wrong_mode_is_refused() {
        for text in ["--sandbox", "--sandbox read-only"] {
            assert!(ToolSandbox::read(&words(text)).is_err(), "{text}");
        }
        assert!(ToolSandbox::read_only_this(&words("pi")).is_err());
    }
}
